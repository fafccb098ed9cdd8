// Tokens that must be refused: how each is forged, the exact reason, and how many requests for keys it may cause.
// The list is data for forged-tokens.test.ts.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { CLAIM_NAMES, NONCE, SOURCE } from '../../support/token-bench.ts';
import { encodePart, publicPem, signParts } from '../../support/token-issuer.ts';
import { broken, claims, GOOD_HEADER, header, parts, respell, row, second, signedBy, signPss, signPssOf, type Forgery } from './forgery.ts';

const { url: URL_CLAIM, schema: SCHEMA_CLAIM, organization: ORGANIZATION_CLAIM } = CLAIM_NAMES;

const FORM: readonly Forgery[] = [
  row('token_missing', 0, 'J-21 no header', () => undefined),
  row('token_missing', 0, 'J-21 an empty header', () => ''),
  row('token_missing', 0, 'J-21 a scheme without a token', () => 'Bearer'),
  row('token_missing', 0, 'J-21 a scheme and a space', () => 'Bearer '),
  row('scheme_refused', 0, 'J-21 Basic x', () => 'Basic x'),
  row('scheme_refused', 0, 'J-21 a good token under another scheme', (w) => `Token ${w.bench.token()}`),
  row('scheme_refused', 0, 'a good token after a space', (w) => ` ${w.bench.token()}`),
  row('token_malformed', 0, 'a scheme written twice', (w) => `Bearer Bearer ${w.bench.token()}`),
  row('token_malformed', 0, 'two tokens in one value', (w) => `Bearer ${w.bench.token()}, ${w.bench.token()}`),
  row('token_malformed', 0, 'a scheme parted by a tab', (w) => `Bearer\t${w.bench.token()}`),
  row('token_malformed', 0, 'an opaque word', () => 'Bearer NmY2Yzk5ZGQt'),
  parts('token_malformed', 'J-21 two parts', (head, body) => `${head}.${body}`),
  parts('token_malformed', 'J-21 four parts', (head, body, signature) => `${head}.${body}.${signature}.${signature}`),
  parts(
    'token_malformed',
    'J-21 five parts, as an encrypted token has',
    (head, body, signature) => `${head}.${body}.${signature}.${body}.${signature}`,
  ),
  parts('token_malformed', 'an empty header part', (_head, body, signature) => `.${body}.${signature}`),
  parts('token_malformed', 'an empty claims part', (head, _body, signature) => `${head}..${signature}`),
  parts('token_malformed', 'the signature cut off', (head, body) => `${head}.${body}.`),
  parts('token_malformed', 'J-21 padding', (head, body, signature) => `${head}.${body}.${signature}==`),
  parts('token_malformed', 'J-21 characters of plain base64', (head, body, signature) => `${head}.${body}.+/${signature.slice(2)}`),
  parts('token_malformed', 'J-21 a line break at the end', (head, body, signature) => `${head}.${body}.${signature}\n`),
  parts('token_malformed', 'J-21 a zero byte inside', (head, body, signature) => `${head}\0.${body}.${signature}`),
  parts('token_malformed', 'a second spelling of the same signature', (head, body, signature) => `${head}.${body}.${respell(signature)}`),
  parts('token_malformed', 'a part of impossible length', (head, body, signature) => `${head}.${body}.${signature.slice(0, 341)}`),
  parts('token_malformed', 'the JSON form of a signed token', (head, body, signature) =>
    JSON.stringify({ protected: head, payload: body, signature }),
  ),
  row('token_malformed', 0, 'a header that is no JSON', (w) => signParts(w.key, encodePart('{alg:RS256}'), encodePart(w.bench.claims()))),
  row('token_malformed', 0, 'a header that is a list', (w) =>
    signParts(w.key, encodePart([{ alg: 'RS256' }]), encodePart(w.bench.claims())),
  ),
  row('token_malformed', 0, 'a header that is null', (w) => signParts(w.key, encodePart('null'), encodePart(w.bench.claims()))),
  row('token_malformed', 0, 'a header that is no UTF-8', (w) => signParts(w.key, broken(GOOD_HEADER(w)), encodePart(w.bench.claims()))),
  row('token_malformed', 0, 'claims that are no JSON', (w) => signParts(w.key, GOOD_HEADER(w), encodePart('exp=1'))),
  row('token_malformed', 0, 'claims that are a list', (w) => signParts(w.key, GOOD_HEADER(w), encodePart([w.bench.claims()]))),
  row('token_malformed', 0, 'claims that are a text', (w) => signParts(w.key, GOOD_HEADER(w), encodePart('"claims"'))),
  row('token_malformed', 0, 'claims that are no UTF-8', (w) => signParts(w.key, GOOD_HEADER(w), broken(encodePart(w.bench.claims())))),
  row('token_malformed', 0, 'claims nested 2000 deep and never closed', (w) =>
    signParts(w.key, GOOD_HEADER(w), encodePart('['.repeat(2000))),
  ),
  row('token_too_large', 0, 'a token with a claim of 8 KiB', (w) => w.bench.token({ padding: 'x'.repeat(8192) })),
  row('token_too_large', 0, 'a scheme with a megabyte of spaces', (w) => `Bearer ${' '.repeat(1_048_576)}${w.bench.token()}`),
];

const ALGORITHM: readonly Forgery[] = [
  row(
    'algorithm_refused',
    0,
    'J-22 alg none without a signature',
    (w) => `${encodePart({ alg: 'none', kid: w.key.id })}.${encodePart(w.bench.claims())}.`,
  ),
  header('algorithm_refused', 'J-22 alg none with a good signature', { alg: 'none' }),
  header('algorithm_refused', 'alg nOnE', { alg: 'nOnE' }),
  signedBy('algorithm_refused', 'J-22 HS256 with the public key as PEM', 'HS256', (input, w) =>
    createHmac('sha256', publicPem(w.key)).update(input).digest(),
  ),
  signedBy('algorithm_refused', 'J-22 HS256 with the bytes of the modulus', 'HS256', (input, w) =>
    createHmac('sha256', Buffer.from(w.key.published.n, 'base64url')).update(input).digest(),
  ),
  signedBy('algorithm_refused', 'HS512 with the public key as PEM', 'HS512', (input, w) =>
    createHmac('sha512', publicPem(w.key)).update(input).digest(),
  ),
  signedBy('algorithm_refused', 'RS384 with the honest key', 'RS384', (input, w) => sign('sha384', input, w.key.privateKey)),
  signedBy('algorithm_refused', 'RS512 with the honest key', 'RS512', (input, w) => sign('sha512', input, w.key.privateKey)),
  signedBy('algorithm_refused', 'PS256 with the honest key', 'PS256', (input, w) => signPss(input, w.key)),
  signedBy('algorithm_refused', 'ES256 with a key of its own', 'ES256', (input) =>
    sign('sha256', input, { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, dsaEncoding: 'ieee-p1363' }),
  ),
  signedBy('algorithm_refused', 'EdDSA with a key of its own', 'EdDSA', (input) =>
    sign(null, input, generateKeyPairSync('ed25519').privateKey),
  ),
  header('algorithm_refused', 'J-22 no alg', { alg: undefined }),
  header('algorithm_refused', 'alg null', { alg: null }),
  header('algorithm_refused', 'alg in a list', { alg: ['RS256'] }),
  header('algorithm_refused', 'alg in lower case', { alg: 'rs256' }),
  header('algorithm_refused', 'alg with a space', { alg: 'RS256 ' }),
  header('critical_header', 'J-22 crit with an unencoded payload', { crit: ['b64'], b64: false }),
  header('critical_header', 'J-22 crit naming a known claim', { crit: ['exp'], exp: 1 }),
  header('critical_header', 'J-22 crit that is empty', { crit: [] }),
  header('critical_header', 'J-22 crit that is null', { crit: null }),
  claims('access_token', 'J-2F token_type Bearer', () => ({ token_type: 'Bearer' }), 0),
  claims('access_token', 'J-2F token_type in lower case', () => ({ token_type: 'bearer' }), 0),
  header('access_token', 'J-2F the media type of access tokens', { typ: 'at+jwt' }),
  header('access_token', 'J-2F the long media type of access tokens', { typ: 'application/AT+JWT' }),
];

const ISSUER: readonly Forgery[] = [
  claims('issuer_mismatch', 'J-23 an unknown issuer', () => ({ iss: 'https://issuer.example.test/idb' }), 0),
  claims('issuer_mismatch', 'J-23 an issuer that the forger runs', (w) => ({ iss: w.hostile.issuer() }), 0),
  claims(
    'issuer_mismatch',
    'J-24 a look-alike suffix of the host',
    (w) => ({ iss: w.issuer.issuer().replace('/home', '.example.test/home') }),
    0,
  ),
  claims('issuer_mismatch', 'J-24 a trailing slash', (w) => ({ iss: `${w.issuer.issuer()}/` }), 0),
  claims('issuer_mismatch', 'J-24 upper case', (w) => ({ iss: w.issuer.issuer().toUpperCase() }), 0),
  claims('issuer_mismatch', 'J-24 a space in front', (w) => ({ iss: ` ${w.issuer.issuer()}` }), 0),
  claims('issuer_mismatch', 'J-24 a query', (w) => ({ iss: `${w.issuer.issuer()}?a=b` }), 0),
  claims('issuer_mismatch', 'J-24 a fragment that hides the suffix', (w) => ({ iss: `${w.hostile.issuer()}#${w.issuer.issuer()}` }), 0),
  claims('issuer_mismatch', 'J-24 a detour in the path', (w) => ({ iss: w.issuer.issuer().replace('/home', '/away/../home') }), 0),
  claims('issuer_mismatch', 'J-24 the honest host as a user name', (w) => ({ iss: `http://127.0.0.1@${w.hostile.issuer().slice(7)}` }), 0),
  claims('issuer_mismatch', 'J-24 another region that is not listed', (w) => ({ iss: w.issuer.issuer('unlisted') }), 0),
  claims('issuer_mismatch', 'no issuer', () => ({ iss: undefined }), 0),
  claims('issuer_mismatch', 'an issuer in a list', (w) => ({ iss: [w.issuer.issuer()] }), 0),
  claims('issuer_mismatch', 'an issuer that is null', () => ({ iss: null }), 0),
  claims('issuer_mismatch', 'an issuer named like a member of every object', () => ({ iss: '__proto__' }), 0),
];

const KEY: readonly Forgery[] = [
  header('key_not_found', 'J-25 no kid', { kid: undefined }),
  header('key_not_found', 'an empty kid', { kid: '' }),
  header('key_not_found', 'a kid that is a number', { kid: 1 }),
  header('key_not_found', 'a kid in a list', { kid: ['key-1'] }),
  header('key_not_found', 'a kid of 300 characters', { kid: 'k'.repeat(300) }),
  header('key_not_found', 'J-25 an unknown kid', { kid: 'key-unknown' }, 1),
  header('key_not_found', 'a kid that is a path', { kid: '../../../dev/null' }, 1),
  header('key_not_found', 'a kid named like a member of every object', { kid: '__proto__' }, 1),
  header('key_not_found', 'a kid in upper case', { kid: 'KEY-1' }, 1),
  row('key_not_found', 1, 'a token of another region under the issuer of this one', (w) => w.bench.token({}, {}, w.others.region)),
  row('key_not_found', 1, 'a published key of 1024 bits', (w) => w.bench.token({}, {}, w.others.weak)),
  row('key_not_found', 1, 'a published key for encryption', (w) => w.bench.token({}, {}, w.others.encryption)),
  row('key_not_found', 1, 'a kid that is published twice', (w) => w.bench.token({}, {}, w.others.twice)),
];

const SIGNATURE: readonly Forgery[] = [
  row('signature_invalid', 1, 'J-26 another key under the right kid', (w) => w.bench.token({}, { kid: w.key.id }, w.foreign)),
  row('signature_invalid', 1, 'J-26 altered claims', (w) => {
    const [head = '', , signature = ''] = w.bench.token().split('.');
    return `${head}.${encodePart(w.bench.claims({ [ORGANIZATION_CLAIM]: 'another' }))}.${signature}`;
  }),
  row('signature_invalid', 1, 'an altered header', (w) => {
    const [, body = '', signature = ''] = w.bench.token().split('.');
    return `${encodePart({ alg: 'RS256', typ: 'JWS', kid: w.key.id })}.${body}.${signature}`;
  }),
  row('signature_invalid', 1, 'the signature of another good token', (w) => {
    const [head = '', body = ''] = w.bench.token().split('.');
    return `${head}.${body}.${w.bench.token({ iat: 0 }).split('.')[2] ?? ''}`;
  }),
  row('signature_invalid', 1, 'the own key inside the header', (w) =>
    w.bench.token({}, { kid: w.key.id, jwk: w.foreign.published }, w.foreign),
  ),
  row('signature_invalid', 1, 'a key set address inside the header', (w) =>
    w.bench.token({}, { kid: w.key.id, jku: w.hostile.issuer() }, w.foreign),
  ),
  row('signature_invalid', 1, 'a certificate address inside the header', (w) =>
    w.bench.token({}, { kid: w.key.id, x5u: w.hostile.issuer() }, w.foreign),
  ),
  parts('signature_invalid', 'a signature of zeros', (head, body) => `${head}.${body}.${encodePart(new Uint8Array(256))}`, 1),
  parts('signature_invalid', 'a signature of one byte', (head, body) => `${head}.${body}.${encodePart(Uint8Array.of(1))}`, 1),
  parts(
    'signature_invalid',
    'a signature that is one byte short',
    (head, body, s) => `${head}.${body}.${encodePart(Buffer.from(s, 'base64url').subarray(1))}`,
    1,
  ),
  parts(
    'signature_invalid',
    'a signature with one more byte',
    (head, body, s) => `${head}.${body}.${encodePart(Buffer.from(`${s}AA`, 'base64url'))}`,
    1,
  ),
  signedBy('signature_invalid', 'SHA-1 under the name of RS256', 'RS256', (input, w) => sign('sha1', input, w.key.privateKey), 1),
  signedBy('signature_invalid', 'SHA-384 under the name of RS256', 'RS256', (input, w) => sign('sha384', input, w.key.privateKey), 1),
  signedBy('signature_invalid', 'PSS under the name of RS256', 'RS256', signPssOf, 1),
  signedBy(
    'signature_invalid',
    'HMAC under the name of RS256',
    'RS256',
    (input, w) => createHmac('sha256', publicPem(w.key)).update(input).digest(),
    1,
  ),
  signedBy(
    'signature_invalid',
    'a signature over the claims alone',
    'RS256',
    (_input, w) => sign('sha256', Buffer.from(encodePart(w.bench.claims())), w.key.privateKey),
    1,
  ),
];

const TIMES: readonly Forgery[] = [
  claims('expired', 'J-27 exp 31 s ago', (w) => ({ exp: second(w, -31) })),
  claims('expired', 'J-27 exp exactly at the end of the skew', (w) => ({ exp: second(w, -30) })),
  claims('expired', 'exp 0', () => ({ exp: 0 })),
  claims('expired', 'a negative exp', (w) => ({ exp: -second(w, 3600) })),
  claims('expiry_missing', 'J-27 no exp', () => ({ exp: undefined })),
  claims('claims_malformed', 'exp as a text', (w) => ({ exp: String(second(w, 3600)) })),
  claims('claims_malformed', 'exp that is null', () => ({ exp: null })),
  row('claims_malformed', 1, 'exp beyond every number', (w) => {
    const body = JSON.stringify(w.bench.claims({ exp: 'HUGE' })).replace('"HUGE"', '1e400');
    return signParts(w.key, GOOD_HEADER(w), encodePart(body));
  }),
  claims('lifetime_too_long', 'exp in milliseconds', (w) => ({ exp: second(w, 3600) * 1000 })),
  claims('lifetime_too_long', 'exp 25 h ahead', (w) => ({ exp: second(w, 25 * 3600) })),
  claims('not_yet_valid', 'J-27 nbf 31 s ahead', (w) => ({ nbf: second(w, 31) })),
  claims('claims_malformed', 'nbf as a text', (w) => ({ nbf: String(second(w, 0)) })),
  row('expired', 1, 'exp given twice, the living one first', (w) => {
    const body = JSON.stringify(w.bench.claims()).replace(/\}$/u, `,"exp":${String(second(w, -3600))}}`);
    return signParts(w.key, GOOD_HEADER(w), encodePart(body));
  }),
];

const BINDING: readonly Forgery[] = [
  claims('audience_mismatch', 'J-28 a wrong aud', () => ({ aud: 'AnotherAudience' })),
  claims('audience_mismatch', 'J-28 aud in a list', () => ({ aud: [SOURCE.audience] })),
  claims('audience_mismatch', 'J-28 aud in a list of two', () => ({ aud: ['AnotherAudience', SOURCE.audience] })),
  claims('audience_mismatch', 'no aud', () => ({ aud: undefined })),
  claims('audience_mismatch', 'aud in another case', () => ({ aud: SOURCE.audience.toLowerCase() })),
  claims('subject_mismatch', 'J-28 a wrong sub', () => ({ sub: 'anotherSubject' })),
  claims('subject_mismatch', 'sub in a list', () => ({ sub: [SOURCE.subject] })),
  claims('subject_mismatch', 'no sub', () => ({ sub: undefined })),
  claims('nonce_mismatch', 'J-28 a wrong jti', () => ({ jti: 'another-nonce' })),
  claims('nonce_mismatch', 'no jti', () => ({ jti: undefined })),
  claims('nonce_mismatch', 'an empty jti', () => ({ jti: '' })),
  claims('nonce_mismatch', 'a jti that is true', () => ({ jti: true })),
  claims('nonce_mismatch', 'jti in upper case', () => ({ jti: NONCE.toUpperCase() })),
  claims('nonce_mismatch', 'jti with a space', () => ({ jti: `${NONCE} ` })),
  claims('url_mismatch', 'J-28 a wrong url', () => ({ [URL_CLAIM]: 'https://other.example.test/line' })),
  claims('url_mismatch', 'J-29 the default port written out', () => ({ [URL_CLAIM]: SOURCE.url.replace('.test/', '.test:443/') })),
  claims('url_mismatch', 'J-29 a trailing slash', () => ({ [URL_CLAIM]: `${SOURCE.url}/` })),
  claims('url_mismatch', 'the host in upper case', () => ({ [URL_CLAIM]: SOURCE.url.replace('voice', 'VOICE') })),
  claims('url_mismatch', 'http instead of https', () => ({ [URL_CLAIM]: SOURCE.url.replace('https', 'http') })),
  claims('url_mismatch', 'the url without its path', () => ({ [URL_CLAIM]: 'https://voice.example.test' })),
  claims('url_mismatch', 'no url', () => ({ [URL_CLAIM]: undefined })),
  claims('schema_mismatch', 'J-28 a wrong schema', () => ({ [SCHEMA_CLAIM]: '99999999-2222-4333-8444-555555555555' })),
  claims('schema_mismatch', 'no schema', () => ({ [SCHEMA_CLAIM]: undefined })),
  claims('schema_mismatch', 'the schema in a list', () => ({ [SCHEMA_CLAIM]: [SOURCE.schemaId] })),
  claims('org_mismatch', 'J-28 a wrong organization', () => ({ [ORGANIZATION_CLAIM]: 'aaaaaaaa-6e2f-49f9-9a84-b354008fac9e' })),
  claims('org_mismatch', 'the beginning of the organization', () => ({ [ORGANIZATION_CLAIM]: SOURCE.organizationId.slice(0, 8) })),
  claims('org_mismatch', 'no organization', () => ({ [ORGANIZATION_CLAIM]: undefined })),
];

/** All forged tokens. */
export const FORGERIES: readonly Forgery[] = [...FORM, ...ALGORITHM, ...ISSUER, ...KEY, ...SIGNATURE, ...TIMES, ...BINDING];
