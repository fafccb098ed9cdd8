// How fast new calls of each organization may begin: a bucket of tokens each, one for a call, filled evenly. Knows no session.
import type { Clock } from '../base/clock.ts';

/** So many seconds' worth may begin at once: callers do not come evenly. */
const BURST_S = 5;
const FULL_AFTER_MS = BURST_S * 1000;

/** Where the rates come from. */
export interface CallRateOptions {
  /** Calls a second that this organization may begin; 0 is no limit. */
  readonly perSecondOf: (organizationId: string) => number;
  readonly clock: Clock;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** One per process. Whoever begins no call for some seconds is forgotten, because its bucket is full again. */
export class CallRate {
  readonly #options: CallRateOptions;
  /** Those that are not full, the one that was used last at the end. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: CallRateOptions) {
    this.#options = options;
  }

  /** Organizations that are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Whether another call would be one too many. Counts nothing. */
  isOver(organizationId: string): boolean {
    return this.#tokensOf(organizationId) < 1;
  }

  /** A call begins. */
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
