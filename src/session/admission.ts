// Who may begin a call: limits on sessions and streams, and a process that is too busy takes no new ones. Running calls
// are never refused. Knows no bots and no turns; how busy the process is comes through a port.
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { CallRate } from './call-rate.ts';

/** Why a new call is refused. Public: a metric label and a word of the log. */
export const ADMISSION_REFUSALS = [
  'draining',
  'total',
  'organization',
  'organization_rate',
  'streams',
  'loop_delay',
  'memory',
  'store',
] as const;
export type AdmissionRefusal = (typeof ADMISSION_REFUSALS)[number];

/** How busy the process is. Each value is measured over the last seconds. */
export interface LoadReading {
  /** How late the event loop runs, ms. */
  readonly loopDelayMs: number;
  /** Memory of the process that is resident, bytes. */
  readonly rssBytes: number;
  /** Used part of the largest heap the process may have, percent. */
  readonly heapPercent: number;
}

/** Where readings come from; asked for every new call. */
export interface LoadSource {
  reading(): LoadReading;
}

/** What one organization may have. */
export interface OrganizationLimits {
  /** Most sessions; 0: only the limit of all counts. */
  readonly maxSessions: number;
  /** Most new calls a second; several seconds' worth may come at once. 0 off. */
  readonly maxNewPerSecond: number;
}

/** The limits. 0 switches a limit off where it says so. */
export interface AdmissionLimits {
  readonly maxSessions: number;
  readonly perOrganization: OrganizationLimits;
  /** Organizations with limits of their own. */
  readonly organizations: ReadonlyMap<string, OrganizationLimits>;
  /** Most streams at which new calls are still taken. Streams of running calls may be as many again. */
  readonly maxStreams: number;
  /** Longest delay of the event loop at which new calls are taken, ms; 0 off. */
  readonly maxLoopDelayMs: number;
  /** Most resident memory at which new calls are taken, bytes; 0 off. */
  readonly maxRssBytes: number;
  /** Fullest heap at which new calls are taken, percent; 0 off. */
  readonly maxHeapPercent: number;
}

/** What the admission is made of. */
export interface AdmissionOptions {
  readonly limits: AdmissionLimits;
  readonly load: LoadSource;
  readonly clock: Clock;
}

/** The load must stay low for this long before calls are taken again, ms. */
const CALM_MS = 3000;
/** What is low, as a part of the limit. Memory hardly ever falls far, because the system is not given back what was freed. */
const CALM_DELAY = 0.7;
const CALM_MEMORY = 0.95;

/** Counts sessions and streams, and refuses. One per process. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #load: LoadSource;
  readonly #delay: Strain;
  readonly #rss: Strain;
  readonly #heap: Strain;
  /** Sessions by organization; none stays with 0. */
  readonly #sessions = new Map<string, number>();
  readonly #rate: CallRate;
  #total = 0;
  #streams = 0;
  #isDraining = false;

  constructor({ limits, load, clock }: AdmissionOptions) {
    this.#limits = limits;
    this.#load = load;
    this.#delay = new Strain(limits.maxLoopDelayMs, CALM_DELAY, clock);
    this.#rss = new Strain(limits.maxRssBytes, CALM_MEMORY, clock);
    this.#heap = new Strain(limits.maxHeapPercent, CALM_MEMORY, clock);
    this.#rate = new CallRate({ perSecondOf: (organizationId) => this.#limitsOf(organizationId).maxNewPerSecond, clock });
  }

  /** Sessions that are open. */
  get sessions(): number {
    return this.#total;
  }

  /** Refuses every new call from now on. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Why a new call of an organization is refused now; undefined: it is not. Counts nothing. */
  refusal(organizationId: string): AdmissionRefusal | undefined {
    const { maxSessions, maxStreams } = this.#limits;
    const own = this.#limitsOf(organizationId);
    if (this.#isDraining) return 'draining';
    if (this.#total >= maxSessions) return 'total';
    if (own.maxSessions > 0 && (this.#sessions.get(organizationId) ?? 0) >= own.maxSessions) return 'organization';
    if (this.#rate.isOver(organizationId)) return 'organization_rate';
    if (this.#streams > maxStreams) return 'streams';
    const { loopDelayMs, rssBytes, heapPercent } = this.#load.reading();
    // All are checked, so that each knows how long it has been calm.
    const isMemoryShort = [this.#rss.isOver(rssBytes), this.#heap.isOver(heapPercent)].includes(true);
    if (this.#delay.isOver(loopDelayMs)) return 'loop_delay';
    return isMemoryShort ? 'memory' : undefined;
  }

  /** A new call begins, which is no running one that comes back or begins anew; `sessionStarted` follows. */
  callBegan(organizationId: string): void {
    this.#rate.began(organizationId);
  }

  /** A session was made: counted whether or not it was asked for, because running calls come back unasked. */
  sessionStarted(organizationId: string): void {
    this.#total += 1;
    this.#sessions.set(organizationId, (this.#sessions.get(organizationId) ?? 0) + 1);
  }

  /** A session is over; called once for each that was started. */
  sessionEnded(organizationId: string): void {
    this.#total -= 1;
    const left = (this.#sessions.get(organizationId) ?? 0) - 1;
    if (left > 0) this.#sessions.set(organizationId, left);
    else this.#sessions.delete(organizationId);
  }

  /**
   * A stream was opened; `streamClosed` must follow, also after a refusal.
   *
   * @returns false when there are so many that not even a running call gets one more.
   */
  streamOpened(): boolean {
    this.#streams += 1;
    return this.#streams <= 2 * this.#limits.maxStreams;
  }

  streamClosed(): void {
    this.#streams -= 1;
  }

  #limitsOf(organizationId: string): OrganizationLimits {
    return this.#limits.organizations.get(organizationId) ?? this.#limits.perOrganization;
  }
}

/**
 * The error of a refused call: `shutting_down`, `store_unavailable` or `overloaded`; its details name the reason and, for the log,
 * whose call it was.
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
  draining: 'the server is stopping and takes no new calls',
  total: 'the server has as many sessions as it may',
  organization: 'the organization has as many sessions as it may',
  organization_rate: 'the organization begins calls faster than it may',
  streams: 'the server has as many open streams as it may',
  loop_delay: 'the server is too busy for new calls',
  memory: 'the server has too little memory for new calls',
  store: 'nobody can say where the call lives: the store that the servers share is away',
} as const satisfies Record<AdmissionRefusal, string>;

/** One limit that does not flap: once passed, it counts as passed until the value has stayed clearly below it. */
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
