// Decides who gets the last places of a nearly full process: organizations with less than their fair share.
import type { Clock } from '../base/clock.ts';

/** An organization wants places for this long after its last call, ms. */
const WANTS_MS = 600_000;
/** Places that an organization used within the last one or two of these periods stay its own, because further calls come soon, ms. */
const WINDOW_MS = 10_000;

export interface FairShareOptions {
  readonly maxSessions: number;
  /** Percentage of these sessions that is reserved for organizations below their fair share; 0: off. */
  readonly reservedPercent: number;
  /** Weight of an organization: its places for each place of an organization with weight 1. */
  readonly weightOf: (organizationId: string) => number;
  readonly clock: Clock;
}

/**
 * Reserves the last places while several organizations call. The fair share of an organization results from dealing out the
 * unreserved places by weight, one after the other, until every organization has as many as it used within the last seconds; places
 * that one does not use go to the others (max-min fairness). Organizations with short calls have their peaks at different times, so the
 * sum of the peaks is scaled down to the highest number of calls that all had at once, but not below the largest single peak.
 */
export class FairShare {
  readonly #options: FairShareOptions;
  /** Number of unreserved places. */
  readonly #shared: number;
  /** Last call of each of the two organizations that called last: enough to know whether another one wants places. */
  readonly #calledAtMs = new Map<string, number>();
  /** Most open calls of each organization in the current window, and in the previous one. */
  #most = new Map<string, number>();
  #mostBefore: ReadonlyMap<string, number> = new Map();
  /** Most open calls of all organizations together, likewise. */
  #atOnce = 0;
  #atOnceBefore = 0;
  #windowAtMs = -Infinity;

  constructor(options: FairShareOptions) {
    const { maxSessions, reservedPercent } = options;
    this.#options = options;
    this.#shared = maxSessions - Math.floor((maxSessions * reservedPercent) / 100);
  }

  /** An organization calls, whether admitted or not. */
  called(organizationId: string): void {
    this.#calledAtMs.delete(organizationId);
    this.#calledAtMs.set(organizationId, this.#options.clock.monotonicMs());
    const [oldest] = this.#calledAtMs.keys();
    if (this.#calledAtMs.size > 2 && oldest !== undefined) this.#calledAtMs.delete(oldest);
  }

  /** A call was admitted. @param calls - open calls by organization, this call included. */
  took(organizationId: string, calls: ReadonlyMap<string, number>): void {
    this.#roll(calls);
    this.#atOnce = Math.max(this.#atOnce, sum(calls.values()));
    this.#most.set(organizationId, Math.max(calls.get(organizationId) ?? 0, this.#most.get(organizationId) ?? 0));
  }

  /** Whether the remaining places are reserved for other organizations. @param calls - open calls by organization. */
  isOver(organizationId: string, calls: ReadonlyMap<string, number>): boolean {
    if (this.#shared === this.#options.maxSessions || !this.#isWantedBeside(organizationId)) return false;
    this.#roll(calls);
    const { weightOf } = this.#options;
    const own = (calls.get(organizationId) ?? 0) + 1;
    const weight = weightOf(organizationId);
    // Places that go to the others until this organization gets one more, multiplied by its weight.
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
