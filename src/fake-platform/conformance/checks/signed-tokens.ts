// Checks of tokens with a valid signature and wrong content: only a platform that signs on request can make these tokens.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../base/json.ts';
import type { Lab } from '../lab.ts';
import type { Runs } from '../catalog.ts';
import { BUSY } from '../cuttable-reply.ts';
import { endingText, MULAW_FORMAT, SILENCE } from '../rpc-call.ts';
import type { RpcLab } from '../rpc-probe.ts';
import { readToken, type SignOrder, type TokenSigner } from '../tokens.ts';
import { demandRefused } from './tokens.ts';

/** Number of unknown key ids; when these cause more fetches of keys than the maximum, the server does not limit fetches. */
const [UNKNOWN_IDS, MAX_REQUESTS] = [25, 8];
/** Since when a token has expired that the server may still accept, s: the skew of 30 minus a margin for slow machines (J-27). */
const JUST_ENDED_S = 20;
/** Since when a token has expired that the server must reject, s: more than the skew of 30. A slow machine only adds time (J-16). */
const ENDED_S = 40;
/** How long until a token becomes valid that the server must reject, s: far more than the skew and any delay of a slow machine (J-16). */
const NOT_YET_S = 600;
/** The skew that a server may allow, the rest of it when an RPC opens, and how long to watch the RPC beyond that, s (J-04, J-16). */
const [SKEW_S, SKEW_LEFT_S, WATCHED_S] = [30, 4, 2];
/** Interval between two frames of silence on a watched RPC, ms. */
const WATCH_TICK_MS = 200;

function signerOf(lab: Lab): TokenSigner {
  return lab.suspect.signer ?? lab.skip('needs a platform that signs tokens: --platform');
}

function nowS(lab: Lab): number {
  return Math.floor(lab.suspect.clock.nowMs() / 1000);
}

/** Orders for tokens that a server must reject, by name. */
type Orders = (lab: Lab) => Readonly<Record<string, SignOrder>>;

function refused(orders: Orders): (lab: Lab) => Promise<void> {
  return async (lab) => {
    const signer = signerOf(lab);
    for (const [name, order] of Object.entries(orders(lab)))
      await demandRefused(lab, { [name]: lab.probe.authorization(await signer.sign(order)) });
  };
}

function otherClaim(words: string, claims: (lab: Lab) => JsonObject): (lab: Lab) => Promise<void> {
  return refused((lab) => ({ [`a token with another ${words}`]: { claims: claims(lab) } }));
}

function claimName({ suspect }: Lab, name: 'url' | 'schema' | 'org'): string {
  return suspect.profile.jws.claims[name];
}

function textClaim(lab: Lab, name: string): string {
  const claims = readToken(lab.suspect.token ?? '')?.claims ?? lab.skip('the good token cannot be read');
  const value = claims[name];
  return typeof value === 'string' ? value : lab.skip(`the good token has no text as ${name}`);
}

/** Another spelling of the same address. */
function otherSpelling(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : `${url}/`;
}

function withDefaultPort(url: string): string | undefined {
  const { protocol, port, host } = new URL(url);
  return port === '' ? url.replace(host, `${host}:${protocol === 'http:' ? '80' : '443'}`) : undefined;
}

/** The checks for every transport. */
export const SIGNED_TOKEN_CHECKS: Runs = {
  'hs256-refused': refused(() => ({
    'a token of HS256 with the public key as its secret': { header: { alg: 'HS256' }, by: 'public_key' },
  })),
  'critical-header-refused': refused(() => ({
    'a token with crit': { header: { crit: ['conformance'], conformance: true } },
  })),
  'look-alike-issuer-refused': refused((lab) => {
    const issuer = textClaim(lab, 'iss');
    return {
      'an issuer with a suffix': { claims: { iss: `${issuer}.example` } },
      'an issuer with a slash at its end': { claims: { iss: `${issuer}/` } },
      'an issuer in upper case': { claims: { iss: issuer.toUpperCase() } },
    };
  }),
  'key-id-demanded': refused(() => ({
    'a token without a key id': { header: { kid: null } },
    'a token with an unknown key id': { header: { kid: randomUUID() } },
  })),
  'key-requests-bounded': async (lab) => {
    const signer = signerOf(lab);
    const before = await signer.keyRequests();
    for (let round = 0; round < UNKNOWN_IDS; round += 1)
      await lab.probe.present(lab.probe.authorization(await signer.sign({ header: { kid: randomUUID() } })));
    const asked = (await signer.keyRequests()) - before;
    if (asked > MAX_REQUESTS) lab.fail(`${String(UNKNOWN_IDS)} unknown key ids made ${String(asked)} requests for the keys`);
  },
  'expired-refused': refused((lab) => ({
    'a token that has ended': { claims: { exp: nowS(lab) - ENDED_S } },
  })),
  'clock-skew-allowed': async (lab) => {
    const endedAtS = nowS(lab) - JUST_ENDED_S;
    const token = await signerOf(lab).sign({ claims: { exp: endedAtS } });
    const { isTaken, how } = await lab.probe.present(lab.probe.authorization(token));
    if (!isTaken && nowS(lab) >= endedAtS + SKEW_S) lab.skip(BUSY);
    if (!isTaken) lab.fail(`a call with a token that ended ${String(JUST_ENDED_S)} s ago ${how}`);
  },
  'endless-refused': refused(() => ({
    'a token without exp': { claims: { exp: null } },
  })),
  'not-yet-valid-refused': refused((lab) => ({
    'a token that is not valid yet': { claims: { nbf: nowS(lab) + NOT_YET_S } },
  })),
  'audience-demanded': otherClaim('audience', () => ({ aud: 'conformance' })),
  'subject-demanded': otherClaim('subject', () => ({ sub: 'conformance' })),
  'nonce-demanded': otherClaim('nonce', () => ({ jti: randomUUID() })),
  'url-demanded': refused((lab) => {
    const name = claimName(lab, 'url');
    const url = textClaim(lab, name);
    const port = withDefaultPort(url);
    return {
      'a token with another address': { claims: { [name]: 'https://conformance.example' } },
      'a token with the address in another spelling': { claims: { [name]: otherSpelling(url) } },
      ...(port === undefined ? {} : { 'a token with the default port': { claims: { [name]: port } } }),
    };
  }),
  'schema-demanded': otherClaim('schema', (lab) => ({
    [claimName(lab, 'schema')]: lab.probe.otherSchemaId,
  })),
  'organization-demanded': async (lab) => {
    const organizationId = randomUUID();
    const token = await signerOf(lab).sign({ claims: { [claimName(lab, 'org')]: organizationId } });
    await demandRefused(lab, { 'a token of an unknown organization': lab.probe.authorization(token) }, { organizationId });
  },
  'audience-list-refused': refused((lab) => ({
    'a token whose audience is a list': { claims: { aud: [textClaim(lab, 'aud')] } },
  })),
  'access-token-refused': refused(() => ({
    'a token with token_type Bearer': { claims: { token_type: 'Bearer' } },
  })),
  'new-key-learned': async (lab) => {
    const signer = signerOf(lab);
    const old = await signer.sign({});
    await signer.rotate();
    const fresh = await signer.sign({ by: 'newest' });
    const { clock, timing } = lab.suspect;
    const untilMs = clock.monotonicMs() + timing.newKeyMs;
    let { isTaken, how } = await lab.probe.present(lab.probe.authorization(fresh));
    while (!isTaken && clock.monotonicMs() < untilMs) {
      ({ isTaken, how } = await lab.probe.present(lab.probe.authorization(fresh)));
      if (!isTaken) await lab.wait(Math.min(2000, timing.newKeyMs / 4));
    }
    if (!isTaken) lab.fail(`calls with a token of a new key were not taken for ${String(timing.newKeyMs)} ms; the last ${how}`);
    const again = await lab.probe.present(lab.probe.authorization(old));
    if (!again.isTaken) lab.fail(`a call with a token of the old key, which is still published, ${again.how}`);
  },
};

export const RPC_SIGNED_TOKEN_CHECKS: Runs<RpcLab> = {
  'admitted-call-not-cut': async (lab) => {
    const { clock, organizationId, timing } = lab.suspect;
    const call = await lab.ready();
    const endsAtS = nowS(lab) + SKEW_LEFT_S;
    const connection = lab.probe.connect(lab.probe.authorization(await signerOf(lab).sign({ claims: { exp: endsAtS - SKEW_S } })));
    // The watched RPC opens first, so the list after it shows that the token of the RPC was still good.
    const watched = lab.probe.call(call.ids, connection).open(MULAW_FORMAT, SILENCE);
    const list = await connection.list(organizationId, timing.answerMs, lab.log);
    if ('code' in list) lab.skip('a token that ended 26 s ago is refused: the server allows clocks less difference, or lists no agents');
    if (watched.ending !== undefined) lab.skip('the RPC that was to be watched ended at once');
    while (watched.ending === undefined && clock.nowMs() < (endsAtS + WATCHED_S) * 1000) {
      await lab.wait(WATCH_TICK_MS);
      watched.send(call.message(SILENCE));
    }
    if (watched.isCompleted) lab.skip('the server ended the silent RPC by itself, with OK');
    if (watched.ending !== undefined) lab.fail(`the RPC ${endingText(watched.ending)} at the time when its token ended`);
    watched.halfClose();
    await watched.settled(timing.answerMs);
    await call.hangUp();
  },
};
