import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isGenuine } from '../../../../src/admin/webhooks/signature.ts';

const SECRET = 'a secret of ours';
const BODY = Buffer.from('{"resource":"x", "n": 1}');
const SECRETS = [SECRET];
const sign = (algorithm: string, secret = SECRET, body: Uint8Array = BODY): string =>
  createHmac(algorithm, secret).update(body).digest('hex');
const only = (sha1: string | undefined, sha2?: string) => ({ sha1, sha2 });

describe('the signature of a delivery', () => {
  it('H-10 is good as lower-case hex of HMAC-SHA1 over the raw bytes', () => {
    expect(isGenuine(BODY, only(sign('sha1')), SECRETS)).toBe(true);
  });

  it('H-12 is not that of the same JSON written anew', () => {
    const rewritten = Buffer.from(JSON.stringify(JSON.parse(BODY.toString())));
    expect(isGenuine(rewritten, only(sign('sha1')), SECRETS)).toBe(false);
  });

  it.each([
    ['nothing at all', undefined],
    ['an empty one', ''],
    ['one digit less', sign('sha1').slice(1)],
    ['one digit more', `${sign('sha1')}0`],
    ['no hex', 'z'.repeat(40)],
    ['upper case', sign('sha1').toUpperCase()],
    ['another secret', sign('sha1', 'another')],
    ['a name before it', `sha1=${sign('sha1')}`],
  ])('H-12 is refused: %s', (_, sha1) => {
    expect(isGenuine(BODY, only(sha1), SECRETS)).toBe(false);
  });

  it.each([
    ['both by name', `SHA-256=${sign('sha256')},SHA-512=${sign('sha512')}`],
    ['with a space between', `SHA-256=${sign('sha256')}, SHA-512=${sign('sha512')}`],
    ['one by name', `sha256=${sign('sha256')}`],
    ['hex of 256 bits alone', sign('sha256')],
    ['hex of 512 bits alone', sign('sha512')],
  ])('H-11 the stronger one is good alone and beside SHA-1: %s', (_, sha2) => {
    expect(isGenuine(BODY, only(undefined, sha2), SECRETS)).toBe(true);
    expect(isGenuine(BODY, only(sign('sha1'), sha2), SECRETS)).toBe(true);
  });

  it.each([
    ['a wrong SHA-256', `SHA-256=${sign('sha256', 'another')},SHA-512=${sign('sha512')}`],
    ['a wrong SHA-512', `SHA-256=${sign('sha256')},SHA-512=${sign('sha512', 'another')}`],
    ['hex of another body', sign('sha256', SECRET, Buffer.from('{}'))],
  ])('H-11 a good SHA-1 does not make up for %s', (_, sha2) => {
    expect(isGenuine(BODY, only(sign('sha1'), sha2), SECRETS)).toBe(false);
  });

  it.each([
    ['another algorithm', 'blake3=00'],
    ['a part without hex', `SHA-256=${sign('sha256')},SHA-512=`],
    ['empty', ''],
    ['endless', sign('sha512').repeat(100)],
  ])('H-13 one that cannot be read neither spoils a good SHA-1 nor is good alone: %s', (_, sha2) => {
    expect(isGenuine(BODY, only(sign('sha1'), sha2), SECRETS)).toBe(true);
    expect(isGenuine(BODY, only(sign('sha1', 'another'), sha2), SECRETS)).toBe(false);
    expect(isGenuine(BODY, only(undefined, sha2), SECRETS)).toBe(false);
  });

  it('is good with any secret that is still in use, but never with parts of two', () => {
    const secrets = ['older', SECRET];
    expect(isGenuine(BODY, only(sign('sha1', 'older')), secrets)).toBe(true);
    expect(isGenuine(BODY, only(sign('sha1', 'older'), sign('sha256')), secrets)).toBe(false);
  });

  it('is never good without a secret, not even an empty one', () => {
    expect(isGenuine(BODY, only(sign('sha1')), [])).toBe(false);
    expect(isGenuine(BODY, only(sign('sha1', '')), [''])).toBe(false);
  });

  it('is refused, and nothing is thrown, whatever stands in the headers', () => {
    const text = fc.option(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{0,130}$/u)), { nil: undefined });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), text, text, (body, sha1, sha2) => {
        expect(isGenuine(body, { sha1, sha2 }, SECRETS)).toBe(false);
      }),
    );
  });
});
