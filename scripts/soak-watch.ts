// Watches the server while calls run: memory after a collection, its gauges, its handles, its log. Says at the end whether any
// of it grew or stayed behind.
import { setTimeout as pause } from 'node:timers/promises';
import { median, trend } from './bench/figures.ts';
import type { MeasuredProcess } from './bench/measured-process.ts';

/** One reading of the server. */
interface Sample {
  readonly atMs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}

const SAMPLE_MS = 10_000;
/** Longest wait for the metrics page, ms. */
const ANSWER_MS = 10_000;
const MB = 2 ** 20;
const HOUR_MS = 3_600_000;
/** A slope counts against the server when it lies above this even at the lower end of what the samples allow. */
const LIMIT = { heapMbPerHour: 6, rssMbPerHour: 30 } as const;
/** Standard errors that are granted to a slope. */
const GRANTED_ERRORS = 3;
/**
 * The slope goes through the means of so many stretches of time: memory wanders for minutes, and single samples, each like the one
 * before, would make a walk look like a rise.
 */
const STRETCHES = 8;

/** Its lines. */
export interface LoggedLine {
  readonly level: string;
  readonly msg: string;
}

/** Takes the server's stderr: its log as JSON lines, and whatever Node says. */
export class LogWatch {
  readonly #counts = new Map<string, number>();
  #errors = 0;
  readonly #onError: (line: string) => void;

  constructor(onError: (line: string) => void) {
    this.#onError = onError;
  }

  /** Lines of level error and worse, and lines that are no log at all. */
  get errors(): number {
    return this.#errors;
  }

  /** How often each warning was written. */
  get warnings(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  readonly take = (text: string): void => {
    const line = parsedLine(text);
    if (line === undefined) {
      // Node 20 says so of the synthesizer's interface.
      if (text.trim() === '' || text.includes('ExperimentalWarning') || text.includes('--trace-warnings')) return;
    } else if (line.level === 'warn') {
      this.#counts.set(line.msg, (this.#counts.get(line.msg) ?? 0) + 1);
      return;
    } else if (line.level !== 'error' && line.level !== 'fatal') return;
    this.#errors += 1;
    this.#onError(text);
  };
}

function parsedLine(text: string): LoggedLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line !== 'object' || line === null || !('level' in line) || !('msg' in line)) return undefined;
    return { level: String(line.level), msg: String(line.msg) };
  } catch {
    return undefined;
  }
}

/** How memory developed after the warm-up. */
export interface MemoryVerdict {
  readonly rssSlopeMbPerHour: number;
  readonly heapSlopeMbPerHour: number;
  readonly isFlat: boolean;
}

/** Reads the server's memory every ten seconds. `stop` must be called. */
export class MemoryWatch {
  readonly #process: MeasuredProcess;
  readonly #samples: Sample[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #startedAtMs = performance.now();

  constructor(process: MeasuredProcess) {
    this.#process = process;
    this.#timer = setInterval(() => {
      this.#sample().catch(() => undefined);
    }, SAMPLE_MS);
  }

  get latest(): Sample | undefined {
    return this.#samples.at(-1);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** @param warmUpMs - what was seen before counts no more. */
  verdict(warmUpMs: number): MemoryVerdict {
    const counted = this.#samples.filter(({ atMs }) => atMs >= warmUpMs);
    const heap = trend(stretchMeans(counted, ({ heapBytes }) => heapBytes));
    const rss = trend(stretchMeans(counted, ({ rssBytes }) => rssBytes));
    // Too few samples make no number, and prove nothing.
    const grows = ({ slope, error }: typeof heap, limit: number): boolean => !(slope - GRANTED_ERRORS * error <= limit);
    return {
      rssSlopeMbPerHour: rss.slope,
      heapSlopeMbPerHour: heap.slope,
      isFlat: !grows(heap, LIMIT.heapMbPerHour) && !grows(rss, LIMIT.rssMbPerHour),
    };
  }

  async #sample(): Promise<void> {
    const { heapUsed, external, rss } = await this.#process.ask('memory');
    this.#samples.push({ atMs: performance.now() - this.#startedAtMs, heapBytes: heapUsed + external, rssBytes: rss });
  }
}

/** Means of hours and MB over stretches of equal length. */
function stretchMeans(samples: readonly Sample[], bytesOf: (sample: Sample) => number): readonly { x: number; y: number }[] {
  const length = Math.ceil(samples.length / STRETCHES);
  return Array.from({ length: STRETCHES }, (_, index) => samples.slice(index * length, (index + 1) * length))
    .filter((stretch) => stretch.length > 0)
    .map((stretch) => ({
      x: stretch.reduce((sum, { atMs }) => sum + atMs, 0) / stretch.length / HOUR_MS,
      y: stretch.reduce((sum, sample) => sum + bytesOf(sample), 0) / stretch.length / MB,
    }));
}

/** What keeps the server's process alive, by kind. */
export type Handles = ReadonlyMap<string, number>;

/** Its handles now; the median of a few readings, because a timer of the moment is no leak. */
export async function handlesOf(process: MeasuredProcess): Promise<Handles> {
  const readings: Handles[] = [];
  for (let nth = 0; nth < 5; nth += 1) {
    const counts = new Map<string, number>();
    for (const kind of await process.ask('resources')) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    readings.push(counts);
    await pause(50);
  }
  const kinds = new Set(readings.flatMap((counts) => [...counts.keys()]));
  return new Map([...kinds].map((kind) => [kind, median(readings.map((counts) => counts.get(kind) ?? 0))]));
}

/** Handles that are there beyond those of before. */
export function moreHandles(before: Handles, after: Handles): readonly string[] {
  return [...after].flatMap(([kind, count]) => Array.from({ length: Math.max(0, count - (before.get(kind) ?? 0)) }, () => kind));
}

/** One metric of the server, all its series together. @throws Error when the server has no such metric, or does not answer. */
export async function gauge(opsPort: number, name: string): Promise<number> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const page = await (await fetch(`http://127.0.0.1:${String(opsPort)}/metrics`, { headers: { connection: 'close' }, signal })).text();
  if (!page.includes(`# TYPE ${name} `)) throw new Error(`the server has no metric ${name}`);
  return [...page.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (?<value>\\S+)$`, 'gmu'))].reduce(
    (sum, { groups }) => sum + Number(groups?.['value']),
    0,
  );
}
