// Checks of tokens that are signed as they should be and say something wrong: only a platform that signs what it is asked
// to can make them (contract, sections 4.4 and 4.5).
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../base/json.ts';
import type { Check } from '../check.ts';
import type { CheckLab } from '../lab.ts';
import { SILENCE } from '../probe-call.ts';
import { readToken, type SignOrder, type TokenSigner } from '../tokens.ts';
import { demandRefused, present } from './tokens.ts';

/** Keys asked for more often than this by as many unknown ids are not bounded. */
const [UNKNOWN_IDS, MAX_REQUESTS] = [25, 8];
/** How far out of time a token is that must be refused, s: the skew of 30 and a margin for slow machines (J-16). */
const OUT_OF_TIME_S = 40;
/** How long an admitted call is watched over the end of its token, ms, and how much skew is left when it begins, s (J-04). */
const [WATCHED_MS, SKEW_LEFT_S] = [6000, 4];

function signerOf(lab: CheckLab): TokenSigner {
  return lab.suspect.signer ?? lab.skip('needs a platform that signs tokens: --platform');
}

/** The claims of the good token. */
function goodClaims(lab: CheckLab): JsonObject {
  return readToken(lab.suspect.token ?? '')?.claims ?? lab.skip('the good token cannot be read');
}

function nowS(lab: CheckLab): number {
  return Math.floor(lab.suspect.clock.nowMs() / 1000);
}

/** Tokens that must be refused, by name. */
type Orders = (lab: CheckLab) => Readonly<Record<string, SignOrder>>;

function refusedCheck(id: string, rules: readonly [string, ...string[]], title: string, orders: Orders): Check {
  return {
    ...{ id, rules, title },
    needs: ['token_check', 'token', 'signer'],
    run: async (lab) => {
      const signer = signerOf(lab);
      for (const [name, order] of Object.entries(orders(lab))) await demandRefused(lab, { [name]: await signer.sign(order) });
    },
  };
}

/** A check that a token with one other claim is refused. */
function claimCheck(id: string, rules: readonly [string, ...string[]], words: string, claims: (lab: CheckLab) => JsonObject): Check {
  return refusedCheck(id, rules, `A token with another ${words} is refused.`, (lab) => ({
    [`a token with another ${words}`]: { claims: claims(lab) },
  }));
}

const { claimName, textClaim } = {
  claimName: (lab: CheckLab, name: 'url' | 'schema' | 'org'): string => lab.suspect.profile.jws.claims[name],
  textClaim: (lab: CheckLab, name: string): string => {
    const value = goodClaims(lab)[name];
    return typeof value === 'string' ? value : lab.skip(`the good token has no text as ${name}`);
  },
};

/** An address as another spelling of the same place. */
function otherSpelling(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : `${url}/`;
}

function withDefaultPort(url: string): string | undefined {
  const { protocol, port, host } = new URL(url);
  return port === '' ? url.replace(host, `${host}:${protocol === 'http:' ? '80' : '443'}`) : undefined;
}

export const SIGNED_TOKEN_CHECKS: readonly Check[] = [
  refusedCheck('hs256-refused', ['J-11', 'J-22'], 'A token that is signed with the public key as a secret is refused.', () => ({
    'a token of HS256 with the public key as its secret': { header: { alg: 'HS256' }, by: 'public_key' },
  })),
  refusedCheck('critical-header-refused', ['J-11', 'J-22'], 'A token with a header that must be understood is refused.', () => ({
    'a token with crit': { header: { crit: ['conformance'], conformance: true } },
  })),
  refusedCheck('look-alike-issuer-refused', ['J-24', 'J-12'], 'An issuer that looks like a trusted one is refused.', (lab) => {
    const issuer = textClaim(lab, 'iss');
    return {
      'an issuer with a suffix': { claims: { iss: `${issuer}.example` } },
      'an issuer with a slash at its end': { claims: { iss: `${issuer}/` } },
      'an issuer in upper case': { claims: { iss: issuer.toUpperCase() } },
    };
  }),
  {
    ...refusedCheck('key-id-demanded', ['J-14', 'J-25'], 'A token is refused whose key id is missing or unknown.', () => ({
      'a token without a key id': { header: { kid: null } },
      'a token with an unknown key id': { header: { kid: randomUUID() } },
    })),
    phase: 'last',
  },
  {
    id: 'key-requests-bounded',
    rules: ['J-25', 'J-14'],
    title: 'Unknown key ids do not make the server ask for the keys again and again.',
    needs: ['token_check', 'token', 'signer'],
    phase: 'last',
    run: async (lab) => {
      const signer = signerOf(lab);
      const before = await signer.keyRequests();
      for (let round = 0; round < UNKNOWN_IDS; round += 1) await present(lab, await signer.sign({ header: { kid: randomUUID() } }));
      const asked = (await signer.keyRequests()) - before;
      if (asked > MAX_REQUESTS) lab.fail(`${String(UNKNOWN_IDS)} unknown key ids made ${String(asked)} requests for the keys`);
    },
  },
  refusedCheck('expired-refused', ['J-16', 'J-27'], 'A token that has ended is refused.', (lab) => ({
    'a token that has ended': { claims: { exp: nowS(lab) - OUT_OF_TIME_S } },
  })),
  refusedCheck('endless-refused', ['J-16', 'J-27'], 'A token without an end is refused.', () => ({
    'a token without exp': { claims: { exp: null } },
  })),
  refusedCheck('not-yet-valid-refused', ['J-16', 'J-27'], 'A token that is not valid yet is refused.', (lab) => ({
    'a token that is not valid yet': { claims: { nbf: nowS(lab) + OUT_OF_TIME_S } },
  })),
  claimCheck('audience-demanded', ['J-17', 'J-28'], 'audience', () => ({ aud: 'conformance' })),
  claimCheck('subject-demanded', ['J-17', 'J-28'], 'subject', () => ({ sub: 'conformance' })),
  claimCheck('nonce-demanded', ['J-18', 'J-28'], 'nonce', () => ({ jti: randomUUID() })),
  refusedCheck('url-demanded', ['J-19', 'J-28', 'J-29'], 'The address is compared character for character.', (lab) => {
    const name = claimName(lab, 'url');
    const url = textClaim(lab, name);
    const port = withDefaultPort(url);
    return {
      'a token with another address': { claims: { [name]: 'https://conformance.example' } },
      'a token with the address in another spelling': { claims: { [name]: otherSpelling(url) } },
      ...(port === undefined ? {} : { 'a token with the default port': { claims: { [name]: port } } }),
    };
  }),
  claimCheck('schema-demanded', ['J-1A', 'J-28', 'J-2E'], 'schema', (lab) => ({
    [claimName(lab, 'schema')]: lab.suspect.profile.schemas.websocket,
  })),
  {
    id: 'organization-demanded',
    rules: ['J-1B', 'J-28'],
    title: 'A token of an organization that nobody knows is refused.',
    needs: ['token_check', 'token', 'signer'],
    run: async (lab) => {
      const organizationId = randomUUID();
      const token = await signerOf(lab).sign({ claims: { [claimName(lab, 'org')]: organizationId } });
      await demandRefused(lab, { 'a token of an unknown organization': token }, organizationId);
    },
  },
  refusedCheck('audience-list-refused', ['J-28', 'J-17'], 'A token whose audience is a list is refused.', (lab) => ({
    'a token whose audience is a list': { claims: { aud: [textClaim(lab, 'aud')] } },
  })),
  refusedCheck('access-token-refused', ['J-2F'], 'A token that says it is an access token is refused.', () => ({
    'a token with token_type Bearer': { claims: { token_type: 'Bearer' } },
  })),
  {
    id: 'new-key-learned',
    rules: ['J-2A'],
    title: 'A token of a new key is let in once the keys were asked for again, and one of the old key still is.',
    needs: ['token_check', 'token', 'signer'],
    run: async (lab) => {
      const signer = signerOf(lab);
      const old = await signer.sign({});
      await signer.rotate();
      const fresh = await signer.sign({ by: 'newest' });
      const { clock, timing } = lab.suspect;
      const untilMs = clock.monotonicMs() + timing.newKeyMs;
      let isTaken = false;
      while (!isTaken && clock.monotonicMs() < untilMs) {
        isTaken = (await present(lab, fresh)).isTaken;
        if (!isTaken) await lab.call().wait(Math.min(2000, timing.newKeyMs / 4));
      }
      if (!isTaken) lab.fail(`a token of a new key was refused for ${String(timing.newKeyMs)} ms`);
      if (!(await present(lab, old)).isTaken) lab.fail('a token of the old key was refused, although the key is still published');
    },
  },
  {
    id: 'admitted-call-not-cut',
    rules: ['J-04'],
    title: 'An RPC that was let in is not cut when its token ends.',
    needs: ['token_check', 'token', 'signer'],
    run: async (lab) => {
      const token = await signerOf(lab).sign({ claims: { exp: nowS(lab) - 30 + SKEW_LEFT_S } });
      const call = lab.call({}, lab.connect(token));
      if ((await call.begin()).rpc.final === undefined) lab.skip('the server allows clocks less than 30 s of difference');
      const rpc = call.open(SILENCE);
      const untilMs = lab.suspect.clock.monotonicMs() + WATCHED_MS;
      while (rpc.ending === undefined && lab.suspect.clock.monotonicMs() < untilMs) {
        await call.wait(200);
        rpc.send(call.message(SILENCE));
      }
      if (rpc.ending !== undefined) lab.fail('an RPC was ended when its token did');
      rpc.halfClose();
      await rpc.settled(lab.suspect.timing.answerMs);
    },
  },
];
