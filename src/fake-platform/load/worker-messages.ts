// The messages between a load and its workers. Both are the same program, so messages are not validated.
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
  /** The known sounds of replies, from the rehearsal. */
  readonly sounds: readonly KnownSound[];
}

/** The order to begin a run. Every worker computes the same arrivals and takes each n-th one. */
export interface RunOrder {
  readonly kind: 'run';
  /** When the run begins, ms since the epoch. */
  readonly startAtMs: number;
  readonly arrivals: ArrivalPlan;
  readonly worker: number;
  readonly workers: number;
  /** Expected parallel calls of this worker, for which connections are opened. */
  readonly expectedCalls: number;
  /** Whether calls hang up, after the last arrival, as soon as all waits that began before it have ended. */
  readonly endsWhenAnswered: boolean;
}

/** An order to a worker. `stop`: no further calls begin, and running calls hang up. */
export type WorkerOrder = PrepareOrder | RunOrder | { readonly kind: 'stop' };

export interface WorkerSecond {
  readonly kind: 'second';
  /** The time that the report covers, ms since the run began. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly live: number;
  readonly started: number;
  readonly missed: number;
  readonly waits: readonly WaitFact[];
  readonly calls: readonly CallFacts[];
  /** How late calls were started, and how late timers fired: histograms, encoded. */
  readonly startLateness: string;
  readonly timerLateness: string;
  /** CPU since the last report, as a part of one core. */
  readonly cpu: number;
  /** Longest delay of the event loop since the last report, ms. */
  readonly loopDelayMaxMs: number;
  readonly residentBytes: number;
}

/** A report of a worker. `second`: sent every second of a run, and once more at its end; `done`: the calls are over, too. */
export type WorkerReport =
  | { readonly kind: 'ready' }
  | WorkerSecond
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };
