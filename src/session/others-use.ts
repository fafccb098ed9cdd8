// What the other processes that share calls said last of their organizations. Knows neither limits nor how it is brought
// here.
import type { Clock } from '../base/clock.ts';

/**
 * What a process says of one organization: its open calls, and its calls that began there, as a counter that begins
 * again at 0 after a pause.
 */
export type OrganizationUse = readonly [organizationId: string, calls: number, begun: number];

/** What a process says of its busiest organizations. */
export interface ProcessUse {
  /** Of the process. */
  readonly id: string;
  readonly organizations: readonly OrganizationUse[];
}

/** Most organizations of which a process speaks. */
export const MAX_ORGANIZATIONS_SAID = 100;
/** Most organizations of each process whose counters are kept; those that were said last. */
const MAX_KEPT = 10 * MAX_ORGANIZATIONS_SAID;
/** How long the last words of the others hold, ms: without any, this process counts for itself. */
const HOLDS_MS = 10_000;

/** One per process. */
export class OthersUse {
  readonly #clock: Clock;
  /** Begun calls by process and organization, also of organizations that are not among its busiest now, but may be again. */
  #begun: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map();
  /** Open calls by organization, of all others. */
  #calls: ReadonlyMap<string, number> = new Map();
  #readAtMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Open calls of an organization in the other processes, as of their last beats. */
  callsOf(organizationId: string): number {
    if (this.#clock.monotonicMs() - this.#readAtMs > HOLDS_MS) return 0;
    return this.#calls.get(organizationId) ?? 0;
  }

  /**
   * Takes what all other living processes say.
   *
   * @param wasAway - readings were missed: nobody knows when the calls since then began.
   * @returns the calls that began elsewhere since the last reading, by organization, for each process.
   */
  read(processes: readonly ProcessUse[], wasAway: boolean): readonly (readonly [organizationId: string, begun: number])[] {
    const before = wasAway ? undefined : this.#begun;
    const calls = new Map<string, number>();
    const begun: [string, number][] = [];
    for (const { id, organizations } of processes) {
      const known = before?.get(id);
      for (const [organizationId, open, count] of organizations) {
        calls.set(organizationId, (calls.get(organizationId) ?? 0) + open);
        const last = known?.get(organizationId) ?? 0;
        if (known !== undefined && count !== last) begun.push([organizationId, count > last ? count - last : count]);
      }
    }
    this.#begun = new Map(processes.map(({ id, organizations }) => [id, withLatest(this.#begun.get(id), organizations)]));
    this.#calls = calls;
    this.#readAtMs = this.#clock.monotonicMs();
    return begun;
  }
}

/** A process that could have said more has forgotten the others, and counts them from 0 again. */
function withLatest(known: ReadonlyMap<string, number> = new Map(), said: readonly OrganizationUse[]): ReadonlyMap<string, number> {
  const latest = new Map(said.map(([of, , count]) => [of, count]));
  const others = said.length < MAX_ORGANIZATIONS_SAID ? [] : [...known].filter(([of]) => !latest.has(of));
  return new Map([...others, ...latest].slice(-MAX_KEPT));
}
