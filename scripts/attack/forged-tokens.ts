// 281 values of the authorization header that no server may take (J-20 to J-2F), made of a good token and the issuer's own tools.
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { seededNumbers } from '../../src/base/seeded-numbers.ts';
import type { PlatformProfile } from '../../src/contract/profile.ts';
import type { Issuer } from '../../src/fake-platform/platform/issuer.ts';

/** How many there are. */
export const FORGERIES = 281;

/** One value; undefined: no header at all. */
export interface ForgedToken {
  readonly name: string;
  readonly value: string | undefined;
  /** In its place over WebSocket, where it would be good. */
  readonly onSocket?: string;
}

const encode = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** @param web - a good token for the other transport (J-2E). */
export async function forgedTokens(issuer: Issuer, profile: PlatformProfile, web: string, seed: number): Promise<readonly ForgedToken[]> {
  const good = await issuer.issueToken();
  const [head = '', body = '', signature = ''] = good.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as JsonObject;
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { readonly kid: string };
  const nowS = Math.floor(Date.now() / 1000);
  const forged: ForgedToken[] = [];
  const add = (name: string, value: string | undefined): void => void forged.push({ name, value });
  const claim = (name: string, changes: JsonObject): void => {
    add(name, issuer.forge({ claims: { ...claims, ...changes }, by: 'newest' }));
  };
  const header = (name: string, changes: JsonObject, by: 'newest' | 'public_key' = 'newest'): void => {
    add(name, issuer.forge({ claims, header: changes, by }));
  };

  for (const value of [undefined, '', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', `Basic ${good}`, `Token ${good}`, `bearer: ${good}`]) {
    add(`J-21 the form ${String(value).slice(0, 12)}`, value);
  }
  const forms: readonly string[] = [
    ...[
      `${head}.${body}`,
      `${head}.${body}.`,
      `.${body}.${signature}`,
      `${head}..${signature}`,
      `${good}.${signature}`,
      `${good}.`,
      `.${good}`,
    ],
    ...[`${good}=`, `${good}==`, `${good} ${good}`, `${good}, ${good}`, `Bearer Bearer ${good}`, `"${good}"`, `'${good}'`, `${good};`],
    ...[`${head}.${body}.+/${signature.slice(2)}`, `${head}.${body}.~${signature.slice(1)}`, `${head} .${body}.${signature}`],
    ...[JSON.stringify({ protected: head, payload: body, signature }), `${head}.${encode('exp=1')}.${signature}`, 'a.b.c', '...', '..'],
    ...['a'.repeat(8000), `${head}.${body}.${'A'.repeat(342)}`, good.toUpperCase(), good.toLowerCase(), [...good].reverse().join('')],
  ];
  forms.forEach((value, index) => {
    add(`J-21 the wrong form ${String(index + 1)}`, value);
  });

  const algorithms: readonly JsonValue[] = [
    'none',
    'None',
    'NONE',
    'nOnE',
    'HS256',
    'HS384',
    'HS512',
    'RS384',
    'RS512',
    'PS256',
    'PS384',
    'ES256',
    'EdDSA',
    'rs256',
    'RS256 ',
    '',
    null,
    1,
    ['RS256'],
    {},
  ];
  for (const alg of algorithms) {
    header(`J-22 alg ${JSON.stringify(alg)}`, { alg });
    const unsigned = `${encode({ alg, typ: 'JWT', kid })}.${body}.`;
    add(`J-22 alg ${JSON.stringify(alg)} without a signature`, unsigned);
  }
  for (const alg of ['HS256', 'RS256']) header(`J-22 ${alg} by the public key`, { alg }, 'public_key');
  for (const secret of ['', kid, 'secret', claims['jti'] as string]) {
    const input = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${body}`;
    add(
      `J-22 HS256 by a guessed secret of ${String(secret.length)}`,
      `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`,
    );
  }
  for (const crit of [['exp'], ['b64'], ['unknown'], [], 'exp', 1]) header(`J-22 crit ${JSON.stringify(crit)}`, { crit });
  header('J-22 b64 false', { b64: false, crit: ['b64'] });
  for (const other of [null, '', 'unknown', `${kid} `, kid.toUpperCase(), `../${kid}`, 1, [kid], {}, `${kid}\u0000`])
    header(`J-25 kid ${JSON.stringify(other)}`, { kid: other });

  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const foreign = (extra: JsonObject): string => {
    const input = `${encode({ alg: 'RS256', typ: 'JWT', kid, ...extra })}.${body}`;
    return `${input}.${createSign('RSA-SHA256').update(input).sign(privateKey, 'base64url')}`;
  };
  add('J-26 another key under the right kid', foreign({}));
  add('J-26 another key that the header brings', foreign({ jwk: publicKey.export({ format: 'jwk' }) as JsonObject }));
  for (const name of ['jku', 'x5u']) add(`J-26 another key at ${name}`, foreign({ [name]: issuer.keySetUrl }));
  add('J-26 another key in x5c', foreign({ x5c: [publicKey.export({ format: 'der', type: 'spki' }).toString('base64')] }));
  const altered: JsonObject = { ...claims, [profile.jws.claims.org]: '99999999-9999-4999-8999-999999999999' };
  add('J-26 an altered payload', `${head}.${encode(altered)}.${signature}`);
  add('J-26 the signature of the other transport', `${head}.${body}.${web.split('.')[2] ?? ''}`);
  forged.push({ name: 'J-2E a token of the other transport', value: web, onSocket: good });
  add('J-2F an opaque access token', 'NmY2Yzk5ZGQtZjA4Yi00_PF84_1eb65fdf');
  claim('J-2F an access token', { token_type: 'Bearer', [profile.jws.claims.url]: null, [profile.jws.claims.schema]: null });

  const issuers = [
    `${issuer.issuer}/`,
    `${issuer.issuer}.example`,
    issuer.issuer.toUpperCase(),
    issuer.origin,
    `${issuer.issuer}?a`,
    `${issuer.issuer}#a`,
    ` ${issuer.issuer}`,
    'https://issuer.example',
    '',
    null,
    1,
    [issuer.issuer],
    {},
  ];
  for (const iss of issuers) claim(`J-23 J-24 iss ${JSON.stringify(iss)}`, { iss });
  for (const exp of [nowS - 31, nowS - 3600, 0, -1, null, '', String(nowS + 60), true, [], {}, 1e300, nowS + 10 * 86_400])
    claim(`J-27 exp ${JSON.stringify(exp)}`, { exp });
  for (const nbf of [nowS + 3600, nowS + 86_400, 1e300, '', String(nowS), true, [], {}]) claim(`J-27 nbf ${JSON.stringify(nbf)}`, { nbf });

  for (const name of ['aud', 'sub', 'jti', profile.jws.claims.url, profile.jws.claims.schema, profile.jws.claims.org]) {
    const right = claims[name] as string;
    const wrong: readonly JsonValue[] = [
      null,
      '',
      ' ',
      `${right} `,
      ` ${right}`,
      `${right}x`,
      right.slice(0, -1),
      `${right}\u0000`,
      'other',
      0,
      true,
      {},
      [],
      [right],
    ];
    for (const value of wrong) claim(`J-28 ${name} ${JSON.stringify(value).slice(0, 30)}`, { [name]: value });
  }
  const { url } = issuer.claims;
  for (const other of [`${url}:443`, `${url}/`, url.toUpperCase(), url.replace('https', 'http'), `${url}?`, `${url}#`])
    claim(`J-29 url ${other}`, { [profile.jws.claims.url]: other });

  const random = seededNumbers(seed);
  while (forged.length < FORGERIES) {
    // Not in the last place: some of its bits mean nothing.
    const at = Math.floor(random() * (good.length - 1));
    const letter = good[at] === 'A' ? 'B' : 'A';
    if (good[at] !== '.') add(`J-26 another letter at ${String(at)}`, good.slice(0, at) + letter + good.slice(at + 1));
  }
  if (forged.length > FORGERIES) throw new Error(`there are ${String(forged.length)} forged tokens`);
  return forged;
}
