import { describe, expect, it } from 'vitest';
import { PlatformIds } from '../../../../src/fake-platform/platform/ids.ts';

const UUID = '0f148aa0-1111-4222-8333-444455556666';
const ids = new PlatformIds('scheme://', 'us');
const encoded = (text: string): string => Buffer.from(text).toString('base64url');

describe('ids as they travel', () => {
  it('H-01 are unpadded base64url of an address', () => {
    expect(ids.encode('ORGANIZATION', UUID)).toBe(encoded(`scheme://us/ORGANIZATION/${UUID}`));
    expect(ids.encode('APPLICATION', 'C0')).not.toContain('=');
  });

  it('H-01 are read in both alphabets, padded or not, and H-03 of any cluster', () => {
    for (const address of [`scheme://us/ORGANIZATION/${UUID}`, `scheme://eu-2/ORGANIZATION/${UUID}`]) {
      expect(ids.decode('ORGANIZATION', Buffer.from(address).toString('base64'))).toBe(UUID);
      expect(ids.decode('ORGANIZATION', encoded(address))).toBe(UUID);
    }
  });

  it.each([
    ['another type', encoded(`scheme://us/PEOPLE/${UUID}`)],
    ['another scheme', encoded(`schema://us/ORGANIZATION/${UUID}`)],
    ['no cluster', encoded(`scheme:///ORGANIZATION/${UUID}`)],
    ['more behind it', encoded(`scheme://us/ORGANIZATION/${UUID}/x`)],
    ['no UUID', encoded('scheme://us/ORGANIZATION/C00')],
    ['no base64', `${encoded(`scheme://us/ORGANIZATION/${UUID}`)}!`],
    ['nothing', ''],
    ['far too long', 'A'.repeat(501)],
  ])('H-03 are refused with %s', (_what, text) => {
    expect(ids.decode('ORGANIZATION', text)).toBeUndefined();
    expect(ids.decodeOrganization(text)).toBeUndefined();
  });

  it('H-03 are client ids when they are of an application', () => {
    expect(ids.decode('APPLICATION', ids.encode('APPLICATION', 'C0ffee'))).toBe('C0ffee');
    expect(ids.decode('APPLICATION', ids.encode('APPLICATION', UUID))).toBeUndefined();
  });

  it('H-02 may be a bare UUID, in base64 or plain, when they are of an organization', () => {
    expect(ids.decodeOrganization(UUID)).toBe(UUID);
    expect(ids.decodeOrganization(encoded(UUID))).toBe(UUID);
    expect(ids.decodeOrganization(ids.encode('ORGANIZATION', UUID))).toBe(UUID);
  });
});
