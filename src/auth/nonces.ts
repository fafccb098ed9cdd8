// The nonces a data source's tokens may carry: the current one, older ones in their grace time, and ones announced to
// the platform but not yet confirmed. Only digests are kept; this file knows no token and no network.
import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';

/** The digest of a nonce: all that is ever kept of it. */
export type NonceDigest = Uint8Array;

/** How a rotation treats the nonce before it. */
export interface Rotation {
  /** Until when the previous nonce is still accepted, in ms since the epoch: the `exp` of its last token (J-05). */
  readonly previousValidUntilMs: number;
}

interface KnownNonce {
  readonly digest: NonceDigest;
  /** Infinity for the current and for announced nonces. */
  readonly validUntilMs: number;
}

interface Entry {
  current: KnownNonce | undefined;
  /** Announced and not yet confirmed, oldest first. */
  expected: readonly KnownNonce[];
  /** Replaced and still accepted for a while, oldest first. */
  grace: readonly KnownNonce[];
}

/** What a book is made with. */
interface NonceBookOptions {
  readonly clock: Clock;
  /** How many replaced nonces of one data source are accepted at once; default 4. */
  readonly maxGrace?: number;
  /** Default 10 000. */
  readonly maxDataSources?: number;
}

/** How many announced nonces of one data source may be unconfirmed. */
const MAX_EXPECTED = 4;

/** Turns a nonce into what the book compares. */
export function digestNonce(nonce: string): NonceDigest {
  return hash('sha256', nonce, 'buffer');
}

/**
 * Which nonces are good at this moment (J-05, J-18, J-2D).
 *
 * A renewal has two phases, because the platform may present a token with the new nonce before the answer to the
 * update has reached us: `expect` the new nonce, send the update, then `rotate` to it. After an update with unknown
 * outcome both stay accepted; the next renewal ends that.
 */
export class NonceBook {
  readonly #options: Required<NonceBookOptions>;
  readonly #entries = new Map<string, Entry>();

  constructor(options: NonceBookOptions) {
    this.#options = { maxGrace: 4, maxDataSources: 10_000, ...options };
  }

  /**
   * Makes `nonce` the current one at once. What was current or announced before stays accepted until
   * `previousValidUntilMs`; without it, not at all.
   *
   * @throws AppError `config_invalid` for an empty nonce, `overloaded` beyond the bound of data sources.
   */
  rotate(dataSourceId: string, nonce: string, rotation?: Rotation): void {
    const entry = this.#entry(dataSourceId, nonce);
    const digest = digestNonce(nonce);
    const nowMs = this.#options.clock.nowMs();
    // The current one last, because the bound cuts off from the front.
    const replaced = [...entry.expected, ...(entry.current === undefined ? [] : [entry.current])];
    const previous = rotation === undefined ? [] : replaced.map((known) => ({ ...known, validUntilMs: rotation.previousValidUntilMs }));
    entry.grace = [...entry.grace, ...previous]
      // Rotating to a nonce that is known already must not leave it in grace beside itself.
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
   * Accepts a nonce that was replaced before, until `validUntilMs`, in addition to all known ones.
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

  /** True when a token of this data source may carry the nonce now. Takes the same time wherever the nonces differ. */
  accepts(dataSourceId: string, digest: NonceDigest): boolean {
    const entry = this.#entries.get(dataSourceId);
    if (entry === undefined) return false;
    const nowMs = this.#options.clock.nowMs();
    const known = [...(entry.current === undefined ? [] : [entry.current]), ...entry.expected, ...entry.grace];
    let accepted = false;
    // No early exit: the time must not reveal which nonce was near.
    for (const { digest: own, validUntilMs } of known) {
      const same = timingSafeEqual(own, digest);
      if (same && nowMs < validUntilMs) accepted = true;
    }
    return accepted;
  }

  #entry(dataSourceId: string, nonce: string): Entry {
    // An empty nonce would let a token with an empty id pass.
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
