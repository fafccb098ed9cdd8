import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeId, encodeId, isSameId, otherOrganizationForm, tryDecodeId, type PlatformIdType } from '../../../src/admin/platform-id.ts';

const SCHEME = 'example://';
const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const APP = `C${'0a1b2c3d'.repeat(8)}`;
const address = (text: string): string => Buffer.from(text).toString('base64url');

describe('an id of the platform', () => {
  it.each([
    ['an address in base64url (H-01)', address(`${SCHEME}us/ORGANIZATION/${ORG}`)],
    ['an address in padded base64', Buffer.from(`${SCHEME}us/ORGANIZATION/${ORG}`).toString('base64')],
    ['an address of another cluster (H-03)', address(`${SCHEME}eu-west-2_r/ORGANIZATION/${ORG}`)],
    ['an encoded UUID (H-02)', address(ORG)],
    ['a plain UUID (H-02)', ORG],
    ['a UUID in capitals', ORG.toUpperCase()],
  ])('of an organization may be %s', (_, text) => {
    expect(decodeId(text, 'ORGANIZATION', SCHEME)).toBe(ORG);
  });

  it('of an application is its client id, encoded or not', () => {
    expect(decodeId(address(`${SCHEME}us/APPLICATION/${APP}`), 'APPLICATION', SCHEME)).toBe(APP);
    expect(decodeId(APP, 'APPLICATION', SCHEME)).toBe(APP);
    // The public example of the path of an application's token, but for its scheme.
    expect(encodeId(APP, 'APPLICATION', SCHEME)).toBe(address(`example://us/APPLICATION/${APP}`));
  });

  it.each<[string, PlatformIdType, string]>([
    ['of another type (H-03)', 'ORGANIZATION', address(`${SCHEME}us/PEOPLE/${ORG}`)],
    ['of the type of a segment further left', 'ORGANIZATION', address(`${SCHEME}ORGANIZATION/us/${ORG}`)],
    ['of an organization that is no UUID (H-03)', 'ORGANIZATION', address(`${SCHEME}us/ORGANIZATION/${APP}`)],
    ['of an application that is no client id (H-03)', 'APPLICATION', address(`${SCHEME}us/APPLICATION/${ORG}`)],
    ['with another scheme', 'ORGANIZATION', address(`other://us/ORGANIZATION/${ORG}`)],
    ['without a cluster', 'ORGANIZATION', address(`${SCHEME}ORGANIZATION/${ORG}`)],
    ['with nothing at the end', 'WEBHOOK', address(`${SCHEME}us/WEBHOOK/`)],
    ['with a value that would need escaping', 'WEBHOOK', address(`${SCHEME}us/WEBHOOK/a b`)],
    ['of no bytes', 'ORGANIZATION', ''],
    ['with foreign characters', 'ORGANIZATION', `${address(`${SCHEME}us/ORGANIZATION/${ORG}`)} `],
    ['of bytes that are no text', 'WEBHOOK', Buffer.from([0xff, 0xfe, 0xfd]).toString('base64url')],
    ['that is longer than any', 'WEBHOOK', address(`${SCHEME}${'u'.repeat(500)}/WEBHOOK/${ORG}`)],
    ['that is encoded, of an application without address', 'APPLICATION', address(APP)],
  ])('is refused: one %s', (_, type, text) => {
    expect(tryDecodeId(text, type, SCHEME)).toBeUndefined();
    expect(() => decodeId(text, type, SCHEME)).toThrow(expect.objectContaining({ code: 'bad_message' }));
    expect(isSameId(text, text, type, SCHEME)).toBe(false);
  });

  it('survives encoding and decoding, whatever it names and wherever it lives', () => {
    const value = fc.oneof(
      fc.tuple(fc.constantFrom<PlatformIdType>('ORGANIZATION', 'WEBHOOK', 'PEOPLE'), fc.uuid()),
      fc.tuple(fc.constant<PlatformIdType>('APPLICATION'), fc.stringMatching(/^C[0-9a-f]{8,64}$/u)),
    );
    fc.assert(
      fc.property(value, fc.stringMatching(/^[a-z0-9:_-]{1,20}$/u), ([type, text], cluster) => {
        const encoded = encodeId(text, type, SCHEME, cluster);
        expect(encoded).toMatch(/^[\w-]+$/u);
        expect(decodeId(encoded, type, SCHEME)).toBe(text);
        // H-04: the cluster is part of the spelling, not of the id.
        expect(isSameId(encoded, encodeId(text, type, SCHEME), type, SCHEME)).toBe(true);
        expect(isSameId(encoded, text, type, SCHEME)).toBe(true);
      }),
    );
  });

  it('is never anything but a right value, whatever arrives, and reading never fails in another way', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.string().map(address),
      fc.string().map((text) => address(SCHEME + text)),
    );
    fc.assert(
      fc.property(anything, fc.constantFrom<PlatformIdType>('ORGANIZATION', 'APPLICATION', 'WEBHOOK', 'PEOPLE'), (text, type) => {
        const value = tryDecodeId(text, type, SCHEME);
        if (value !== undefined) expect(decodeId(encodeId(value, type, SCHEME), type, SCHEME)).toBe(value);
      }),
    );
  });

  it('of two organizations are not the same because they are spelt alike', () => {
    expect(isSameId(ORG, ORG.replace('c', 'd'), 'ORGANIZATION', SCHEME)).toBe(false);
  });

  it('is not made of a value that no id can have', () => {
    expect(() => encodeId('not-a-uuid', 'ORGANIZATION', SCHEME)).toThrow(expect.objectContaining({ code: 'bad_message' }));
  });

  it('of an organization has another form: an address for a bare value, the bare value for anything encoded (U-14)', () => {
    const encoded = address(`${SCHEME}eu/ORGANIZATION/${ORG}`);
    expect(otherOrganizationForm(encoded, SCHEME)).toBe(ORG);
    expect(otherOrganizationForm(address(ORG), SCHEME)).toBe(ORG);
    expect(otherOrganizationForm(ORG, SCHEME)).toBe(address(`${SCHEME}us/ORGANIZATION/${ORG}`));
  });
});
