import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrub, secretsIn } from '../../../../src/admin/rest/scrub.ts';

describe('a text of the platform', () => {
  it('loses the secrets that we sent, in every spelling', () => {
    const secret = 'a/b "c"&d';
    const text = [secret, encodeURIComponent(secret), new URLSearchParams([['x', secret]]).toString(), JSON.stringify(secret)].join(' ; ');
    expect(scrub(text, [secret])).toBe('[hidden] ; [hidden] ; x=[hidden] ; "[hidden]"');
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

  it('never holds a secret, wherever it stood', () => {
    const part = fc.stringMatching(/^[ -~]{0,40}$/u);
    fc.assert(
      fc.property(part, fc.stringMatching(/^[A-Z0-9_+/=-]{8,60}$/u), part, (before, secret, after) => {
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
