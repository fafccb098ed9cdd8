// The form of a header value and of a token, before anybody looks at what it says.
import { describe, expect, it } from 'vitest';
import { parseToken, readHeaderValue } from '../../../src/auth/compact-token.ts';
import type { TokenTransport } from '../../../src/auth/principal.ts';
import { refusalReason } from '../../../src/auth/refusal.ts';
import { encodePart } from '../../support/token-issuer.ts';

const HEADER = { alg: 'RS256', kid: 'key-1' };
const CLAIMS = { iss: 'https://issuer.example.test' };
const SIGNATURE = 'AAAA';

const written = (header: object, claims: object = CLAIMS): string => `${encodePart(header)}.${encodePart(claims)}.${SIGNATURE}`;

/** What the work brings, or the reason of the refusal. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return refusalReason(error) ?? String(error);
  }
}

function accepts(compact: string): unknown {
  return outcome(() => {
    parseToken(compact);
    return 'accepted';
  });
}

describe('the header value', () => {
  const read = (value: string | undefined, transport: TokenTransport = 'grpc', maxBytes = 100): unknown =>
    outcome(() => readHeaderValue(value, transport, maxBytes));

  it.each<[string | undefined, unknown, unknown]>([
    [undefined, 'token_missing', 'token_missing'],
    ['', 'token_missing', 'token_missing'],
    ['Bearer', 'token_missing', 'token_missing'],
    ['Bearer  ', 'token_missing', 'token_missing'],
    ['a.b.c', 'a.b.c', 'scheme_refused'],
    ['Bearer a.b.c', 'a.b.c', 'a.b.c'],
    ['bearer   a.b.c', 'a.b.c', 'a.b.c'],
    ['Bearera.b.c', 'Bearera.b.c', 'scheme_refused'],
    ['Basic a.b.c', 'scheme_refused', 'scheme_refused'],
    ['xBearer a.b.c', 'scheme_refused', 'scheme_refused'],
    [' Bearer a.b.c', 'scheme_refused', 'scheme_refused'],
    ['a.b.c Bearer ', 'scheme_refused', 'scheme_refused'],
  ])('%j is read as %j on gRPC and as %j on WebSocket (G-03, W-06)', (value, onGrpc, onWebSocket) => {
    expect(read(value)).toBe(onGrpc);
    expect(read(value, 'websocket')).toBe(onWebSocket);
  });

  it('has room for a token of the largest size, for the scheme and for ten spaces', () => {
    const token = 'a'.repeat(100);
    expect(read(token)).toBe(token);
    expect(read(`${token}a`)).toBe('token_too_large');
    expect(read(`Bearer${' '.repeat(10)}${token}`)).toBe(token);
    expect(read(`Bearer${' '.repeat(11)}${token}`)).toBe('token_too_large');
    expect(read(`Bearer ${token}a`)).toBe('token_too_large');
  });
});

describe('a token', () => {
  it('J-11 is taken apart into what it says of itself', () => {
    const compact = written(HEADER, { ...CLAIMS, extra: 1 });
    expect(parseToken(compact)).toEqual({ compact, keyId: 'key-1', issuer: CLAIMS.iss, claims: { ...CLAIMS, extra: 1 } });
  });

  it.each(['', '.', '..', '...', encodePart(HEADER), `${encodePart(HEADER)}.${encodePart(CLAIMS)}`, `${written(HEADER)}.${SIGNATURE}`])(
    'J-10 of other than three parts is malformed: %s',
    (compact) => {
      expect(outcome(() => parseToken(compact))).toBe('token_malformed');
    },
  );

  it.each([
    ['a header that is no JSON', `${encodePart('{"alg"')}.${encodePart(CLAIMS)}.${SIGNATURE}`],
    ['claims that are no JSON', `${encodePart(HEADER)}.${encodePart('{')}.${SIGNATURE}`],
    ['claims that are a list', written(HEADER, [])],
    ['a header that is a list', written([])],
    ['a text that is no UTF-8', `${encodePart(HEADER)}.${encodePart(Buffer.from('{"a":"\xff"}', 'latin1'))}.${SIGNATURE}`],
    ['spare bits that are set', `${encodePart(HEADER)}.${encodePart(CLAIMS)}.AB`],
    ['padding', `${encodePart(HEADER)}.${encodePart(CLAIMS)}.AA==`],
  ])('J-10 with %s is malformed', (_name, compact) => {
    expect(outcome(() => parseToken(compact))).toBe('token_malformed');
  });

  it.each([[['https://issuer.example.test']], [7], [null], [undefined]])('has no issuer where that is %j', (iss) => {
    expect(parseToken(written(HEADER, { iss })).issuer).toBeUndefined();
  });

  it.each([[''], [7], [null], [undefined], ['k'.repeat(257)]])('has no key id where that is %j', (kid) => {
    expect(parseToken(written({ ...HEADER, kid })).keyId).toBeUndefined();
  });

  it('has a key id of up to 256 characters', () => {
    expect(parseToken(written({ ...HEADER, kid: 'k'.repeat(256) })).keyId).toHaveLength(256);
  });

  it.each([
    ['at+jwt', 'access_token'],
    ['application/at+jwt', 'access_token'],
    ['AT+JWT', 'access_token'],
    ['xat+jwt', 'accepted'],
    ['at+jwtx', 'accepted'],
    ['application/at', 'accepted'],
    [['at+jwt'], 'accepted'],
    [undefined, 'accepted'],
  ])('J-2F of the type %j: %s', (typ, expected) => {
    expect(accepts(written({ ...HEADER, typ }))).toBe(expected);
  });

  it.each([
    ['Bearer', 'access_token'],
    ['BEARER', 'access_token'],
    ['bearer ', 'accepted'],
    [['bearer'], 'accepted'],
    [7, 'accepted'],
  ])('J-2F of the token type %j: %s', (token_type, expected) => {
    expect(accepts(written(HEADER, { token_type }))).toBe(expected);
  });
});
