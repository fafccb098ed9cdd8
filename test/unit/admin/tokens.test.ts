import { describe, expect, it } from 'vitest';
import { isExpired, readTokenReply } from '../../../src/admin/tokens.ts';

const NOW = 1_800_000_000_000;
const REPLY = { access_token: 'a', expires_in: 1209600, refresh_token: 'r', refresh_token_expires_in: 7776000, token_type: 'Bearer' };

describe('a token reply', () => {
  it('gives both tokens with the times they end', () => {
    const expiresAtMs = NOW + 1_209_600_000;
    expect(readTokenReply(REPLY, NOW)).toEqual({
      accessToken: 'a',
      expiresAtMs,
      refreshToken: 'r',
      refreshExpiresAtMs: NOW + 7_776_000_000,
      refreshDueMs: NOW + 3_888_000_000,
      ...{ tokenType: 'Bearer', expiresInSeconds: 1_209_600, obtainedAtMs: NOW },
    });
    expect(readTokenReply({ ...REPLY, expires_in: '1209600' }, NOW).expiresAtMs).toBe(expiresAtMs);
  });

  it('without a refresh token leaves the old one in force, and its end', () => {
    const before = { accessToken: 'old', expiresAtMs: 0, refreshToken: 'kept', refreshExpiresAtMs: 7 };
    const bare = { access_token: 'a', expires_in: 60 };
    expect(readTokenReply(bare, NOW, before)).toEqual({
      ...{ ...before, accessToken: 'a', expiresAtMs: NOW + 60_000 },
      ...{ expiresInSeconds: 60, obtainedAtMs: NOW },
    });
    expect(readTokenReply({ ...bare, refresh_token_expires_in: 10 }, NOW, before).refreshExpiresAtMs).toBe(NOW + 10_000);
    // The end of the old token says nothing about a new one.
    expect(readTokenReply({ ...bare, refresh_token: 'new' }, NOW, before)).not.toHaveProperty('refreshExpiresAtMs');
  });

  it('needs no refresh token, also the first one: then it has no end either', () => {
    const { refresh_token: _, ...bare } = REPLY;
    const read = readTokenReply(bare, NOW);
    expect(read).toMatchObject({ accessToken: 'a', tokenType: 'Bearer' });
    for (const member of ['refreshToken', 'refreshExpiresAtMs', 'refreshDueMs']) expect(read).not.toHaveProperty(member);
  });

  it('says when a refresh token is to be used: in the middle of what is left of its life', () => {
    const bare = { access_token: 'a', expires_in: 60 };
    const before = { accessToken: 'old', expiresAtMs: 0, refreshToken: 'kept', refreshExpiresAtMs: NOW + 8, refreshDueMs: NOW };
    expect(readTokenReply(bare, NOW, before).refreshDueMs).toBe(NOW + 4);
    expect(readTokenReply({ ...bare, refresh_token_expires_in: 10 }, NOW, before).refreshDueMs).toBe(NOW + 5000);
    // Nothing is known of it: its expiry was not sent, or was wrong, because it has just been taken.
    expect(readTokenReply({ ...bare, refresh_token: 'new' }, NOW, before)).not.toHaveProperty('refreshDueMs');
    expect(readTokenReply(bare, NOW + 8, before)).not.toHaveProperty('refreshDueMs');
  });

  it.each([
    ['access token', { ...REPLY, access_token: '' }],
    ['lifetime', { ...REPLY, expires_in: undefined }],
    ['sensible lifetime', { ...REPLY, expires_in: -1 }],
    ['members', 'CANARY'],
  ])('without %s is none', (_, value) => {
    const read = (): unknown => readTokenReply(value, NOW);
    expect(read).toThrow(expect.objectContaining({ code: 'platform_answer_invalid' }));
    expect(read).not.toThrow(/CANARY/u);
  });
});

describe('an access token', () => {
  it.each([
    [61_000, false],
    [60_000, true],
    [-1, true],
  ])('that ends in %i ms counts as expired: %s', (leftMs, expected) => {
    expect(isExpired({ expiresAtMs: NOW + leftMs }, NOW, 60)).toBe(expected);
  });

  it('counts as expired so many seconds ahead as asked for', () => {
    expect([isExpired({ expiresAtMs: NOW + 1 }, NOW, 0), isExpired({ expiresAtMs: NOW + 299_000 }, NOW, 300)]).toEqual([false, true]);
  });
});
