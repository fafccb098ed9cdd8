// What a load and its workers say to each other. Both are of one program, so nothing is checked.
import type { ArrivalPlan } from './arrivals.ts';
import type { CallFacts, WaitFact } from './call-facts.ts';
import type { LoadScenario } from './load-call.ts';
import type { KnownSound } from './prompt-watch.ts';

/** First of all: where to call, and what callers do. */
export interface PrepareOrder {
  readonly kind: 'prepare';
  readonly target: string;
  readonly profile: string;
  readonly token?: string;
  readonly bearer: boolean;
  readonly certificateAuthority?: Uint8Array;
  readonly serverName?: string;
  readonly callsPerConnection: number;
  readonly scenarios: readonly LoadScenario[];
  /** How replies sound that were heard before. */
  readonly sounds: readonly KnownSound[];
}

/** Begin a run: every worker draws the same arrivals and takes each so-many-th. */
export interface RunOrder {
  readonly kind: 'run';
  /** Wall-clock time of the beginning, ms since the epoch. */
  readonly startAtMs: number;
  readonly arrivals: ArrivalPlan;
  readonly worker: number;
  readonly workers: number;
  /** Calls at once that are expected of this worker, for its connections. */
  readonly expectedCalls: number;
  /** After the last arrival, hang up as soon as no caller waits any more for something it waited for by then. */
  readonly endsWhenAnswered: boolean;
}

/** What a worker is ordered to do; `stop`: no further call begins, and those that are held are hung up. */
export type WorkerOrder = PrepareOrder | RunOrder | { readonly kind: 'stop' };

/** What a second of a run was. */
export interface WorkerSecond {
  readonly kind: 'second';
  /** The time that is reported, ms since the run began. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly live: number;
  readonly started: number;
  readonly missed: number;
  readonly waits: readonly WaitFact[];
  readonly calls: readonly CallFacts[];
  /** How late calls were begun, and timers fired; encoded histograms. */
  readonly startLateness: string;
  readonly timerLateness: string;
  /** Part of one core, since the last report. */
  readonly cpu: number;
  /** Delay of the event loop, ms, since the last report. */
  readonly loopDelayMaxMs: number;
  readonly residentBytes: number;
}

/** What a worker reports: a `second` every second of a run and once more at its end, `done` when its calls are over, too. */
export type WorkerReport =
  | { readonly kind: 'ready' }
  | WorkerSecond
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };
