// The messages between a load and its workers. Both are one program, so nothing is checked.
import type { ArrivalPlan } from './arrivals.ts';
import type { CallFacts, WaitFact } from './call-facts.ts';
import type { LoadScenario } from './load-call.ts';
import type { KnownSound } from './prompt-watch.ts';

/** The first order: where to call, and what callers do. */
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
  /** The sounds of replies that the rehearsal heard. */
  readonly sounds: readonly KnownSound[];
}

/** Begin a run: every worker draws the same arrivals and takes each n-th. */
export interface RunOrder {
  readonly kind: 'run';
  /** Wall-clock time of the beginning, ms since the epoch. */
  readonly startAtMs: number;
  readonly arrivals: ArrivalPlan;
  readonly worker: number;
  readonly workers: number;
  /** Expected parallel calls of this worker, for its connections. */
  readonly expectedCalls: number;
  /** After the last arrival, hang up as soon as every wait from before it has ended. */
  readonly endsWhenAnswered: boolean;
}

/** An order to a worker; `stop`: no further call begins, and those under way hang up. */
export type WorkerOrder = PrepareOrder | RunOrder | { readonly kind: 'stop' };

export interface WorkerSecond {
  readonly kind: 'second';
  /** The reported time, ms since the run began. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly live: number;
  readonly started: number;
  readonly missed: number;
  readonly waits: readonly WaitFact[];
  readonly calls: readonly CallFacts[];
  /** How late calls were started, and how late timers fired; encoded histograms. */
  readonly startLateness: string;
  readonly timerLateness: string;
  /** Part of one core, since the last report. */
  readonly cpu: number;
  /** Delay of the event loop, ms, since the last report. */
  readonly loopDelayMaxMs: number;
  readonly residentBytes: number;
}

/** A worker's report: a `second` for every second of a run and once more at its end, `done` when its calls are over, too. */
export type WorkerReport =
  | { readonly kind: 'ready' }
  | WorkerSecond
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };
