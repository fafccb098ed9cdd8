// Measures the load of this process: event loop delay over the last seconds, and memory. Knows no limits.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { every, type CancelTimer, type Clock } from '../base/clock.ts';
import type { LoadReading, LoadSource } from '../session/admission.ts';

/** Length of one window, ms. */
const WINDOW_MS = 1000;
/** Sampling interval of the delay, ms. Node's histogram counts the whole time between two samples, this interval included. */
const SAMPLE_MS = 20;
const NS_PER_MS = 1e6;

/** The needed part of Node's histogram of sampling times, ns. */
export interface DelayHistogram {
  /** Samples since the last reset. */
  readonly count: number;
  percentile(percentile: number): number;
  reset(): void;
}

type Memory = Pick<LoadReading, 'rssBytes' | 'heapPercent'>;

/** Sources of the gauge; default: the process. */
export interface LoadGaugeOptions {
  readonly clock: Clock;
  readonly histogram?: DelayHistogram;
  /** May throw: then the last reading is kept. */
  readonly memory?: () => Memory;
}

/** Takes a reading per second. The creator closes it. */
export class LoadGauge implements LoadSource {
  readonly #histogram: DelayHistogram;
  readonly #memory: () => Memory;
  readonly #stop: () => void;
  #lastDelayMs = 0;
  #loopDelayMs = 0;
  #memoryRead: Memory = { rssBytes: 0, heapPercent: 0 };
  /** Memory is read at most once per window, because reading it costs more than the rest. */
  #isMemoryOld = true;

  constructor({ clock, histogram, memory = processMemory }: LoadGaugeOptions) {
    const started = histogram === undefined ? startedHistogram() : { histogram, stop: () => undefined };
    this.#histogram = started.histogram;
    this.#memory = memory;
    const cancel: CancelTimer = every(clock, WINDOW_MS, () => {
      this.#measure();
    });
    this.#stop = () => {
      cancel();
      started.stop();
    };
  }

  /**
   * The last reading. Its delay is the 99th percentile of a window, and the smaller one of the last two windows, because a
   * single pause, such as a garbage collection, is no overload.
   */
  reading(): LoadReading {
    if (this.#isMemoryOld) this.#readMemory();
    return { loopDelayMs: this.#loopDelayMs, ...this.#memoryRead };
  }

  /** Stops measuring. */
  close(): void {
    this.#stop();
  }

  #measure(): void {
    const delayMs = this.#takeDelay();
    this.#loopDelayMs = Math.min(delayMs, this.#lastDelayMs);
    this.#isMemoryOld = true;
    this.#lastDelayMs = delayMs;
  }

  // Node opens a file to read the memory, which fails without a free descriptor. No call may fail for that.
  #readMemory(): void {
    this.#isMemoryOld = false;
    try {
      this.#memoryRead = this.#memory();
    } catch {
      // Keeps the last reading; the descriptor watch reports the cause.
    }
  }

  // Skipped when empty: both calls scan tens of thousands of counters.
  #takeDelay(): number {
    if (this.#histogram.count === 0) return 0;
    const delayMs = this.#histogram.percentile(99) / NS_PER_MS - SAMPLE_MS;
    this.#histogram.reset();
    return Math.max(0, delayMs);
  }
}

function startedHistogram(): { readonly histogram: DelayHistogram; readonly stop: () => void } {
  const histogram = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  histogram.enable();
  return { histogram, stop: () => histogram.disable() };
}

function processMemory(): Memory {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return { rssBytes: process.memoryUsage.rss(), heapPercent: (100 * used) / limit };
}
