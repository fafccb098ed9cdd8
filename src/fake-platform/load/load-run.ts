// One measured load: runs the arrivals on the fleet, records the reports, samples the server, and computes the result. Others show and
// judge the result.
import os from 'node:os';
import { every, type Clock } from '../../base/clock.ts';
import { sendRequest } from '../../base/http-send.ts';
import { lengthOf, rateAt, type ArrivalKind, type LoadPhase } from './arrivals.ts';
import { HEAD_START_MS, type Fleet } from './fleet.ts';
import type { Histogram } from './histogram.ts';
import { LoadBook, LevelBooks } from './load-book.ts';
import type { LoadResult } from './load-result.ts';
import type { LevelTime } from './load-shape.ts';
import { saturationOf, silenceOf, stallsOf } from './saturation.ts';
import { sampleServer } from './server-metrics.ts';

/** A scenario, how often it runs, and how long it takes. */
export interface WeightedScenario {
  readonly name: string;
  readonly weight: number;
  /** Mean length of a call, ms, as measured in the rehearsal. */
  readonly meanMs: number;
}

export interface LoadProgress {
  readonly elapsedMs: number;
  readonly lengthMs: number;
  readonly live: number;
  /** Arrivals per second at the moment. */
  readonly perSecond: number;
  readonly finished: number;
  readonly failed: number;
  readonly firstAudio: Histogram;
  readonly reply: Histogram;
}

export interface LoadRunOptions {
  readonly clock: Clock;
  /** Its workers must be ready. */
  readonly fleet: Fleet;
  readonly target: string;
  readonly asked: string;
  readonly scenarios: readonly WeightedScenario[];
  readonly kind: ArrivalKind;
  readonly phases: readonly LoadPhase[];
  readonly seed: number;
  /** Levels to record separately. Undefined: none. */
  readonly levels?: readonly LevelTime[];
  /** Calls that are due earlier do not count, ms since the run began. */
  readonly warmUpMs: number;
  /** Longest time after the last arrival, ms; calls that still run then hang up. */
  readonly drainMs: number;
  /** Whether calls hang up earlier: as soon as all waits that count have ended. Default false. */
  readonly endsWhenAnswered?: boolean;
  /** Address of the server's metrics page. Undefined: the server is not sampled. */
  readonly metricsUrl?: string;
  /** Stops the run: all calls hang up, and the result covers the measured time. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}

const SAMPLE_MS = 1000;

/** Mean length of a call over weighted scenarios, ms. */
export function meanLengthOf(scenarios: readonly WeightedScenario[]): number {
  const total = scenarios.reduce((sum, { weight }) => sum + weight, 0);
  return scenarios.reduce((sum, { weight, meanMs }) => sum + (weight / total) * meanMs, 0);
}

/** Runs a load to its end. When a worker is lost, the run ends at once and its result is invalid. */
export async function runLoad(options: LoadRunOptions): Promise<LoadResult> {
  const { clock, fleet, scenarios, kind, phases, seed, warmUpMs, signal } = options;
  const lengthMs = lengthOf(phases);
  await fleet.mend(signal);
  const book = new LoadBook({ workers: fleet.size, countedFromMs: warmUpMs, countedToMs: lengthMs });
  const levels = new LevelBooks(options.levels ?? [], fleet.size);
  const startedAt = new Date(clock.nowMs() + HEAD_START_MS).toISOString();
  const zeroMs = clock.monotonicMs() + HEAD_START_MS;
  const elapsed = (): number => clock.monotonicMs() - zeroMs;
  const sampling = new AbortController();
  const sample = (): void => {
    if (options.metricsUrl === undefined) return;
    sampleServer(options.metricsUrl, clock, sendRequest, sampling.signal).then(
      (seen) => book.addServer(seen, elapsed()),
      // A server that is too busy to answer leaves a gap in the chart.
      () => undefined,
    );
  };
  sample();
  const cancelSampling = every(clock, SAMPLE_MS, () => {
    sample();
    options.onProgress?.(progressOf(book, phases, elapsed(), lengthMs));
  });
  const highest = Math.max(...phases.map(({ fromPerSecond, toPerSecond }) => Math.max(fromPerSecond, toPerSecond)));
  try {
    const end = await fleet.run({
      arrivals: { kind, phases, seed, weights: scenarios.map(({ weight }) => weight) },
      expectedCalls: (highest * meanLengthOf(scenarios)) / 1000,
      drainMs: options.drainMs,
      endsWhenAnswered: options.endsWhenAnswered ?? false,
      signal,
      onSecond: (worker, second) => {
        book.add(worker, second);
        levels.add(worker, second);
      },
    });
    const workers = book.workers;
    const isWhole = !end.isInterrupted && end.lost.length === 0;
    const saturation = [...end.lost, ...saturationOf(workers), ...(isWhole ? silenceOf(book.silentWorkers) : [])];
    const countedToMs = Math.min(lengthMs, Math.max(0, isWhole ? lengthMs : elapsed()));
    return {
      version: 1,
      startedAt,
      target: options.target,
      asked: options.asked,
      seed,
      arrivals: kind,
      machine: { node: process.version, processor: os.cpus()[0]?.model ?? 'unknown', cores: os.availableParallelism() },
      scenarios: scenarios.map(({ name, weight, meanMs }, index) => ({ name, weight, meanMs: book.meanMsOf(index) ?? meanMs })),
      countedFromS: warmUpMs / 1000,
      countedToS: countedToMs / 1000,
      interrupted: end.isInterrupted,
      saturated: saturation.length > 0,
      saturation,
      doubts: [...stallsOf(workers)],
      levels: levels.resultsUntil(countedToMs),
      workers: [...workers],
      ...book.account,
    };
  } finally {
    cancelSampling();
    sampling.abort();
  }
}

function progressOf(book: LoadBook, phases: readonly LoadPhase[], elapsedMs: number, lengthMs: number): LoadProgress {
  const { finished, failed } = book.counts;
  return { elapsedMs, lengthMs, live: book.live, perSecond: rateAt(phases, elapsedMs), finished, failed, ...book.soFar };
}
