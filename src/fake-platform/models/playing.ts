// A running script: chooses texts, faults and delays for requests, and keeps the journal of requests.
import { abortAfter, pause } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { SaidWords } from './said-words.ts';
import type { ModelFault, ModelScript } from './script.ts';
import { seededNumbers } from '../../base/seeded-numbers.ts';

/** The 95th percentile of the standard normal distribution. */
const Z_95 = 1.645;

/** Makes a function that draws a delay, ms, from a median and a 95th percentile, ms; undefined draws 0. */
export function serviceTimes(seed: number): (times: readonly [median: number, p95: number] | undefined) => number {
  const next = seededNumbers(seed);
  return (times) => {
    if (times === undefined) return 0;
    const [median, p95] = times;
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    return median * Math.exp((Math.log(p95 / median) / Z_95) * normal);
  };
}

export interface ModelRequestEntry {
  readonly on: ModelFault['on'];
  /** When the request came, ms since the epoch. */
  readonly atMs: number;
  /** Delay of the answer by the script so far, ms. */
  waitedMs: number;
  /** The caller's words, the result of a tool, or the recognized text. */
  readonly text: string;
  readonly after?: string;
  readonly say?: string;
  readonly use?: string;
  readonly fault?: ModelFault['kind'];
}

const MAX_JOURNAL = 10_000;
/** Longest time for one answer, and duration of a `hang`, ms. */
export const LIMIT_MS = 120_000;

/** The creator calls `close`. */
export class PlayedScript {
  readonly script: ModelScript;
  readonly journal: ModelRequestEntry[] = [];
  readonly said = new SaidWords();
  readonly #onRequest: ((entry: ModelRequestEntry) => void) | undefined;
  readonly #drawMs: ReturnType<typeof serviceTimes>;
  readonly #closing = new AbortController();
  readonly #counts = new Map<ModelFault['on'], number>();
  #heard = 0;

  constructor(script: ModelScript, onRequest: ((entry: ModelRequestEntry) => void) | undefined) {
    this.script = script;
    this.#onRequest = onRequest;
    this.#drawMs = serviceTimes(script.seed ?? 1);
  }

  close(): void {
    this.#closing.abort('shutdown');
  }

  /**
   * The recognized text of an input: the words that its caller announced, otherwise those of the script.
   * @param mulaw - G.711 µ-law, 8 kHz.
   * @param isNext - false for the same input again, which gets the script's last text again.
   */
  heard(mulaw: Uint8Array, isNext: boolean): string {
    const announced = this.said.in(mulaw);
    if (announced !== undefined) return announced;
    return isNext ? this.next() : this.#text();
  }

  next(): string {
    this.#heard += 1;
    return this.#text();
  }

  #text(): string {
    return this.script.heard?.[this.#heard - 1] ?? '';
  }

  /** The fault that the script has for the next request to a service, if any. Counts the request, so call it once for each. */
  fault(on: ModelFault['on']): ModelFault | undefined {
    const nth = (this.#counts.get(on) ?? 0) + 1;
    this.#counts.set(on, nth);
    return this.script.faults?.find((fault) => fault.on === on && fault.nth === nth);
  }

  note(what: Omit<ModelRequestEntry, 'atMs' | 'waitedMs'>): ModelRequestEntry {
    const entry = { atMs: systemClock.nowMs(), waitedMs: 0, ...what };
    if (this.journal.push(entry) > MAX_JOURNAL) this.journal.shift();
    this.#onRequest?.(entry);
    return entry;
  }

  /**
   * Waits for a delay of the script, and records the delay in `entry`. @returns false when the wait was ended early.
   * @param gone - aborts when the client has left.
   */
  async takes(times: readonly [number, number] | undefined | 'for ever', entry: ModelRequestEntry, gone: AbortSignal): Promise<boolean> {
    const ms = times === 'for ever' ? LIMIT_MS : this.#drawMs(times);
    if (ms === 0) return !gone.aborted;
    entry.waitedMs += ms;
    return this.pauses(ms, gone);
  }

  /** Waits without recording the delay. @returns false when the wait was ended early. */
  async pauses(ms: number, gone: AbortSignal): Promise<boolean> {
    const whole = abortAfter(LIMIT_MS, systemClock, AbortSignal.any([this.#closing.signal, gone]));
    try {
      return (await pause(ms, systemClock, whole.signal)) && !gone.aborted;
    } finally {
      whole.dispose();
    }
  }
}
