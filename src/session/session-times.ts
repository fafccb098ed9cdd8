// The times of a session: its last input, and when a caller without an open stream is expected back. Does not read a clock;
// knows no turns.
import type { ListenSettings } from '../dialog/output.ts';

/** How late a new stream of the platform may come, ms: the platform notices the end of a prompt late, and then connects. */
const LATE_MS = 3000;

/** Owned by a session. Times are monotonic ms. */
export class SessionTimes {
  /** Start of the call at its first home. */
  readonly startedMs: number;
  /** Time of the last message. Set fifty times a second. */
  lastInputMs: number;
  /** Set when the last open turn was cancelled, until the caller is back: the time. */
  #vanishedMs: number | undefined;
  #dueMs: number;
  #endedMs: number | undefined;

  /**
   * @param nowMs - time at which the session is made, just before its first stream.
   * @param ageMs - age of the call.
   */
  constructor(nowMs: number, ageMs: number) {
    this.startedMs = nowMs - ageMs;
    this.lastInputMs = nowMs;
    this.#dueMs = nowMs;
  }

  /**
   * The last open stream was closed.
   *
   * @param playMs - what is left of the playout: the next stream may come only after it (G-51).
   * @param asked - the current listen settings.
   * @param isTyping - whether the caller has pressed a key; the digits come together on another stream (G-54).
   */
  closed(nowMs: number, playMs: number, asked: ListenSettings, isTyping: boolean): void {
    this.#vanishedMs = undefined;
    this.#dueMs = nowMs + playMs + silentMs(asked, isTyping);
  }

  /** The last open stream was cancelled: either the platform opens another one at once, or the caller is gone. */
  cancelled(nowMs: number): void {
    this.#vanishedMs = nowMs;
    this.#dueMs = nowMs;
  }

  /** The session has ended. */
  ended(nowMs: number): void {
    this.#endedMs = nowMs;
  }

  /** Whether a caller without an open stream is still expected back. */
  isAwaited(nowMs: number): boolean {
    return nowMs < this.#dueMs + LATE_MS;
  }

  /** Time since the last message, ms. */
  idleMs(nowMs: number): number {
    return nowMs - this.lastInputMs;
  }

  /** Time since the last stream was cancelled, ms; 0 when the caller is back. */
  vanishedForMs(nowMs: number): number {
    return nowMs - (this.#vanishedMs ?? nowMs);
  }

  /** Time since the end of the session, ms; undefined while it runs. */
  endedForMs(nowMs: number): number | undefined {
    return this.#endedMs === undefined ? undefined : nowMs - this.#endedMs;
  }
}

/** Longest expected silence of a caller after the prompts, ms. */
function silentMs({ accept, digits, interDigitMs, noInputMs }: ListenSettings, isTyping: boolean): number {
  if (isTyping) return digits * interDigitMs;
  // G-35: with keys only there is no audio stream; the next stream comes with a key or with the no-input event
  // (G-70).
  if (accept === 'keys') return noInputMs === 0 ? Infinity : noInputMs;
  return 0;
}
