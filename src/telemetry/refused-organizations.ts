// The organizations with the most refused calls, by reason. Bounded. Knows no limits.
import type { Clock } from '../base/clock.ts';
import type { CallKey } from '../dialog/call.ts';
import type { AdmissionRefusal } from '../session/admission.ts';

/** Most entries. */
const MAX_KEPT = 20;

/** The refused calls of an organization for one reason. */
export interface RefusedCalls {
  readonly organizationId: string;
  readonly reason: AdmissionRefusal;
  /** An upper bound: includes the count of the entry that this one has replaced. */
  readonly calls: number;
  /** ms since the epoch. */
  readonly lastAtMs: number;
}

/**
 * Counts refused calls. When full, a new entry replaces the one with the smallest count and inherits this count (the
 * space-saving algorithm), so that new entries do not evict each other.
 */
export class RefusedOrganizations {
  readonly #clock: Clock;
  readonly #kept = new Map<string, RefusedCalls>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a refused call. */
  add({ organizationId }: Pick<CallKey, 'organizationId'>, reason: AdmissionRefusal): void {
    const one = { organizationId, reason, calls: 1, lastAtMs: this.#clock.nowMs() };
    const key = keyOf(one);
    const known = this.#kept.get(key);
    const evicted = known === undefined && this.#kept.size >= MAX_KEPT ? this.most.at(-1) : undefined;
    if (evicted !== undefined) this.#kept.delete(keyOf(evicted));
    this.#kept.set(key, { ...one, calls: ((known ?? evicted)?.calls ?? 0) + 1 });
  }

  /** The most frequent refusals first. */
  get most(): readonly RefusedCalls[] {
    return sorted(this.#kept.values());
  }
}

/** The sum over several processes. */
export function joinedRefusals(seen: readonly (readonly RefusedCalls[])[]): readonly RefusedCalls[] {
  const joined = new Map<string, RefusedCalls>();
  for (const one of seen.flat()) {
    const known = joined.get(keyOf(one));
    const calls = one.calls + (known?.calls ?? 0);
    joined.set(keyOf(one), { ...one, calls, lastAtMs: Math.max(one.lastAtMs, known?.lastAtMs ?? 0) });
  }
  return sorted(joined.values()).slice(0, MAX_KEPT);
}

function keyOf({ organizationId, reason }: RefusedCalls): string {
  return JSON.stringify([organizationId, reason]);
}

function sorted(refused: Iterable<RefusedCalls>): readonly RefusedCalls[] {
  return [...refused].sort((one, other) => other.calls - one.calls);
}
