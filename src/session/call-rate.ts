// Limits the rate of new calls per organization with token buckets. Calls of other processes count, too, as soon as they are
// known. Knows no session.
import type { Clock } from '../base/clock.ts';

/** Size of a bucket, in seconds of its rate, because calls come in bursts. */
const BURST_S = 5;
const FULL_AFTER_MS = BURST_S * 1000;

export interface CallRateOptions {
  /** Most new calls per second of this organization; 0: no limit. */
  readonly perSecondOf: (organizationId: string) => number;
  readonly clock: Clock;
}

interface Bucket {
  /** Below 0 when other processes have accepted calls that this process did not know of. */
  readonly tokens: number;
  readonly atMs: number;
  /** Calls that began in this process since the bucket was made. */
  readonly begun: number;
}

/** One per process. Full buckets are dropped, but only after the other processes have had time to learn of the counted calls. */
export class CallRate {
  readonly #options: CallRateOptions;
  /** Buckets by organization, the last used one at the end. */
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

  /** The calls that began in this process, by organizations that have a bucket. */
  get begun(): ReadonlyMap<string, number> {
    return new Map([...this.#buckets].map(([organizationId, { begun }]) => [organizationId, begun]));
  }

  /** Counts a new call. */
  began(organizationId: string): void {
    this.#take(organizationId, 1, 1);
  }

  /** Counts calls that began in another process; never more than a full bucket. */
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
