// Limits the rate of new calls per organization with token buckets, in which calls of other processes count, too, as soon
// as they are known. Knows no session.
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
  /** Below 0 when other processes have taken calls that this one did not know of. */
  readonly tokens: number;
  readonly atMs: number;
  /** Calls that began here, as long as there is this bucket. */
  readonly begun: number;
}

/** One per process. Full buckets are dropped, after a while in which the other processes learn of their calls. */
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

  /** The calls that began here, by organizations with a bucket. */
  get begun(): ReadonlyMap<string, number> {
    return new Map([...this.#buckets].map(([organizationId, { begun }]) => [organizationId, begun]));
  }

  /** Counts a new call. */
  began(organizationId: string): void {
    this.#take(organizationId, 1, 1);
  }

  /** Counts calls that began in another process, a bucket of them at most. */
  beganElsewhere(organizationId: string, calls: number): void {
    this.#take(organizationId, Math.min(calls, this.#fullOf(organizationId)), 0);
  }

  #take(organizationId: string, calls: number, here: number): void {
    const tokens = this.#tokensOf(organizationId);
    if (tokens === Infinity) return;
    const atMs = this.#options.clock.monotonicMs();
    const begun = (this.#buckets.get(organizationId)?.begun ?? 0) + here;
    this.#buckets.delete(organizationId);
    for (const [oldest, bucket] of this.#buckets) {
      if (atMs - bucket.atMs < FULL_AFTER_MS || this.#tokensOf(oldest) < this.#fullOf(oldest)) break;
      this.#buckets.delete(oldest);
    }
    this.#buckets.set(organizationId, { tokens: tokens - calls, atMs, begun });
  }

  #fullOf(organizationId: string): number {
    return this.#options.perSecondOf(organizationId) * BURST_S;
  }

  #tokensOf(organizationId: string): number {
    const { perSecondOf, clock } = this.#options;
    const perSecond = perSecondOf(organizationId);
    if (perSecond === 0) return Infinity;
    const full = this.#fullOf(organizationId);
    const bucket = this.#buckets.get(organizationId);
    if (bucket === undefined) return full;
    return Math.min(full, bucket.tokens + ((clock.monotonicMs() - bucket.atMs) / 1000) * perSecond);
  }
}
