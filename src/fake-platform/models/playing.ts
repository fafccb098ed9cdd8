// A script while it is played: which input comes next, what goes wrong now, how long things take, and the journal of what was asked.
import { abortAfter, pause } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import type { ModelFault, ModelScript } from './script.ts';
import { serviceTimes } from './service-times.ts';

/** One request, and what was answered. */
export interface ModelRequestEntry {
  readonly on: ModelFault['on'];
  /** When it came, ms of the clock. */
  readonly atMs: number;
  /** What the script made it wait in all, ms: so far, while it is answered. */
  waitedMs: number;
  /** Words of the caller, or what a tool returned; the text that was recognized. */
  readonly text: string;
  readonly after?: string;
  readonly say?: string;
  readonly use?: string;
  readonly fault?: ModelFault['kind'];
}

const MAX_JOURNAL = 10_000;
/** Longest time in which a request is answered, and for which `hang` hangs, ms. */
export const LIMIT_MS = 120_000;

/** The creator calls `close`. */
export class PlayedScript {
  readonly script: ModelScript;
  readonly journal: ModelRequestEntry[] = [];
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

  /** What is understood of an input. @param isNext - of another input than the last time. */
  heard(isNext: boolean): string {
    if (isNext) this.#heard += 1;
    return this.script.heard?.[this.#heard - 1] ?? '';
  }

  /** What goes wrong with this request; each is asked once. */
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
   * Waits as long as the script says. @returns false when nobody waits any more.
   *
   * @param gone - aborts when the client has left.
   */
  async takes(times: readonly [number, number] | undefined | 'for ever', entry: ModelRequestEntry, gone: AbortSignal): Promise<boolean> {
    const ms = times === 'for ever' ? LIMIT_MS : this.#drawMs(times);
    if (ms === 0) return !gone.aborted;
    entry.waitedMs += ms;
    return this.pauses(ms, gone);
  }

  /** Waits so long, which is no delay of the script. @returns false when nobody waits any more. */
  async pauses(ms: number, gone: AbortSignal): Promise<boolean> {
    const whole = abortAfter(LIMIT_MS, systemClock, AbortSignal.any([this.#closing.signal, gone]));
    try {
      return (await pause(ms, systemClock, whole.signal)) && !gone.aborted;
    } finally {
      whole.dispose();
    }
  }
}
