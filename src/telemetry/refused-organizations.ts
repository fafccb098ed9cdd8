// Whose calls are refused: the organizations that it happened to most often, with the reason. Bounded, whoever calls. Knows no
// limits.
import type { Clock } from '../base/clock.ts';
import type { CallKey } from '../dialog/call.ts';
import type { AdmissionRefusal } from '../session/admission.ts';

/** Most organizations and reasons that are remembered. */
const MAX_KEPT = 20;

/** What an organization was refused for one reason. */
export interface RefusedCalls {
  readonly organizationId: string;
  readonly reason: AdmissionRefusal;
  /** Never too few; too many by what the one had that made room for it. */
  readonly calls: number;
  /** ms since the epoch. */
  readonly lastAtMs: number;
}

/**
 * Counts them. Where too many are refused, the one that was refused least often makes room and leaves its count (the space-saving
 * algorithm): so newcomers do not push each other out before they are counted.
 */
export class RefusedOrganizations {
  readonly #clock: Clock;
  readonly #kept = new Map<string, RefusedCalls>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A call of this organization was refused. */
  add({ organizationId }: Pick<CallKey, 'organizationId'>, reason: AdmissionRefusal): void {
    const one = { organizationId, reason, calls: 1, lastAtMs: this.#clock.nowMs() };
    const key = keyOf(one);
    const known = this.#kept.get(key);
    const evicted = known === undefined && this.#kept.size >= MAX_KEPT ? this.most.at(-1) : undefined;
    if (evicted !== undefined) this.#kept.delete(keyOf(evicted));
    this.#kept.set(key, { ...one, calls: ((known ?? evicted)?.calls ?? 0) + 1 });
  }

  /** The most often refused first. */
  get most(): readonly RefusedCalls[] {
    return sorted(this.#kept.values());
  }
}

/** What several processes have refused, as one. */
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
