// Limits the rate of new calls per organization with token buckets. Knows no session.
import type { Clock } from '../base/clock.ts';

/** Size of a bucket, in seconds of its rate: calls do not come evenly. */
const BURST_S = 5;
const FULL_AFTER_MS = BURST_S * 1000;

export interface CallRateOptions {
  /** Most new calls per second of this organization; 0: no limit. */
  readonly perSecondOf: (organizationId: string) => number;
  readonly clock: Clock;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** One per process. Full buckets are dropped. */
export class CallRate {
  readonly #options: CallRateOptions;
  /** Buckets that are not full, the last used one at the end. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: CallRateOptions) {
    this.#options = options;
  }

  /** Number of buckets. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Whether another call would exceed the rate. Counts nothing. */
  isOver(organizationId: string): boolean {
    return this.#tokensOf(organizationId) < 1;
  }

  /** Counts a new call. */
  began(organizationId: string): void {
    const tokens = this.#tokensOf(organizationId);
    if (tokens === Infinity) return;
    const atMs = this.#options.clock.monotonicMs();
    this.#buckets.delete(organizationId);
    for (const [oldest, bucket] of this.#buckets) {
      if (atMs - bucket.atMs < FULL_AFTER_MS) break;
      this.#buckets.delete(oldest);
    }
    this.#buckets.set(organizationId, { tokens: tokens - 1, atMs });
  }

  #tokensOf(organizationId: string): number {
    const { perSecondOf, clock } = this.#options;
    const perSecond = perSecondOf(organizationId);
    if (perSecond === 0) return Infinity;
    const full = perSecond * BURST_S;
    const bucket = this.#buckets.get(organizationId);
    if (bucket === undefined) return full;
    return Math.min(full, bucket.tokens + ((clock.monotonicMs() - bucket.atMs) / 1000) * perSecond);
  }
}
