// The latest use of the other processes that share calls, by organizations. Knows neither limits nor how this information
// travels.
import type { Clock } from '../base/clock.ts';

/**
 * The use of one process by one organization: its open calls, and its calls that began there, as a counter that starts
 * again at 0 after a pause.
 */
export type OrganizationUse = readonly [organizationId: string, calls: number, begun: number];

/** The use of one process by its busiest organizations. */
export interface ProcessUse {
  /** Id of the process. */
  readonly id: string;
  readonly organizations: readonly OrganizationUse[];
}

/** Most organizations that a process reports. */
export const MAX_ORGANIZATIONS_SAID = 100;
/** Most organizations of each process whose counters are kept; those that were reported last. */
const MAX_KEPT = 10 * MAX_ORGANIZATIONS_SAID;
/** How long a reading is valid, ms: without a newer one, this process counts for itself. */
const HOLDS_MS = 10_000;

/** One per process. */
export class OthersUse {
  readonly #clock: Clock;
  /** Counters of begun calls by process and organization; includes organizations that are not among the busiest now. */
  #begun: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map();
  /** Sum of the other processes' open calls, by organization. */
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
   * Takes a reading of all other living processes.
   *
   * @param wasAway - whether readings were missed: then it is unknown when the calls in between began.
   * @returns the calls that began in other processes since the last reading: an entry per process and organization.
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

/** An organization that a process does not report although its list has room is forgotten: its counter starts at 0 again. */
function withLatest(known: ReadonlyMap<string, number> = new Map(), said: readonly OrganizationUse[]): ReadonlyMap<string, number> {
  const latest = new Map(said.map(([of, , count]) => [of, count]));
  const others = said.length < MAX_ORGANIZATIONS_SAID ? [] : [...known].filter(([of]) => !latest.has(of));
  return new Map([...others, ...latest].slice(-MAX_KEPT));
}
