// Checks that the token of each data source would be accepted: its lifetime, whether its nonce, issuer and key are known, and finally the
// verdict of the token check. Reports reasons, but nothing of the token.
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { digestNonce } from '../../auth/nonces.ts';
import { REFUSAL_HINTS, refusalReason } from '../../auth/refusal.ts';
import { alarmDueMs } from '../lifecycle/schedule.ts';
import { MAX_TOKEN_LIFETIME_MINUTES, type DataSource } from '../records.ts';
import { fault, warning } from './finding.ts';
import { recordCheck } from './registration-checks.ts';
import { shownText } from '../../base/shown-text.ts';

const MINUTE_MS = 60_000;
const NO_TOKEN = { skipped: 'the record has no token' };

/** The alarm for a missing renewal of the current token is not due yet (L-07). */
export const tokenExpiryCheck = recordCheck({ id: 'token_expiry', title: 'its token is renewed in time' }, ({ record, context, tools }) => {
  const { tokenExpiresAtMs: endMs, tokenLifetimeMinutes = MAX_TOKEN_LIFETIME_MINUTES } = record;
  if (endMs === undefined) return { skipped: 'neither record nor token says when it ends' };
  const nowMs = tools.clock.nowMs();
  const end = new Date(endMs).toISOString();
  const mend = 'start the server and look in its log for why the data source was not renewed';
  // J-03: the platform opens no new connections with an expired token.
  if (endMs <= nowMs) return [fault('token_over', `its token ended at ${end}, and the platform makes no calls with it`, mend)];
  if (nowMs < alarmDueMs(endMs, tokenLifetimeMinutes * MINUTE_MS, context.times)) return [];
  const what = `its token ends at ${end}, in ${String(Math.floor((endMs - nowMs) / MINUTE_MS))} minutes, and should have been renewed`;
  return [warning('token_near_end', what, mend)];
});

/** The token check knows the nonce of the record (J-18). */
export const nonceCheck = recordCheck({ id: 'nonce', title: 'its nonce is known to the token check' }, ({ record, context }) => {
  if (record.nonce === undefined) return { skipped: 'the record has no nonce' };
  if (context.nonces.accepts(record.id, digestNonce(record.nonce))) return [];
  return [fault('nonce_unknown', 'its nonce is none that the token check takes', REFUSAL_HINTS.nonce_mismatch)];
});

/** The token of the record comes from a trusted issuer (J-12). */
export const issuerCheck = recordCheck({ id: 'issuer', title: 'the issuer of its token is in the list' }, ({ record, context }) => {
  const named = namesIn(record);
  if (named === undefined) return NO_TOKEN;
  if (named.issuer !== undefined && context.keys.knows(named.issuer)) return [];
  const issuer = named.issuer === undefined ? 'not named' : shownText(named.issuer, [record.nonce, record.jwsToken]);
  return [fault('issuer_unknown', `the issuer of its token is ${issuer}`, REFUSAL_HINTS.issuer_mismatch)];
});

/** The key set of the issuer is available, and contains the key of the token (J-13, J-14). */
export const keySetCheck = recordCheck(
  { id: 'key_set', title: 'the key of its token is published and can be fetched', needs: ['issuer'] },
  async ({ record, context }) => {
    const named = namesIn(record);
    if (named?.issuer === undefined) return NO_TOKEN;
    const issuer = shownText(named.issuer, [record.nonce, record.jwsToken]);
    const missing = (what: string) => [fault('key_missing', what, REFUSAL_HINTS.key_not_found)];
    if (named.keyId === undefined) return missing('its token names no key');
    try {
      await context.keys.find(named.issuer, named.keyId);
      return [];
    } catch (thrown) {
      const reason = refusalReason(thrown);
      if (reason === 'key_not_found') return missing(`the key of its token is not among the keys of ${issuer}`);
      if (reason !== 'keys_unavailable') throw thrown;
      return [fault('key_set_unreachable', `the key set of ${issuer} cannot be fetched`, REFUSAL_HINTS.keys_unavailable)];
    }
  },
);

/** The token check for calls accepts the token. */
export const testTokenCheck = recordCheck(
  // Without these, the same problem would be reported twice.
  { id: 'test_token', title: 'the token check lets its token in', needs: ['schema', 'url', 'token_expiry', 'nonce', 'key_set'] },
  async ({ wanted, record, context }) => {
    if (record.jwsToken === undefined) return NO_TOKEN;
    try {
      await context.verifier.verify(`Bearer ${record.jwsToken}`, wanted.transport);
      return [];
    } catch (thrown) {
      const reason = refusalReason(thrown);
      if (reason === undefined) throw thrown;
      return [fault('token_refused', `the token check refuses its token (${reason})`, REFUSAL_HINTS[reason])];
    }
  },
);

/** Issuer and key id of a token, unverified; undefined without a readable token. */
function namesIn({ jwsToken }: DataSource): { readonly issuer: string | undefined; readonly keyId: string | undefined } | undefined {
  if (jwsToken === undefined) return undefined;
  try {
    return { issuer: decodeJwt(jwsToken).iss, keyId: decodeProtectedHeader(jwsToken).kid };
  } catch {
    // The token check reports the problem.
    return undefined;
  }
}
