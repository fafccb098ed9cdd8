import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrub, secretsIn } from '../../../src/base/scrub.ts';

describe('a text of the platform', () => {
  it.each([
    ['as it is', (secret: string) => secret],
    ['as JSON', (secret: string) => JSON.stringify(secret).slice(1, -1)],
    ['as JSON within JSON within JSON', (secret: string) => JSON.stringify(JSON.stringify(JSON.stringify(secret))).slice(7, -7)],
    ['as JSON in ASCII', (secret: string) => secret.replace(/[^\w]/gu, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)],
    ['in an address', encodeURIComponent],
    ['in an address, in small letters', (secret: string) => encodeURIComponent(secret).toLowerCase()],
    ['in a form', (secret: string) => new URLSearchParams({ '': secret }).toString().slice(1)],
    ['in a page', (secret: string) => secret.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')],
    ['in a page, by number', (secret: string) => secret.replaceAll('&', '&#38;').replaceAll('"', '&#x22;').replaceAll('<', '&#060;')],
  ])('loses the secrets that we sent: %s', (_, quote) => {
    const secret = 'a/b "c"&d\\e<f>\'ü+.-$';
    expect(scrub(`before ${quote(secret)} after`, ['other', secret])).toBe('before [hidden] after');
  });

  it('loses the longer secret whole when a shorter one is its beginning', () => {
    expect(scrub('abc abcdef', ['abc', 'abcdef'])).toBe('[hidden] [hidden]');
  });

  it.each([
    ['bearer tokens', 'Authorization: Bearer abc.def', 'Authorization: Bearer [hidden]'],
    ['signed tokens', 'token eyJhbGciOi.eyJzdWIi.c2ln was', 'token [hidden] was'],
    ['unsigned tokens', 'eyJhbGciOi.eyJzdWIi.', '[hidden]'],
  ])('loses %s that we need not have sent', (_, text, expected) => {
    expect(scrub(text, [])).toBe(expected);
  });

  it('is one line of limited length without control characters', () => {
    expect(scrub('a\r\nb\u0000\u001b[2J\u202ec\u2028d', [])).toBe('a b [2J c d');
    expect(scrub('x'.repeat(1000), [])).toBe(`${'x'.repeat(300)}…`);
  });

  it('is cut only after it was cleaned, so that no half secret is left', () => {
    expect(scrub(`${'x'.repeat(295)} secret-value`, ['secret-value'])).not.toContain('secr');
  });

  it('is looked through quickly, however it is made', () => {
    const started = performance.now();
    scrub('\\'.repeat(10_000), ['\\'.repeat(40), '"'.repeat(40), '\\"'.repeat(20)]);
    scrub('bearer '.repeat(1400), []);
    scrub('eyJ.'.repeat(2500), []);
    // Takes some ms; what goes wrong here takes minutes.
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it('says nothing when it is too long to be read', () => {
    expect(scrub('x'.repeat(10_001), [])).toBe('');
  });

  it('never holds a secret, wherever it stood and whatever is in it', () => {
    const part = fc.stringMatching(/^[ -~]{0,40}$/u);
    fc.assert(
      fc.property(part, fc.string({ unit: 'binary', minLength: 9, maxLength: 40 }), part, (before, secret, after) => {
        expect(scrub(`${before}${secret}${after}`, [secret])).not.toContain(secret);
      }),
    );
  });

  it('is not changed when it holds nothing of the kind', () => {
    expect(scrub('The schemaId is unknown.', ['', 'other'])).toBe('The schemaId is unknown.');
  });
});

describe('the secrets in a body', () => {
  it('are the values of its secret members', () => {
    expect(secretsIn({ clientId: 'i', clientSecret: 's', nonce: 'n', secret: 'w', url: 'u', tokenLifetimeMinutes: 1 })).toEqual([
      's',
      'n',
      'w',
    ]);
    expect(secretsIn({ nonce: 7 })).toEqual([]);
  });
});
