// Tokens that say something wrong: signed by an issuer of this process exactly as a check orders them.
import { expect, it, onTestFinished } from 'vitest';
import { decodeProtectedHeader, jwtVerify, createRemoteJWKSet } from 'jose';
import { changed, encoded, issuerSigner, readToken, writeToken } from '../../../../src/fake-platform/conformance/tokens.ts';
import { startIssuer } from '../../../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';

it('are signed with the key that is published, changed and unchanged claims and headers beside each other', async () => {
  const issuer = await startIssuer({ profile: loadProfile('fake') });
  onTestFinished(() => issuer.close());
  const signer = issuerSigner(issuer);
  const keys = createRemoteJWKSet(new URL(issuer.keySetUrl));

  const honest = readToken(await signer.sign({}));
  expect(honest?.claims).toMatchObject({ iss: issuer.issuer, aud: issuer.claims.audience, jti: issuer.claims.nonce });
  const odd = await signer.sign({ claims: { aud: 'another', exp: null }, header: { typ: null, extra: 1 } });
  expect((await jwtVerify(odd, keys)).payload).toMatchObject({ aud: 'another', sub: issuer.claims.subject });
  expect((await jwtVerify(odd, keys)).payload).not.toHaveProperty('exp');
  expect(decodeProtectedHeader(odd)).toEqual({ alg: 'RS256', kid: honest?.header['kid'], extra: 1 });

  await signer.rotate();
  // J-2A: honest orders keep to the first key, so that only who wants the new one gets it.
  expect(readToken(await signer.sign({}))?.header['kid']).toBe(honest?.header['kid']);
  expect(readToken(await signer.sign({ by: 'newest' }))?.header['kid']).not.toBe(honest?.header['kid']);
  expect(await signer.keyRequests()).toBe(1);
});

it('are taken apart and put together, and anything else is no token', () => {
  const parts = { header: { alg: 'none' }, claims: { sub: 'one' }, signature: 'xyz' };
  expect(readToken(writeToken(parts))).toEqual(parts);
  for (const text of ['', 'a.b', 'a.b.c.d', `${encoded([])}.${encoded({})}.x`, 'no.json.x']) expect(readToken(text)).toBeUndefined();
  expect(changed({ a: 1, b: 2 }, { b: null, c: 3 })).toEqual({ a: 1, c: 3 });
});
