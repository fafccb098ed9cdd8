import { describe, expect, it } from 'vitest';
import { compareUrls } from '../../../../src/admin/doctor/url-spelling.ts';

describe('comparing a registered address with the configured one', () => {
  it('finds those the same that are, to the character (J-19)', () => {
    expect(compareUrls('https://h.test/a', 'https://h.test/a')).toEqual({ kind: 'same' });
    expect(compareUrls('no address', 'no address')).toEqual({ kind: 'same' });
  });

  it.each([
    ['https://h.test:443', 'https://h.test', ['the default port']],
    ['https://h.test', 'https://h.test:443/a'.slice(0, -2), ['the default port']],
    ['wss://h.test:443/v1', 'wss://h.test/v1', ['the default port']],
    ['http://127.0.0.1:80', 'http://127.0.0.1', ['the default port']],
    ['https://h.test/', 'https://h.test', ['a slash at the end']],
    ['https://h.test/a', 'https://h.test/a//', ['a slash at the end']],
    ['https://H.test/a', 'https://h.test/a', ['upper case']],
    ['https://h.test/A', 'https://h.test/a', ['upper case']],
    ['https://H.test:443/', 'https://h.test', ['the default port', 'a slash at the end', 'upper case']],
    ['https://h.test/a/../b', 'https://h.test/b', ['upper and lower case or escapes']],
    ['https://h.Test', 'https://H.test', ['upper and lower case or escapes']],
  ])('says in what %s and %s differ (J-29)', (registered, configured, differences) => {
    expect(compareUrls(registered, configured)).toEqual({ kind: 'spelling', differences });
  });

  it.each([
    ['https://h.test:4430', 'https://h.test'],
    ['https://h.test', 'http://h.test'],
    ['https://h.test/a', 'https://h.test/b'],
    ['https://h.test', 'https://h.test?x=1'],
    ['https://h.test', 'https://h.test.example'],
    ['no address', 'no other'],
  ])('takes %s and %s for two', (registered, configured) => {
    expect(compareUrls(registered, configured)).toEqual({ kind: 'other' });
  });
});
