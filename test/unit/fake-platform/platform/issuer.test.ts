import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { startIssuer, type Issuer, type IssuerOptions } from '../../../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const profile = loadProfile('fake');
const issuers: Issuer[] = [];

async function start(options: Partial<IssuerOptions> = {}): Promise<Issuer> {
  const issuer = await startIssuer({ profile, ...options });
  issuers.push(issuer);
  return issuer;
}

afterEach(async () => {
  await Promise.all(issuers.splice(0).map((issuer) => issuer.close()));
});

async function keySet(issuer: Issuer): Promise<JSONWebKeySet> {
  const response = await fetch(issuer.keySetUrl);
  return (await response.json()) as JSONWebKeySet;
}

describe('the issuer', () => {
  it('signs tokens with the header and claims of the platform, which its own key set verifies', async () => {
    const clock = new FakeClock();
    const issuer = await start({
      clock,
      organizationId: 'o-1',
      url: 'https://bots.example.org:8443/x',
      schemaId: 's-1',
      audience: 'a-1',
      subject: 'u-1',
      nonce: 'n-1',
      lifetimeMinutes: 120,
    });
    const token = await issuer.issueToken();
    expect(token.split('.')).toHaveLength(3);
    const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(issuer.keySetUrl)), {
      algorithms: ['RS256'],
      currentDate: new Date(clock.nowMs()),
    });
    expect(protectedHeader).toMatchObject({ alg: 'RS256', typ: 'JWT' });
    const iat = Math.floor(clock.nowMs() / 1000);
    expect(payload).toEqual({
      iss: issuer.issuer,
      aud: 'a-1',
      sub: 'u-1',
      jti: 'n-1',
      iat,
      exp: iat + 7200,
      [profile.jws.claims.url]: 'https://bots.example.org:8443/x',
      [profile.jws.claims.schema]: 's-1',
      [profile.jws.claims.org]: 'o-1',
    });
    expect(Buffer.from(token.split('.')[2] ?? '', 'base64url')).toHaveLength(256);
  });

  it('serves its key set under the issuer, on loopback, and nothing else', async () => {
    const issuer = await start({ path: '/realm/idb' });
    expect(issuer.issuer).toBe(`${issuer.origin}/realm/idb`);
    expect(issuer.keySetUrl).toBe(`${issuer.issuer}${profile.jws.keySetSuffix}`);
    expect(new URL(issuer.origin).hostname).toBe('127.0.0.1');
    const { keys } = await keySet(issuer);
    expect(keys).toHaveLength(1);
    expect(keys[0]).toMatchObject({ kty: 'RSA', use: 'sig', e: 'AQAB', kid: decodeProtectedHeader(await issuer.issueToken()).kid });
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['e', 'kid', 'kty', 'n', 'use']);
    expect((await fetch(issuer.origin)).status).toBe(404);
    expect((await fetch(issuer.keySetUrl, { method: 'POST' })).status).toBe(404);
    expect(issuer.requests.map(({ status }) => status)).toEqual([200, 404, 404]);
    expect(issuer.keySetAnswers()).toBe(1);
  });

  it('signs the claims that it is given', async () => {
    const issuer = await start();
    const [, claims = ''] = (await issuer.issueToken({ audience: 'other', nonce: 'old' })).split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ aud: 'other', jti: 'old', sub: issuer.claims.subject });
  });

  it('J-01 issues a token at a given time other than its own, and expires it from there', async () => {
    const clock = new FakeClock();
    const issuer = await start({ clock, lifetimeMinutes: 10 });
    const { iat, exp } = decodeJwt(await issuer.issueToken({}, clock.nowMs() + 90_000));
    expect(iat).toBe(clock.nowMs() / 1000 + 90);
    expect(exp).toBe(clock.nowMs() / 1000 + 90 + 600);
  });

  it('J-2A signs with a new key after a rotation and keeps the old one published', async () => {
    const issuer = await start();
    const before = await issuer.issueToken();
    await issuer.rotateKey();
    const after = await issuer.issueToken();
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
    const keys = createRemoteJWKSet(new URL(issuer.keySetUrl));
    await expect(jwtVerify(before, keys)).resolves.toBeDefined();
    await expect(jwtVerify(after, keys)).resolves.toBeDefined();
  });

  it('can forget its old keys, and never publishes more than ten', async () => {
    const issuer = await start();
    const token = await issuer.issueToken();
    for (let round = 0; round < 12; round += 1) await issuer.rotateKey();
    expect((await keySet(issuer)).keys).toHaveLength(10);
    // However many keys were made only to be rotated: the one of a token that still holds stays.
    await expect(jwtVerify(token, createRemoteJWKSet(new URL(issuer.keySetUrl)))).resolves.toBeDefined();
    await issuer.rotateKey({ forgetOld: true });
    expect((await keySet(issuer)).keys).toHaveLength(1);
  });

  it('closed twice lends its key to one issuer after it, never to two', async () => {
    const closed = await startIssuer({ profile });
    await closed.close();
    await closed.close();
    const [[first], [second]] = [(await keySet(await start())).keys, (await keySet(await start())).keys];
    expect(first?.n).toBeTypeOf('string');
    expect(first?.n).not.toBe(second?.n);
  });

  it('refuses a port that is taken', async () => {
    const issuer = await start();
    await expect(start({ port: Number(new URL(issuer.origin).port) })).rejects.toMatchObject({ code: 'listen_failed' });
  });
});
