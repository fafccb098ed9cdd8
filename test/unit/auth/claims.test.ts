// The edges of what the claims of a token may say.
import { describe, expect, it } from 'vitest';
import { checkTimes, readBinding, readTimes, type TokenTimes } from '../../../src/auth/claims.ts';
import { refusalReason } from '../../../src/auth/refusal.ts';
import { CLAIM_NAMES, NONCE, SOURCE } from '../../support/token-bench.ts';

const NOW_MS = 1_800_000_000_000;
const LIMITS = { skewMs: 30_000, maxLifetimeMs: 86_400_000 };

/** `accepted`, or the reason why not. */
function outcome(check: () => unknown): string {
  try {
    check();
    return 'accepted';
  } catch (error) {
    return refusalReason(error) ?? String(error);
  }
}

describe('the times of a token', () => {
  const times = (expiresInMs: number, beginsInMs?: number): TokenTimes => ({
    expiresAtMs: NOW_MS + expiresInMs,
    notBeforeMs: beginsInMs === undefined ? undefined : NOW_MS + beginsInMs,
  });

  it.each([
    ['J-16 the last moment of the skew after exp', times(-29_999), 'accepted'],
    ['J-16 the end of the skew after exp', times(-30_000), 'expired'],
    ['J-16 nbf at the edge of the skew', times(1000, 30_000), 'accepted'],
    ['J-16 nbf just beyond the skew', times(1000, 30_001), 'not_yet_valid'],
    ['no nbf', times(1000), 'accepted'],
    ['J-01 the longest lifetime with the skew', times(86_430_000), 'accepted'],
    ['J-01 a lifetime just beyond it', times(86_430_001), 'lifetime_too_long'],
  ])('%s', (_name, given, expected) => {
    expect(
      outcome(() => {
        checkTimes(given, NOW_MS, LIMITS);
      }),
    ).toBe(expected);
  });

  it('are read as seconds, fractions included', () => {
    expect(readTimes({ exp: 1.5, nbf: 0.25 })).toEqual({ expiresAtMs: 1500, notBeforeMs: 250 });
    expect(readTimes({ exp: 0 })).toEqual({ expiresAtMs: 0, notBeforeMs: undefined });
  });
});

describe('the binding of a token', () => {
  const CLAIMS = {
    [CLAIM_NAMES.url]: SOURCE.url,
    [CLAIM_NAMES.schema]: SOURCE.schemaId,
    aud: SOURCE.audience,
    sub: SOURCE.subject,
    [CLAIM_NAMES.organization]: SOURCE.organizationId,
    jti: NONCE,
  };
  const STEPS = [
    [CLAIM_NAMES.url, 'url_mismatch'],
    [CLAIM_NAMES.schema, 'schema_mismatch'],
    ['aud', 'audience_mismatch'],
    ['sub', 'subject_mismatch'],
    [CLAIM_NAMES.organization, 'org_mismatch'],
    ['jti', 'nonce_mismatch'],
  ] as const;

  it.each([undefined, null, 7, true, {}])('that holds %s in place of a claim is refused for that claim', (value) => {
    for (const [claim, reason] of STEPS) {
      for (const audienceLists of [false, true]) {
        expect(outcome(() => readBinding({ ...CLAIMS, [claim]: value }, CLAIM_NAMES, { audienceLists }))).toBe(reason);
      }
    }
  });

  it('is refused for the first of several claims that are absent', () => {
    for (const [index, [, reason]] of STEPS.entries()) {
      const kept = new Set(STEPS.slice(0, index).map(([claim]) => claim));
      const claims = Object.fromEntries(Object.entries(CLAIMS).filter(([claim]) => kept.has(claim)));
      expect(outcome(() => readBinding(claims, CLAIM_NAMES, { audienceLists: false }))).toBe(reason);
    }
  });

  it('has one audience, or the listed ones where lists are accepted (J-28)', () => {
    expect(readBinding(CLAIMS, CLAIM_NAMES, { audienceLists: true }).audiences).toEqual([SOURCE.audience]);
    expect(readBinding({ ...CLAIMS, aud: ['a', 'b'] }, CLAIM_NAMES, { audienceLists: true }).audiences).toEqual(['a', 'b']);
    expect(outcome(() => readBinding({ ...CLAIMS, aud: ['a'] }, CLAIM_NAMES, { audienceLists: false }))).toBe('audience_mismatch');
  });
});
