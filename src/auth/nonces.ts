// The nonces that a data source's tokens may carry: the current one, older ones in their grace time, and announced ones that the platform
// has not confirmed yet. Keeps only digests; knows neither tokens nor the network.
import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';

/** The digest of a nonce; the nonce itself is never kept. */
export type NonceDigest = Uint8Array;

/** How a rotation treats the previous nonce. */
export interface Rotation {
  /** Until when the previous nonce is still accepted, in ms since the epoch: the `exp` of its last token (J-05). */
  readonly previousValidUntilMs: number;
}

interface KnownNonce {
  readonly digest: NonceDigest;
  /** Infinity for current and announced nonces. */
  readonly validUntilMs: number;
}

interface Entry {
  current: KnownNonce | undefined;
  /** Announced and not yet confirmed, oldest first. */
  expected: readonly KnownNonce[];
  /** Replaced and still accepted until their grace time ends, oldest first. */
  grace: readonly KnownNonce[];
}

/** The options of a book. */
interface NonceBookOptions {
  readonly clock: Clock;
  /** How many replaced nonces of one data source are accepted at once; default 4. */
  readonly maxGrace?: number;
  /** Default 10 000. */
  readonly maxDataSources?: number;
}

/** Most unconfirmed announced nonces of one data source. */
const MAX_EXPECTED = 4;

/** The digest of a nonce, which the book compares. */
export function digestNonce(nonce: string): NonceDigest {
  return hash('sha256', nonce, 'buffer');
}

/**
 * Which nonces are accepted now (J-05, J-18, J-2D).
 *
 * A renewal has two phases, because the platform may present a token with the new nonce before the response to the update has reached us:
 * `expect` the new nonce, send the update, then `rotate` to it. When the outcome of an update is unknown, both nonces stay accepted until
 * the next renewal.
 */
export class NonceBook {
  readonly #options: Required<NonceBookOptions>;
  readonly #entries = new Map<string, Entry>();

  constructor(options: NonceBookOptions) {
    this.#options = { maxGrace: 4, maxDataSources: 10_000, ...options };
  }

  /**
   * Makes `nonce` the current one at once. The nonces that were current or announced before stay accepted until `previousValidUntilMs`;
   * without `rotation`, not at all.
   *
   * @throws AppError `config_invalid` for an empty nonce, `overloaded` beyond the bound of data sources.
   */
  rotate(dataSourceId: string, nonce: string, rotation?: Rotation): void {
    const entry = this.#entry(dataSourceId, nonce);
    const digest = digestNonce(nonce);
    const nowMs = this.#options.clock.nowMs();
    // The current nonce comes last, because the bound drops nonces from the front.
    const replaced = [...entry.expected, ...(entry.current === undefined ? [] : [entry.current])];
    const previous = rotation === undefined ? [] : replaced.map((known) => ({ ...known, validUntilMs: rotation.previousValidUntilMs }));
    entry.grace = [...entry.grace, ...previous]
      // After rotating to a known nonce, that nonce must not also be in grace.
      .filter((known) => !timingSafeEqual(known.digest, digest) && known.validUntilMs > nowMs)
      .slice(-this.#options.maxGrace);
    entry.expected = [];
    entry.current = { digest, validUntilMs: Infinity };
  }

  /**
   * Announces a nonce before the platform gets it: accepted from now on, beside the current one.
   *
   * @throws AppError `config_invalid` for an empty nonce, `overloaded` beyond the bound of data sources.
   */
  expect(dataSourceId: string, nonce: string): void {
    const entry = this.#entry(dataSourceId, nonce);
    const digest = digestNonce(nonce);
    if (this.accepts(dataSourceId, digest)) return;
    entry.expected = [...entry.expected, { digest, validUntilMs: Infinity }].slice(-MAX_EXPECTED);
  }

  /**
   * Also accepts an earlier nonce until `validUntilMs`, in addition to all known ones.
   *
   * @throws AppError `config_invalid` for an empty nonce, `overloaded` beyond the bound of data sources.
   */
  keep(dataSourceId: string, nonce: string, validUntilMs: number): void {
    const entry = this.#entry(dataSourceId, nonce);
    const digest = digestNonce(nonce);
    if (this.accepts(dataSourceId, digest)) return;
    entry.grace = [...entry.grace, { digest, validUntilMs }].slice(-this.#options.maxGrace);
  }

  /** Forgets every nonce of a data source that is no longer served. */
  forget(dataSourceId: string): void {
    this.#entries.delete(dataSourceId);
  }

  /** Whether a token of this data source may carry the nonce now. The comparison takes the same time wherever the nonces differ. */
  accepts(dataSourceId: string, digest: NonceDigest): boolean {
    const entry = this.#entries.get(dataSourceId);
    if (entry === undefined) return false;
    const nowMs = this.#options.clock.nowMs();
    const known = [...(entry.current === undefined ? [] : [entry.current]), ...entry.expected, ...entry.grace];
    let accepted = false;
    // No early exit: the time must not reveal which nonce was similar.
    for (const { digest: own, validUntilMs } of known) {
      const same = timingSafeEqual(own, digest);
      if (same && nowMs < validUntilMs) accepted = true;
    }
    return accepted;
  }

  #entry(dataSourceId: string, nonce: string): Entry {
    // An empty nonce would accept a token with an empty id.
    if (nonce === '') throw new AppError('config_invalid', 'a nonce must not be empty', { details: { dataSourceId } });
    const known = this.#entries.get(dataSourceId);
    if (known !== undefined) return known;
    if (this.#entries.size >= this.#options.maxDataSources) {
      throw new AppError('overloaded', 'too many data sources', { details: { limit: this.#options.maxDataSources } });
    }
    const entry: Entry = { current: undefined, expected: [], grace: [] };
    this.#entries.set(dataSourceId, entry);
    return entry;
  }
}
