// The closed list of refusal reasons.
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { isOfUnknownSource, REFUSAL_HINTS, REFUSAL_REASONS, refusalReason, refuse } from '../../../src/auth/refusal.ts';
import { FORGERIES } from './forgeries.ts';

describe('refusal reasons', () => {
  it.each(REFUSAL_REASONS)('%s is a stable word with a hint of one sentence', (reason) => {
    expect(reason).toMatch(/^[a-z]+(?:_[a-z]+)*$/u);
    expect(REFUSAL_HINTS[reason]).toMatch(/^[A-Z].*\.$/u);
    expect(refusalReason(refuse(reason))).toBe(reason);
  });

  it('J-1C hold the categories that logs and metrics must tell apart', () => {
    for (const category of [
      'expired',
      'issuer_mismatch',
      'schema_mismatch',
      'org_mismatch',
      'key_not_found',
      'nonce_mismatch',
      'url_mismatch',
    ]) {
      expect(REFUSAL_REASONS).toContain(category);
    }
  });

  it('each have a forged token, but for those that are no forgery', () => {
    const forged = new Set(FORGERIES.map((forgery) => forgery.reason));
    expect(REFUSAL_REASONS.filter((reason) => !forged.has(reason))).toEqual(['keys_unavailable', 'verifier_busy', 'verifier_failed']);
  });

  it('name those that somebody who knows more data sources and nonces may take back, and no other', () => {
    expect(REFUSAL_REASONS.filter((reason) => isOfUnknownSource(refuse(reason)))).toEqual([
      'url_mismatch',
      'schema_mismatch',
      'audience_mismatch',
      'subject_mismatch',
      'org_mismatch',
      'nonce_mismatch',
    ]);
    expect(isOfUnknownSource(new AppError('overloaded', 'x'))).toBe(false);
  });

  it('are not read out of other errors', () => {
    expect(refusalReason(new AppError('overloaded', 'x', { details: { reason: 'expired' } }))).toBeUndefined();
    expect(refusalReason(new AppError('unauthenticated', 'x', { details: { reason: 'unheard_of' } }))).toBeUndefined();
    expect(refusalReason(new AppError('unauthenticated', 'x'))).toBeUndefined();
    expect(refusalReason(undefined)).toBeUndefined();
  });
});
