// What wakes a bot: a time of silence, or something that came from outside and waits until the platform gives a chance to say it.
import { throughJson, type JsonValue } from '../base/json.ts';
import type { Heard } from '../dialog/heard.ts';

/** The time of `listen({ wakeMs })` has passed in silence, or {@link LiveContext.wake} was called. */
export interface Woken {
  readonly type: 'woken';
  /** `timer` after `wakeMs`, otherwise what `wake` was given. */
  readonly name: string;
  /** What `wake` was given; null when it was nothing. */
  readonly data: JsonValue;
  /** How much of the last reply the caller has heard. */
  readonly heard: Heard;
  /** How long the caller has been silent, ms; an estimate. */
  readonly silentMs: number;
}

/** The name of a wake by the timer of `wakeMs`. */
export const TIMER = 'timer';

/** What is listened for, and how long the caller has been silent before that. */
export interface Silence {
  readonly wakeMs?: number | undefined;
  /** 0: never reported (G-82). */
  readonly noInputMs: number;
  readonly silentMs?: number | undefined;
}

/** Shortest time after which no input is reported, ms: 0 would be never. */
const LEAST_MS = 100;

/** When the platform is to report no input to a bot that may be woken, ms; 0: never. */
export function reportAfterMs({ wakeMs = Infinity, noInputMs, silentMs = 0 }: Silence): number {
  const leftMs = noInputMs === 0 ? Infinity : Math.max(noInputMs - silentMs, Math.min(noInputMs, LEAST_MS));
  const reportMs = Math.min(wakeMs, leftMs);
  return reportMs === Infinity ? 0 : reportMs;
}

/** Whether a report of no input is the timer of `wakeMs`. @param sinceReplyMs - the silence since the last reply. */
export function isTimer({ wakeMs = Infinity, noInputMs, silentMs = 0 }: Silence, sinceReplyMs: number): boolean {
  return sinceReplyMs >= wakeMs && (noInputMs === 0 || silentMs + sinceReplyMs < noInputMs);
}

/** Something that waits for the bot. */
export type Wake = Pick<Woken, 'name' | 'data'>;

/** Most wakes that wait at once. */
const MAX_WAITING = 8;
/** Longest data, characters of JSON: it travels with a call that moves. */
const MAX_DATA_CHARS = 2000;

/** The waiting wakes of one call, in the order in which they came; one of each name. */
export class Wakes {
  #waiting: ReadonlyMap<string, Wake>;
  #asked: Wake | undefined;

  /** @param waiting - at the home before. */
  constructor(waiting: readonly Wake[] = []) {
    this.#waiting = byName(waiting);
  }

  /** For a snapshot. */
  get waiting(): readonly Wake[] {
    return [...this.#waiting.values()];
  }

  /**
   * Data of the same name is replaced.
   *
   * @returns false when too many wait.
   * @throws TypeError for a name that is none, and for data that is no JSON or too long.
   */
  add(name: string, data: JsonValue = null): boolean {
    if (name === '' || name === TIMER || name.length > 100) throw new TypeError(`wake needs a name of 1 to 100 characters, not "${TIMER}"`);
    const wake = { name, data: jsonOf(data) };
    if (!this.#waiting.has(name) && this.#waiting.size >= MAX_WAITING) return false;
    this.#waiting = new Map([...this.#waiting, [name, wake]]);
    return true;
  }

  /** The wake that the bot is asked about next; it waits until it is answered. */
  next(): Wake | undefined {
    [this.#asked] = this.#waiting.values();
    return this.#asked;
  }

  /** The wake that was asked about last is answered, unless it has come again since. */
  answered(): void {
    this.#waiting = byName(this.waiting.filter((wake) => wake !== this.#asked));
  }

  /** The answer was lost: what waited before it waits again. */
  takeBack(before: readonly Wake[]): void {
    this.#waiting = byName([...before, ...this.waiting]);
  }
}

function byName(wakes: readonly Wake[]): ReadonlyMap<string, Wake> {
  return new Map(wakes.map((wake) => [wake.name, wake]));
}

function jsonOf(data: JsonValue): JsonValue {
  try {
    return throughJson(data, MAX_DATA_CHARS);
  } catch (cause) {
    throw new TypeError(`wake takes JSON of ${String(MAX_DATA_CHARS)} characters at most`, { cause });
  }
}
