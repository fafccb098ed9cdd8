// The times of a session: its last input, and when a caller without an open stream is expected back. Reads no clock;
// knows no turns.
import type { ListenSettings } from '../dialog/output.ts';

/** Tolerance for a new stream of the platform, ms: it notices the end of a prompt late, and then connects. */
const LATE_MS = 3000;

/** Owned by a session. Times are monotonic ms. */
export class SessionTimes {
  /** Start of the call, at any home. */
  readonly startedMs: number;
  /** Time of the last message. Written fifty times a second. */
  lastInputMs: number;
  /** When the last open turn was cancelled; undefined once the caller is back. */
  #vanishedMs: number | undefined;
  #dueMs: number;
  #endedMs: number | undefined;

  /**
   * @param nowMs - creation of the session, just before its first stream.
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
   * @param playMs - rest of its playout: the next stream may come only after it (G-51).
   * @param asked - the current listen settings.
   * @param isTyping - the caller has pressed a key; the digits come together on another stream (G-54).
   */
  closed(nowMs: number, playMs: number, asked: ListenSettings, isTyping: boolean): void {
    this.#vanishedMs = undefined;
    this.#dueMs = nowMs + playMs + silentMs(asked, isTyping);
  }

  /** The last open stream was cancelled: the platform returns at once, or the caller is gone. */
  cancelled(nowMs: number): void {
    this.#vanishedMs = nowMs;
    this.#dueMs = nowMs;
  }

  /** The session is over. */
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

  /** Time since a caller without an open stream disappeared without a hang-up, ms. */
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
