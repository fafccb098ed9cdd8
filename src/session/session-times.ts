// When something last happened in a session, and when the caller of one without an open stream is to be back: what is known of the
// platform's next step. Reads no clock itself, and knows nothing of turns and of who asks.
import type { ListenSettings } from '../dialog/output.ts';

/** How late the platform may be with a stream, ms: it notices the end of a prompt in its own time, and then connects. */
const LATE_MS = 3000;

/** Owned by a session. Times are monotonic ms. */
export class SessionTimes {
  /** When the call began, wherever that was. */
  readonly startedMs: number;
  /** When something last arrived. Written fifty times a second. */
  lastInputMs: number;
  /** When the last open turn was cancelled, unless the caller has come back since. */
  #vanishedMs: number | undefined;
  #dueMs: number;
  #endedMs: number | undefined;

  /**
   * @param nowMs - when the session was made: its first stream is about to begin.
   * @param ageMs - of the call by then.
   */
  constructor(nowMs: number, ageMs: number) {
    this.startedMs = nowMs - ageMs;
    this.lastInputMs = nowMs;
    this.#dueMs = nowMs;
  }

  /**
   * The last open stream was closed.
   *
   * @param playMs - how long its prompts still play: the next stream may come only after them (G-51).
   * @param asked - what the caller is asked for.
   * @param isTyping - the caller has pressed a key: the digits come together, on a stream of their own (G-54).
   */
  closed(nowMs: number, playMs: number, asked: ListenSettings, isTyping: boolean): void {
    this.#vanishedMs = undefined;
    this.#dueMs = nowMs + playMs + silentMs(asked, isTyping);
  }

  /** The last open stream was cancelled: the platform comes back at once, or the caller is gone. */
  cancelled(nowMs: number): void {
    this.#vanishedMs = nowMs;
    this.#dueMs = nowMs;
  }

  /** The session is over. */
  ended(nowMs: number): void {
    this.#endedMs = nowMs;
  }

  /** False once the caller, who has no open stream, is so late that nobody waits any more. */
  isAwaited(nowMs: number): boolean {
    return nowMs < this.#dueMs + LATE_MS;
  }

  /** How long nothing has arrived, ms. */
  idleMs(nowMs: number): number {
    return nowMs - this.lastInputMs;
  }

  /** How long the caller, who has no open stream, has been gone without a hang-up, ms. */
  vanishedForMs(nowMs: number): number {
    return nowMs - (this.#vanishedMs ?? nowMs);
  }

  /** How long the session has been over, ms; undefined while it runs. */
  endedForMs(nowMs: number): number | undefined {
    return this.#endedMs === undefined ? undefined : nowMs - this.#endedMs;
  }
}

/** How long a caller who does all that is expected is silent after the prompts, ms. */
function silentMs({ accept, digits, interDigitMs, noInputMs }: ListenSettings, isTyping: boolean): number {
  if (isTyping) return digits * interDigitMs;
  // G-35: who may only press keys is not listened to; a stream comes with a key, or with the report that none came (G-70).
  if (accept === 'keys') return noInputMs === 0 ? Infinity : noInputMs;
  return 0;
}
