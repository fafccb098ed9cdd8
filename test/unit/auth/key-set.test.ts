// Which published keys may verify a token.
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeySet } from '../../../src/auth/key-set.ts';
import { createSigningKey } from '../../support/token-issuer.ts';

const good = createSigningKey('good');
const { n, e } = good.published;
const plain = { kty: 'RSA', kid: 'plain', n, e };

describe('a key set', () => {
  it.each([
    ['with the members the platform shows', good.published],
    ['without use and alg', plain],
    ['with alg RS256 and key_ops verify', { ...plain, alg: 'RS256', key_ops: ['verify'] }],
    ['with members nobody knows', { ...plain, x5c: ['abc'], extra: { a: 1 } }],
  ])('uses a key %s', async (_name, published) => {
    const set = new KeySet({ keys: [published] }, 10);
    expect(set.size).toBe(1);
    const { key } = (await set.find(published.kid)) ?? {};
    expect(key?.type).toBe('public');
    expect(key?.algorithm).toMatchObject({ name: 'RSASSA-PKCS1-v1_5', hash: { name: 'SHA-256' }, modulusLength: 2048 });
  });

  it.each([
    ['an id of 256 characters', { ...plain, kid: 'k'.repeat(256) }],
    ['a modulus of 8192 bits', { ...plain, n: Buffer.alloc(1024, 0xff).toString('base64url') }],
    ['the exponent 3', { ...plain, e: 'Aw' }],
    ['several operations', { ...plain, key_ops: ['encrypt', 'verify'] }],
  ])('uses a key with %s', (_name, published) => {
    expect(new KeySet({ keys: [published] }, 10).size).toBe(1);
  });

  it('is refused as a whole when it is no set or too large', () => {
    for (const body of [null, [], {}, { keys: {} }]) {
      expect(() => new KeySet(body, 10)).toThrow(expect.objectContaining({ code: 'keys_unavailable' }));
    }
    expect(new KeySet({ keys: [1, 2] }, 2).ignored).toBe(2);
    expect(() => new KeySet({ keys: [1, 2, 3] }, 2)).toThrow(
      expect.objectContaining({ code: 'keys_unavailable', details: { keys: 3, limit: 2 } }),
    );
  });

  it.each([
    ['for encryption', { ...plain, use: 'enc' }],
    ['with an id of 257 characters', { ...plain, kid: 'k'.repeat(257) }],
    ['of a modulus of 2040 bits', { ...plain, n: Buffer.alloc(255, 0xff).toString('base64url') }],
    ['of a modulus of 8200 bits', { ...plain, n: Buffer.alloc(1025, 0xff).toString('base64url') }],
    ['with the exponent 2', { ...plain, e: 'Ag' }],
    ['for another algorithm', { ...plain, alg: 'PS256' }],
    ['whose operations lack verify', { ...plain, key_ops: ['encrypt'] }],
    ['without an id', { kty: 'RSA', n, e }],
    ['with an empty id', { ...plain, kid: '' }],
    ['with an id that is a number', { ...plain, kid: 7 }],
    ['of 1024 bits', createSigningKey('plain', { bits: 1024 }).published],
    ['of a modulus of 10 000 bits', { ...plain, n: Buffer.alloc(1250, 0xff).toString('base64url') }],
    ['with the exponent 1', { ...plain, e: 'AQ' }],
    ['with an exponent that is empty', { ...plain, e: '' }],
    ['with a modulus that is no base64url', { ...plain, n: '!' }],
    ['whose private part is published', { ...good.privateKey.export({ format: 'jwk' }), kid: 'plain' }],
    ['on an elliptic curve', { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid: 'plain' }],
    ['that is a shared secret', { kty: 'oct', k: 'c2VjcmV0', kid: 'plain' }],
    ['that is no object', 'plain'],
    ['that is null', null],
  ])('passes over a key %s, and uses the others', async (_name, published) => {
    const set = new KeySet({ keys: [published, good.published] }, 10);
    expect([set.size, set.ignored]).toEqual([1, 1]);
    expect(set.fingerprint('plain')).toBeUndefined();
    expect(await set.find('plain')).toBeUndefined();
    expect(await set.find('good')).toBeDefined();
  });

  it('J-14 passes over both keys when an id occurs twice', async () => {
    const set = new KeySet({ keys: [plain, { ...good.published, kid: 'plain' }, good.published] }, 10);
    expect([set.size, set.ignored]).toEqual([1, 2]);
    expect(await set.find('plain')).toBeUndefined();
  });

  it('knows a key by another fingerprint than its successor under the same id', async () => {
    const [set, same, successor] = [good.published, { ...plain, kid: 'good' }, createSigningKey('good', { isAnother: true }).published].map(
      (published) => new KeySet({ keys: [published] }, 1),
    );
    expect(same?.fingerprint('good')).toBe(set?.fingerprint('good'));
    expect(successor?.fingerprint('good')).not.toBe(set?.fingerprint('good'));
    expect((await set?.find('good'))?.fingerprint).toBe(set?.fingerprint('good'));
  });

  it('J-14 never falls back to its only key', async () => {
    const set = new KeySet({ keys: [good.published] }, 10);
    for (const id of ['', 'other', 'GOOD', 'good ', 'undefined']) expect(await set.find(id)).toBeUndefined();
  });
});
