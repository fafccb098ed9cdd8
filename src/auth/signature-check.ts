// Checks form, algorithm, issuer, key and signature of a compact token, in this order, so that an unknown issuer causes no network request.
// Does not check times or binding.
import { compactVerify, errors } from 'jose';
import type { RawClaims } from './claims.ts';
import { parseToken, type UnverifiedToken } from './compact-token.ts';
import type { KeySource } from './key-source.ts';
import { refuse } from './refusal.ts';

/** A token with a valid signature; its times and binding are not checked yet. */
export interface SignedToken {
  readonly issuer: string;
  readonly keyId: string;
  /** Distinguishes the key from a later one under the same id. */
  readonly keyFingerprint: string;
  readonly claims: RawClaims;
}

/** Checks signatures. Concurrent checks of the same token share one result. */
export class SignatureCheck {
  readonly #keys: KeySource;
  readonly #maxPending: number;
  readonly #pending = new Map<string, Promise<SignedToken>>();

  /** @param maxPending - most different tokens that are being checked at once. */
  constructor(keys: KeySource, maxPending: number) {
    this.#keys = keys;
    this.#maxPending = maxPending;
  }

  /**
   * Checks a token: its form synchronously, its signature asynchronously.
   *
   * @param digest - identifies the token, so that callers with the same one share the work.
   * @throws AppError of `refuse`, synchronously or through the promise; other errors are defects.
   */
  check(digest: string, compact: string): Promise<SignedToken> {
    const pending = this.#pending.get(digest);
    if (pending !== undefined) return pending;
    const token = parseToken(compact);
    // Before any network request (J-12, J-23).
    if (token.issuer === undefined || !this.#keys.knows(token.issuer)) throw refuse('issuer_mismatch');
    if (token.keyId === undefined) throw refuse('key_not_found');
    if (this.#pending.size >= this.#maxPending) throw refuse('verifier_busy');
    const work = this.#checkSignature(token, token.issuer, token.keyId).finally(() => {
      this.#pending.delete(digest);
    });
    this.#pending.set(digest, work);
    return work;
  }

  async #checkSignature(token: UnverifiedToken, issuer: string, keyId: string): Promise<SignedToken> {
    const { key, fingerprint } = await this.#keys.find(issuer, keyId);
    try {
      await compactVerify(token.compact, key, { algorithms: ['RS256'] });
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) throw refuse('signature_invalid');
      throw error;
    }
    return { issuer, keyId, keyFingerprint: fingerprint, claims: token.claims };
  }
}
