// Whether the load kept its own pace. If it did not, it has measured itself, and its figures are invalid.
import { FRAME_MS } from '../../speech/audio-format.ts';
import type { Percentiles } from './histogram.ts';

/** What one worker used, and how late it was. */
export interface WorkerLoad {
  /** Part of one core, over the measured time. */
  readonly cpu: number;
  /** How late its timers fired, frames of callers among them, ms. */
  readonly timerLateness: Percentiles;
  /** How late calls were started, ms. */
  readonly startLateness: Percentiles;
  readonly loopDelayMaxMs: number;
  readonly residentBytes: number;
  /** Arrivals for which it had no room. */
  readonly missed: number;
}

/** Above this part of a core, a process has no room for bursts and queues work. */
const MAX_CPU = 0.85;
/**
 * Highest valid 99th percentile of lateness, ms: one frame. Every frame then still leaves before the next one is due, as on a
 * line with a little jitter. Waits count from the intended moment, not from the actual one, so the load's own lateness
 * can only make a server look slower, and by no more than this.
 */
const MAX_LATENESS_MS = FRAME_MS;

/** A worker that stalled for longer is named, ms: in a run of minutes, no percentile shows a single stall. */
const MAX_STALL_MS = 50;

/** Workers that stalled for so long that single figures of the result may come from it. */
export function stallsOf(workers: readonly WorkerLoad[]): readonly string[] {
  return workers.flatMap(({ loopDelayMaxMs }, index) => {
    if (loopDelayMaxMs <= MAX_STALL_MS) return [];
    return [`worker ${String(index + 1)} once stood still for ${loopDelayMaxMs.toFixed(0)} ms: waits and gaps may be its own by as much`];
  });
}

/** If a worker (counted from 0) reported nothing, nobody knows whether it kept its pace. */
export function silenceOf(workers: readonly number[]): readonly string[] {
  return workers.map((index) => `worker ${String(index + 1)} reported nothing of the time that counts: its pace is not known`);
}

/** Why a load is invalid; empty when it is valid. */
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
