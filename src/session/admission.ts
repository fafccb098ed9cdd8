// Admission of new calls: limits of sessions and streams, and refusal under high load. Running calls are never
// refused. Knows no bots and no turns; load readings come through a port.
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { CallRate } from './call-rate.ts';
import { FairShare } from './fair-share.ts';
import { MAX_ORGANIZATIONS_SAID, OthersUse, type OrganizationUse, type ProcessUse } from './others-use.ts';

/** Reasons for refusing a new call. Public: a metric label and a log field. */
export const ADMISSION_REFUSALS = [
  'draining',
  'total',
  'organization',
  'organization_rate',
  'organization_share',
  'streams',
  'loop_delay',
  'memory',
  'store',
] as const;
export type AdmissionRefusal = (typeof ADMISSION_REFUSALS)[number];

/** The load of the process, measured over the last seconds. */
export interface LoadReading {
  /** Delay of the event loop, ms. */
  readonly loopDelayMs: number;
  /** Resident memory, bytes. */
  readonly rssBytes: number;
  /** Use of the heap in percent of its limit. */
  readonly heapPercent: number;
}

/** Source of readings; called for every new call. */
export interface LoadSource {
  reading(): LoadReading;
}

/** Limits of one organization, over all processes that share calls. */
export interface OrganizationLimits {
  /** Most sessions; 0: only the total limit. */
  readonly maxSessions: number;
  /** Most new calls a second, with bursts of several seconds; 0: off. */
  readonly maxNewPerSecond: number;
  /** Weight of the organization when the places of a nearly full process are shared out. Default 1. */
  readonly weight?: number;
}

/** The limits of a process. */
export interface AdmissionLimits {
  readonly maxSessions: number;
  readonly perOrganization: OrganizationLimits;
  /** Organizations with their own limits. */
  readonly organizations: ReadonlyMap<string, OrganizationLimits>;
  /** Percentage of `maxSessions` that is reserved for organizations below their fair share. Default 0. */
  readonly reservedPercent?: number;
  /** Number of streams above which new calls are refused. Running calls may open as many again. */
  readonly maxStreams: number;
  /** Longest event loop delay at which new calls are accepted, ms; 0: off. */
  readonly maxLoopDelayMs: number;
  /** Most resident memory at which new calls are accepted, bytes; 0: off. */
  readonly maxRssBytes: number;
  /** Highest heap use at which new calls are accepted, percent; 0: off. */
  readonly maxHeapPercent: number;
}

export interface AdmissionOptions {
  readonly limits: AdmissionLimits;
  readonly load: LoadSource;
  readonly clock: Clock;
}

/** After an overload, the load must stay low for this long before calls are accepted again, ms. */
const CALM_MS = 3000;
/** Load that counts as low, as a fraction of the limit. For memory closer to 1, because freed memory stays with the process. */
const CALM_DELAY = 0.7;
const CALM_MEMORY = 0.95;

/** Counts sessions and streams, and refuses. One per process. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #load: LoadSource;
  readonly #delay: Strain;
  readonly #rss: Strain;
  readonly #heap: Strain;
  /** Open sessions by organization. */
  readonly #sessions = new Map<string, number>();
  readonly #rate: CallRate;
  readonly #share: FairShare;
  readonly #others: OthersUse;
  #total = 0;
  #streams = 0;
  #isDraining = false;

  constructor({ limits, load, clock }: AdmissionOptions) {
    this.#limits = limits;
    this.#load = load;
    this.#delay = new Strain(limits.maxLoopDelayMs, CALM_DELAY, clock);
    this.#rss = new Strain(limits.maxRssBytes, CALM_MEMORY, clock);
    this.#heap = new Strain(limits.maxHeapPercent, CALM_MEMORY, clock);
    this.#rate = new CallRate({ perSecondOf: (organizationId) => this.limitsOf(organizationId).maxNewPerSecond, clock });
    const weightOf = (organizationId: string): number => this.limitsOf(organizationId).weight ?? 1;
    this.#share = new FairShare({ maxSessions: limits.maxSessions, reservedPercent: limits.reservedPercent ?? 0, weightOf, clock });
    this.#others = new OthersUse(clock);
  }

  /** Number of open sessions. */
  get sessions(): number {
    return this.#total;
  }

  /** Open sessions by organization, as they are now. */
  get openCalls(): ReadonlyMap<string, number> {
    return this.#sessions;
  }

  /** Refuses every new call from now on, until it is called with false. */
  drain(isDraining = true): void {
    this.#isDraining = isDraining;
  }

  /** Use of this process by organizations, for the other processes. */
  get use(): readonly OrganizationUse[] {
    const { begun: newCalls } = this.#rate;
    const ids = new Set([...this.#sessions.keys(), ...newCalls.keys()]);
    const all = [...ids].map((id): OrganizationUse => [id, this.#sessions.get(id) ?? 0, newCalls.get(id) ?? 0]);
    if (all.length <= MAX_ORGANIZATIONS_SAID) return all;
    return all
      .sort(([, calls, begun], [, otherCalls, otherBegun]) => otherCalls + otherBegun - calls - begun)
      .slice(0, MAX_ORGANIZATIONS_SAID);
  }

  /** Takes the use of all other living processes. @param wasAway - whether readings were missed before this one. */
  hear(others: readonly ProcessUse[], wasAway: boolean): void {
    for (const [organizationId, begun] of this.#others.read(others, wasAway)) this.#rate.beganElsewhere(organizationId, begun);
  }

  /** Why a new call of an organization would be refused now; undefined: accepted. Does not count the call, but notes who has called. */
  refusal(organizationId: string): AdmissionRefusal | undefined {
    const { maxSessions, maxStreams } = this.#limits;
    const own = this.limitsOf(organizationId);
    this.#share.called(organizationId);
    if (this.#isDraining) return 'draining';
    if (this.#total >= maxSessions) return 'total';
    const calls = (this.#sessions.get(organizationId) ?? 0) + this.#others.callsOf(organizationId);
    if (own.maxSessions > 0 && calls >= own.maxSessions) return 'organization';
    if (this.#rate.isOver(organizationId)) return 'organization_rate';
    if (this.#share.isOver(organizationId, this.#sessions)) return 'organization_share';
    if (this.#streams > maxStreams) return 'streams';
    const { loopDelayMs, rssBytes, heapPercent } = this.#load.reading();
    // Both memory limits are checked, because each must keep track of how long it has been low.
    const isMemoryShort = [this.#rss.isOver(rssBytes), this.#heap.isOver(heapPercent)].includes(true);
    if (this.#delay.isOver(loopDelayMs)) return 'loop_delay';
    return isMemoryShort ? 'memory' : undefined;
  }

  /** Counts a new call, but no restored or restarted one; `sessionStarted` follows. */
  callBegan(organizationId: string): void {
    this.#rate.began(organizationId);
  }

  /** Counts a session, also of a running call whose admission was not checked. */
  sessionStarted(organizationId: string): void {
    this.#total += 1;
    this.#sessions.set(organizationId, (this.#sessions.get(organizationId) ?? 0) + 1);
    this.#share.took(organizationId, this.#sessions);
  }

  /** A session has ended; called once for each started one. */
  sessionEnded(organizationId: string): void {
    this.#total -= 1;
    const left = (this.#sessions.get(organizationId) ?? 0) - 1;
    if (left > 0) this.#sessions.set(organizationId, left);
    else this.#sessions.delete(organizationId);
  }

  /**
   * A stream was opened; `streamClosed` must follow, also after a refusal.
   *
   * @returns false at the limit for running calls.
   */
  streamOpened(): boolean {
    this.#streams += 1;
    return this.#streams <= 2 * this.#limits.maxStreams;
  }

  streamClosed(): void {
    this.#streams -= 1;
  }

  /** The limits of an organization: its own, or else the general ones. */
  limitsOf(organizationId: string): OrganizationLimits {
    return this.#limits.organizations.get(organizationId) ?? this.#limits.perOrganization;
  }
}

/**
 * The error of a refused call: `shutting_down`, `store_unavailable` or `overloaded`; its details name the reason and
 * the call.
 */
export function refusedCall(
  reason: AdmissionRefusal,
  { organizationId, cause }: { readonly organizationId?: string; readonly cause?: unknown } = {},
): AppError {
  const code = reason === 'draining' ? 'shutting_down' : reason === 'store' ? 'store_unavailable' : 'overloaded';
  return new AppError(code, REFUSAL_TEXTS[reason], {
    details: { reason, ...(organizationId !== undefined && { organizationId }) },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The error of a stream for which `streamOpened` returned false. */
export function refusedStream(): AppError {
  return refusedCall('streams');
}

const REFUSAL_TEXTS = {
  draining: 'the server takes no new calls: it stops, or an operator has drained it',
  total: 'the server has reached its limit of sessions',
  organization: 'the organization has reached its limit of sessions',
  organization_rate: 'the organization has reached its limit of new calls per second',
  organization_share: 'the server is nearly full, and the organization has its share of it',
  streams: 'the server has reached its limit of open streams',
  loop_delay: 'the server is too busy for new calls',
  memory: 'the server has too little memory for new calls',
  store: 'the home of the call is unknown: the shared store is unavailable',
} as const satisfies Record<AdmissionRefusal, string>;

/** A limit with hysteresis: once exceeded, it stays exceeded until the value has been clearly below it for a while. */
class Strain {
  readonly #limit: number;
  readonly #calmLimit: number;
  readonly #clock: Clock;
  #isOver = false;
  #strainedAtMs = 0;

  constructor(limit: number, calmPart: number, clock: Clock) {
    this.#limit = limit;
    this.#calmLimit = limit * calmPart;
    this.#clock = clock;
  }

  isOver(value: number): boolean {
    if (this.#limit === 0) return false;
    const nowMs = this.#clock.monotonicMs();
    if (value > this.#limit) this.#isOver = true;
    if (value > this.#calmLimit) this.#strainedAtMs = nowMs;
    else if (nowMs - this.#strainedAtMs >= CALM_MS) this.#isOver = false;
    return this.#isOver;
  }
}
