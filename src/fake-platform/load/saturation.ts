// Whether the load kept its own pace. If it did not, it has measured itself, and its figures are invalid.
import { FRAME_MS } from '../../speech/audio-format.ts';
import type { Percentiles } from './histogram.ts';

/** What one worker used, and how late it was. */
export interface WorkerLoad {
  /** CPU in the measured part of the run, as a part of one core. */
  readonly cpu: number;
  /** How late the worker's timers fired, ms; the frames of callers wait for such timers. */
  readonly timerLateness: Percentiles;
  /** How late calls were started, ms. */
  readonly startLateness: Percentiles;
  readonly loopDelayMaxMs: number;
  readonly residentBytes: number;
  /** Arrivals for which the worker had no room. */
  readonly missed: number;
}

/** Highest valid CPU of a process, as a part of one core. Above it, there is no room for bursts, and work queues up. */
const MAX_CPU = 0.85;
/**
 * Highest valid 99th percentile of lateness, ms: one frame. Every frame then still leaves before the next one is due, as on a line with a
 * little jitter. Waits are counted from the intended moment, so a late load makes a server look slower, but by no more than this.
 */
const MAX_LATENESS_MS = FRAME_MS;

/** A longer stall of a worker is reported, ms: in a run of minutes, no percentile shows a single stall. */
const MAX_STALL_MS = 50;

/** Sentences about workers that stalled so long that single figures of the result may come from the stall. */
export function stallsOf(workers: readonly WorkerLoad[]): readonly string[] {
  return workers.flatMap(({ loopDelayMaxMs }, index) => {
    if (loopDelayMaxMs <= MAX_STALL_MS) return [];
    return [`worker ${String(index + 1)} once stood still for ${loopDelayMaxMs.toFixed(0)} ms: waits and gaps may be its own by as much`];
  });
}

/** Sentences about workers that reported nothing, so that their pace is not known. @param workers - indexes, from 0. */
export function silenceOf(workers: readonly number[]): readonly string[] {
  return workers.map((index) => `worker ${String(index + 1)} reported nothing of the time that counts: its pace is not known`);
}

/** Sentences that say why a load is invalid; empty when it is valid. */
export function saturationOf(workers: readonly WorkerLoad[]): readonly string[] {
  return workers.flatMap(({ cpu, timerLateness, startLateness, missed }, index) => {
    const name = `worker ${String(index + 1)}`;
    return [
      ...(cpu > MAX_CPU ? [`${name} used ${(cpu * 100).toFixed(0)} % of a core, more than ${String(MAX_CPU * 100)} %`] : []),
      ...late(`frames of ${name}`, timerLateness),
      ...late(`calls of ${name}`, startLateness),
      ...(missed > 0 ? [`${name} had no room for ${String(missed)} calls`] : []),
    ];
  });
}

function late(what: string, { count, p99 }: Percentiles): readonly string[] {
  if (count === 0 || p99 <= MAX_LATENESS_MS) return [];
  return [`${what} were late by ${p99.toFixed(1)} ms at the 99th percentile, more than ${String(MAX_LATENESS_MS)} ms`];
}
