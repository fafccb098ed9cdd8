// Names of certificates, as operators write them and as certificates have them, and the authorities of a file.
import { describe, expect, it } from 'vitest';
import { authoritiesIn, bundledAuthority, SUBJECT, subjectKey, subjectLines, writtenSubjectKey } from '../../../src/base/client-trust.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { certificateAuthority } from '../../support/certificate-authority.ts';

const WRITTEN = 'CN=voice.example, O=Owner Inc., L=San Jose, ST=California, C=US';
const ATTRIBUTES = { C: 'US', ST: 'California', L: 'San Jose', O: 'Owner Inc.', CN: 'voice.example' };

describe('a subject', () => {
  it('O-12 is the same in either order, with or without blanks after the commas', () => {
    expect(writtenSubjectKey(WRITTEN)).toBe(subjectKey(ATTRIBUTES));
    expect(writtenSubjectKey('C=US,ST=California,L=San Jose,O=Owner Inc.,CN=voice.example')).toBe(subjectKey(ATTRIBUTES));
  });

  it.each([
    ['another CN', { ...ATTRIBUTES, CN: 'voice.example.org' }],
    ['another case', { ...ATTRIBUTES, CN: 'Voice.example' }],
    ['one attribute more', { ...ATTRIBUTES, OU: 'Desk' }],
    ['one attribute less', { CN: 'voice.example', O: 'Owner Inc.', L: 'San Jose', ST: 'California' }],
    ['an attribute twice', { ...ATTRIBUTES, CN: ['voice.example', 'evil.example'] }],
    ['the same text inside one attribute', { O: 'Owner Inc., L=San Jose, ST=California, C=US', CN: 'voice.example' }],
    ['nothing at all', {}],
  ])('O-12 is another one with %s', (_what, attributes) => {
    expect(subjectKey(attributes)).not.toBe(writtenSubjectKey(WRITTEN));
  });

  it('has commas and backslashes behind a backslash, and attributes more than once', () => {
    expect(writtenSubjectKey(String.raw`CN=a\,b\\c, OU=one, OU=two`)).toBe(subjectKey({ OU: ['two', 'one'], CN: String.raw`a,b\c` }));
  });

  it.each([WRITTEN, 'CN=a', 'O=b,CN=a', 'CN=a, 2.5.4.97=NTRUS-1', String.raw`O=Owner\, Inc., CN=a`])('may be written as %s', (text) => {
    expect(text).toMatch(SUBJECT);
  });

  it.each(['', 'voice.example', 'O=Owner', 'CN=', 'CN=a, Inc.', 'CN=a,', String.raw`CN=a\ `.trim(), 'XCN=a'])(
    'may not be written as "%s"',
    (text) => {
      expect(text).not.toMatch(SUBJECT);
    },
  );
});

describe('a file of subjects', () => {
  const lines = (text: string) => subjectLines(Buffer.from(text), '/here/subjects');

  it('has one on each line, and remarks', () => {
    expect(lines(`# ours\n\n ${WRITTEN} \r\nCN=b\n`)).toEqual([WRITTEN, 'CN=b']);
  });

  it.each([
    ['', /names no subject/u],
    ['# CN=a\n', /names no subject/u],
    ['CN=a\n\nbroken\n', /line 3 that is no subject/u],
    [`CN=${'a'.repeat(500)}`, /line 1 that is no subject/u],
    ['CN=a\n'.repeat(1001), /more than 1000/u],
  ])('is refused that holds %j', (text, reason) => {
    expect(() => lines(text)).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringMatching(reason) as string }),
    );
  });
});

describe('a file of authorities', () => {
  const nowMs = systemClock.nowMs();
  const read = (text: string, atMs = nowMs) => authoritiesIn(Buffer.from(text), '/here/ca.pem', atMs);

  it('holds one or several', async () => {
    const [one, two] = await Promise.all([certificateAuthority(nowMs), certificateAuthority(nowMs)]);
    expect(read(`# first\n${one.pem}\n# second\n${two.pem}\n`)).toHaveLength(2);
  });

  it('is refused without a certificate, with a broken one, with too many, and when all have ended', async () => {
    const { pem } = await certificateAuthority(nowMs);
    const broken = `${pem}\n${pem.replace(/\n[^\n]{20}/u, `\n${'A'.repeat(20)}`)}`;
    expect(() => read('nothing')).toThrow(
      expect.objectContaining({ code: 'certificate_invalid', message: 'the file /here/ca.pem holds no certificate in PEM' }),
    );
    expect(() => read(broken)).toThrow(/cannot be read/u);
    expect(() => read(`${pem}\n`.repeat(101))).toThrow(/more than 100/u);
    expect(() => read(pem, nowMs + 401 * 86_400_000)).toThrow(/only certificates that have ended/u);
  });
});

describe('a file of authorities that was not written to its end', () => {
  it.each<readonly [what: string, spoil: (pem: string) => string]>([
    ['ends in the middle of a certificate', (pem) => pem.slice(0, pem.length / 2)],
    ['ends in the middle of the line that begins one', (pem) => pem.slice(0, 18)],
    ['begins in the middle of a certificate', (pem) => pem.slice(pem.length / 2)],
    ['holds something else beside', (pem) => pem.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE')],
  ])('is refused, although another one in it is whole: it %s', async (_what, spoil) => {
    const nowMs = systemClock.nowMs();
    const [whole, other] = await Promise.all([certificateAuthority(nowMs), certificateAuthority(nowMs)]);
    for (const text of [`${whole.pem}\n${spoil(other.pem)}`, `${spoil(other.pem)}\n${whole.pem}`]) {
      expect(() => authoritiesIn(Buffer.from(text), '/here/ca.pem', nowMs)).toThrow(
        expect.objectContaining({
          code: 'certificate_invalid',
          message: 'the file /here/ca.pem holds something beside whole certificates in PEM',
        }),
      );
    }
  });
});

describe('an authority by its name', () => {
  it('O-11 is one that the runtime brings along', () => {
    expect(bundledAuthority('IdenTrust Commercial Root CA 1')).toMatch(/^-----BEGIN CERTIFICATE-----/u);
    expect(bundledAuthority('IdenTrust')).toBeUndefined();
  });
});
