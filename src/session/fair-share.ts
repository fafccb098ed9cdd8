// Who gets the last places of a process that is nearly full: organizations with less than their fair share.
import type { Clock } from '../base/clock.ts';

/** How long after its last call an organization counts as one that wants places, ms. */
const WANTS_MS = 600_000;
/** An organization that has just ended calls begins others soon: what it had within one or two such times is not given away, ms. */
const WINDOW_MS = 10_000;

export interface FairShareOptions {
  readonly maxSessions: number;
  /** The part of them that is kept for organizations below their share, percent; 0: off. */
  readonly reservedPercent: number;
  /** How many places an organization gets for each one of an organization with weight 1. */
  readonly weightOf: (organizationId: string) => number;
  readonly clock: Clock;
}

/**
 * While other organizations have called lately, the last places are not for everybody. The fair share is what an
 * organization gets when the other places are dealt out by weight, one after the other, to those who have calls, as
 * many as each had within the last seconds: what one does not use goes to the others (max-min fairness). Organizations
 * with short calls have their most at different times: of the sum, only the part counts that all together had at once, but
 * not less than one of them had alone.
 */
export class FairShare {
  readonly #options: FairShareOptions;
  /** Places for everybody. */
  readonly #shared: number;
  /** The two organizations that called last: enough to know whether another one has. */
  readonly #calledAtMs = new Map<string, number>();
  /** Most open calls of each organization within this window and the one before. */
  #most = new Map<string, number>();
  #mostBefore: ReadonlyMap<string, number> = new Map();
  /** Most open calls of all together, likewise. */
  #atOnce = 0;
  #atOnceBefore = 0;
  #windowAtMs = -Infinity;

  constructor(options: FairShareOptions) {
    const { maxSessions, reservedPercent } = options;
    this.#options = options;
    this.#shared = maxSessions - Math.floor((maxSessions * reservedPercent) / 100);
  }

  /** An organization calls, whether or not it gets a place. */
  called(organizationId: string): void {
    this.#calledAtMs.delete(organizationId);
    this.#calledAtMs.set(organizationId, this.#options.clock.monotonicMs());
    const [oldest] = this.#calledAtMs.keys();
    if (this.#calledAtMs.size > 2 && oldest !== undefined) this.#calledAtMs.delete(oldest);
  }

  /** An organization has got a place. @param calls - open calls by organization, with this one. */
  took(organizationId: string, calls: ReadonlyMap<string, number>): void {
    this.#roll(calls);
    this.#atOnce = Math.max(this.#atOnce, sum(calls.values()));
    this.#most.set(organizationId, Math.max(calls.get(organizationId) ?? 0, this.#most.get(organizationId) ?? 0));
  }

  /** Whether the places that are left are not for this organization. @param calls - open calls by organization. */
  isOver(organizationId: string, calls: ReadonlyMap<string, number>): boolean {
    if (this.#shared === this.#options.maxSessions || !this.#isWantedBeside(organizationId)) return false;
    this.#roll(calls);
    const { weightOf } = this.#options;
    const own = (calls.get(organizationId) ?? 0) + 1;
    const weight = weightOf(organizationId);
    // As many places are dealt out to the others until the organization gets this one; times its weight.
    let dealt = 0;
    let largest = 0;
    let peaks = 0;
    for (const other of new Set([...this.#most.keys(), ...this.#mostBefore.keys()])) {
      const most = Math.max(this.#most.get(other) ?? 0, this.#mostBefore.get(other) ?? 0);
      peaks += most;
      if (other === organizationId) continue;
      const part = Math.min(most * weight, own * weightOf(other));
      dealt += part;
      largest = Math.max(largest, part);
    }
    const together = Math.min(1, Math.max(this.#atOnce, this.#atOnceBefore) / Math.max(1, peaks));
    return own * weight + Math.max(largest, dealt * together) > this.#shared * weight;
  }

  #roll(calls: ReadonlyMap<string, number>): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#windowAtMs < WINDOW_MS) return;
    const isNext = nowMs - this.#windowAtMs < 2 * WINDOW_MS;
    this.#mostBefore = isNext ? this.#most : new Map();
    this.#atOnceBefore = isNext ? this.#atOnce : 0;
    this.#most = new Map(calls);
    this.#atOnce = sum(calls.values());
    this.#windowAtMs = nowMs;
  }

  #isWantedBeside(organizationId: string): boolean {
    const sinceMs = this.#options.clock.monotonicMs() - WANTS_MS;
    return [...this.#calledAtMs].some(([other, atMs]) => other !== organizationId && atMs > sinceMs);
  }
}

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const each of numbers) all += each;
  return all;
}
