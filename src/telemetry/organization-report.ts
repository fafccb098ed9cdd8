// The calls of each organization on this server within the last day, for people whose customers are organizations. Counts only,
// by the hour; bounded.
import type { Clock } from '../base/clock.ts';
import type { CallFacts, CallKey } from '../dialog/call.ts';
import type { OrganizationCalls } from '../dialog/call-view.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { Admission, AdmissionRefusal } from '../session/admission.ts';
import type { SessionObserver } from '../session/ports.ts';

const HOUR_MS = 3_600_000;
/** Number of hours that are kept, the current one included. */
export const KEPT_HOURS = 24;
/** Most organizations in an hour, and in a report. */
const MAX_ORGANIZATIONS = 1000;
/** Stands for all others. No organization of the platform has such an id. */
const OTHERS = '(others)';

const NOTHING = { openCalls: 0, maxCalls: 0, begun: 0, durationMs: 0, ends: {}, refused: {} };

/** Counts calls. An observer of the engine. */
export class OrganizationReport implements SessionObserver {
  readonly #clock: Clock;
  readonly #admission: Pick<Admission, 'openCalls' | 'limitsOf'>;
  /** By number of the hour since the epoch, the oldest first. */
  readonly #hours = new Map<number, Map<string, OrganizationCalls>>();

  constructor(clock: Clock, admission: Pick<Admission, 'openCalls' | 'limitsOf'>) {
    this.#clock = clock;
    this.#admission = admission;
  }

  /** Organizations with calls now or within the last day, those with the most new calls first. */
  get organizations(): readonly OrganizationCalls[] {
    const first = this.#hour() - KEPT_HOURS;
    const hours = [...this.#hours].flatMap(([hour, counts]) => (hour > first ? [[...counts.values()]] : []));
    const open = [...this.#admission.openCalls].map(([organizationId, openCalls]) => ({ ...NOTHING, organizationId, openCalls }));
    return joinedOrganizations([...hours, open]).map((one) => ({
      ...one,
      maxCalls: this.#admission.limitsOf(one.organizationId).maxSessions,
    }));
  }

  callRefused({ organizationId }: CallKey, reason: AdmissionRefusal): void {
    this.#count(organizationId, { refused: { [reason]: 1 } });
  }

  sessionStarted({ organizationId }: CallFacts, isContinued = false): void {
    if (!isContinued) this.#count(organizationId, { begun: 1 });
  }

  sessionEnded({ organizationId, startedAtMs }: CallFacts, end: SessionEnd | 'moved'): void {
    if (end === 'moved') return;
    this.#count(organizationId, { durationMs: Math.max(0, this.#clock.nowMs() - startedAtMs), ends: { [end]: 1 } });
  }

  #hour(): number {
    return Math.floor(this.#clock.nowMs() / HOUR_MS);
  }

  #count(organizationId: string, counts: Partial<OrganizationCalls>): void {
    const hour = this.#hour();
    const known = this.#hours.get(hour) ?? new Map<string, OrganizationCalls>();
    this.#hours.set(hour, known);
    const [oldest] = this.#hours.keys();
    if (this.#hours.size > KEPT_HOURS && oldest !== undefined) this.#hours.delete(oldest);
    const named = known.has(organizationId) || known.size < MAX_ORGANIZATIONS ? organizationId : OTHERS;
    known.set(named, sumOf({ ...NOTHING, organizationId: named, ...counts }, known.get(named)));
  }
}

/** The sum over several hours or processes, organizations with the most new calls first. */
export function joinedOrganizations(seen: readonly (readonly OrganizationCalls[])[]): readonly OrganizationCalls[] {
  const joined = new Map<string, OrganizationCalls>();
  for (const one of seen.flat()) joined.set(one.organizationId, sumOf(one, joined.get(one.organizationId)));
  return [...joined.values()].sort((one, other) => other.begun - one.begun).slice(0, MAX_ORGANIZATIONS);
}

function sumOf(one: OrganizationCalls, other: OrganizationCalls | undefined): OrganizationCalls {
  if (other === undefined) return one;
  return {
    organizationId: one.organizationId,
    openCalls: one.openCalls + other.openCalls,
    maxCalls: Math.max(one.maxCalls, other.maxCalls),
    begun: one.begun + other.begun,
    durationMs: one.durationMs + other.durationMs,
    ends: summed(one.ends, other.ends),
    refused: summed(one.refused, other.refused),
  };
}

function summed(counts: Readonly<Record<string, number>>, others: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const sum: Record<string, number> = { ...counts };
  for (const [name, count] of Object.entries(others)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
