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
 * many as each had within the last seconds: what one does not use goes to the others (max-min fairness).
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
    this.#most.set(organizationId, Math.max(calls.get(organizationId) ?? 0, this.#most.get(organizationId) ?? 0));
  }

  /** Whether the places that are left are not for this organization. @param calls - open calls by organization. */
  isOver(organizationId: string, calls: ReadonlyMap<string, number>): boolean {
    if (this.#shared === this.#options.maxSessions || !this.#isWantedBeside(organizationId)) return false;
    this.#roll(calls);
    const { weightOf } = this.#options;
    const own = (calls.get(organizationId) ?? 0) + 1;
    const weight = weightOf(organizationId);
    // As many places are dealt out until the organization gets this one; times its weight, so that all numbers are whole.
    let dealt = own * weight;
    for (const other of new Set([...this.#most.keys(), ...this.#mostBefore.keys()])) {
      const most = Math.max(this.#most.get(other) ?? 0, this.#mostBefore.get(other) ?? 0);
      if (other !== organizationId) dealt += Math.min(most * weight, own * weightOf(other));
    }
    return dealt > this.#shared * weight;
  }

  #roll(calls: ReadonlyMap<string, number>): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#windowAtMs < WINDOW_MS) return;
    this.#mostBefore = nowMs - this.#windowAtMs < 2 * WINDOW_MS ? this.#most : new Map();
    this.#most = new Map(calls);
    this.#windowAtMs = nowMs;
  }

  #isWantedBeside(organizationId: string): boolean {
    const sinceMs = this.#options.clock.monotonicMs() - WANTS_MS;
    return [...this.#calledAtMs].some(([other, atMs]) => other !== organizationId && atMs > sinceMs);
  }
}
