// When something last happened in a session. Looks at no clock itself.

/** Owned by a session. Times are monotonic ms. */
export class SessionTimes {
  /** When the call began, wherever that was. */
  readonly startedMs: number;
  #lastInputMs: number;
  /** When the last open turn was cancelled; undefined again as soon as something arrives. */
  #vanishedMs: number | undefined;
  #endedMs: number | undefined;

  /** @param ageMs - of the call, when its session is made at `nowMs`. */
  constructor(nowMs: number, ageMs: number) {
    this.startedMs = nowMs - ageMs;
    this.#lastInputMs = nowMs;
  }

  /** When something last arrived. */
  get lastInputMs(): number {
    return this.#lastInputMs;
  }

  /** Something arrived. */
  touched(nowMs: number): void {
    this.#lastInputMs = nowMs;
    this.#vanishedMs = undefined;
  }

  /** The last open turn was cancelled. */
  vanished(nowMs: number): void {
    this.#vanishedMs = nowMs;
  }

  /** The session is over. */
  ended(nowMs: number): void {
    this.#endedMs = nowMs;
  }

  /** How long nothing has arrived, ms. */
  idleMs(nowMs: number): number {
    return nowMs - this.#lastInputMs;
  }

  /** How long the caller has been gone without a word, ms. */
  vanishedForMs(nowMs: number): number {
    return nowMs - (this.#vanishedMs ?? nowMs);
  }

  /** How long the session has been over, ms; undefined while it runs. */
  endedForMs(nowMs: number): number | undefined {
    return this.#endedMs === undefined ? undefined : nowMs - this.#endedMs;
  }
}
