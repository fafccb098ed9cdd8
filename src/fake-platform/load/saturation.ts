// Whether the load kept its own pace. One that did not has measured itself, and its figures are no result.
import { FRAME_MS } from '../../speech/audio-format.ts';
import type { Percentiles } from './histogram.ts';

/** What one worker spent and how late it was. */
export interface WorkerLoad {
  /** Part of one core, over the time that is counted. */
  readonly cpu: number;
  /** How late its timers fired, frames of callers among them, ms. */
  readonly timerLateness: Percentiles;
  /** How late calls were begun, ms. */
  readonly startLateness: Percentiles;
  readonly loopDelayMaxMs: number;
  readonly residentBytes: number;
  /** Arrivals for which it had no room. */
  readonly missed: number;
}

/** Beyond this part of a core a process has no room for the work that comes in bursts, and queues it. */
const MAX_CPU = 0.85;
/**
 * Most that the 99th percentile may be late, ms: one frame. Every frame then still leaves before the next one is due, as on a
 * line with a little jitter. What callers wait for is counted from the moment that was intended and not from the moment that was
 * kept, so the load's own lateness only ever makes a server look slower, and by no more than this.
 */
const MAX_LATENESS_MS = FRAME_MS;

/** A worker that stood still for longer is named, ms: in a run of minutes no percentile shows a single time. */
const MAX_STALL_MS = 50;

/** Where a worker stood still for so long that single figures of the result may be its own. */
export function stallsOf(workers: readonly WorkerLoad[]): readonly string[] {
  return workers.flatMap(({ loopDelayMaxMs }, index) => {
    if (loopDelayMaxMs <= MAX_STALL_MS) return [];
    return [`worker ${String(index + 1)} once stood still for ${loopDelayMaxMs.toFixed(0)} ms: waits and gaps may be its own by as much`];
  });
}

/** Of workers (counted from 0) that reported nothing, nobody knows whether they kept their pace. */
export function silenceOf(workers: readonly number[]): readonly string[] {
  return workers.map((index) => `worker ${String(index + 1)} reported nothing of the time that counts: its pace is not known`);
}

/** Why a load does not count; empty when it does. */
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
