// One measured load: the fleet runs the arrivals, the reports are recorded, the server is sampled, and the result is
// computed. Others show it and judge it.
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

/** What callers do, how often, and how long it takes. */
export interface WeightedScenario {
  readonly name: string;
  readonly weight: number;
  /** Length of a call, ms, as the rehearsal measured. */
  readonly meanMs: number;
}

export interface LoadProgress {
  readonly elapsedMs: number;
  readonly lengthMs: number;
  readonly live: number;
  /** Arrivals per second that are due now. */
  readonly perSecond: number;
  readonly finished: number;
  readonly failed: number;
  readonly firstAudio: Histogram;
  readonly reply: Histogram;
}

export interface LoadRunOptions {
  readonly clock: Clock;
  /** Prepared workers. */
  readonly fleet: Fleet;
  readonly target: string;
  readonly asked: string;
  readonly scenarios: readonly WeightedScenario[];
  readonly kind: ArrivalKind;
  readonly phases: readonly LoadPhase[];
  readonly seed: number;
  /** Levels to record separately. Default none. */
  readonly levels?: readonly LevelTime[];
  /** Calls that are due earlier do not count, ms since the run began. */
  readonly warmUpMs: number;
  /** Longest time of calls after the last arrival, ms. */
  readonly drainMs: number;
  /** Hang up earlier, once every wait that counts has ended. Default false. */
  readonly endsWhenAnswered?: boolean;
  /** Address of the server's metrics page. */
  readonly metricsUrl?: string;
  /** Stops the run: all calls hang up, and the result is what was measured. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}

const SAMPLE_MS = 1000;

/** Mean length of a call of a mix, ms. */
export function meanLengthOf(scenarios: readonly WeightedScenario[]): number {
  const total = scenarios.reduce((sum, { weight }) => sum + weight, 0);
  return scenarios.reduce((sum, { weight, meanMs }) => sum + (weight / total) * meanMs, 0);
}

/** Runs a load to its end. One that loses a worker ends at once; its result is invalid. */
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
      // A server too busy to answer leaves a gap in the chart.
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
