// When the caller of a call without an open stream is to be back on one: what is known of the platform's next step. Knows
// nothing of turns and of who asks.
import type { ListenSettings } from '../../dialog/output.ts';
import type { Listen } from '../../dialog/reply.ts';
import { listenSettings } from '../answer/final-next.ts';

/** How late the platform may be with a stream, ms: it notices the end of a prompt in its own time, and then connects. */
const LATE_MS = 3000;

/** Owned by a session. Times are monotonic ms. */
export class NextStream {
  readonly #defaults: ListenSettings;
  #listen: ListenSettings;
  #isTyping = false;
  #dueMs: number;

  /**
   * @param nowMs - when the session was made: its first stream is about to begin.
   * @param defaults - what a listen leaves out.
   */
  constructor(nowMs: number, defaults: ListenSettings) {
    this.#defaults = defaults;
    this.#listen = defaults;
    this.#dueMs = nowMs;
  }

  /** What the caller is asked for. */
  get listen(): ListenSettings {
    return this.#listen;
  }

  /** What the caller is asked for next. */
  listensFor(listen: Listen): void {
    this.#listen = listenSettings(listen, this.#defaults);
  }

  /** The caller has pressed a key: the digits come together, on a stream of their own (G-54). */
  keyPressed(): void {
    this.#isTyping = true;
  }

  /** An input has come whole. */
  inputComplete(): void {
    this.#isTyping = false;
  }

  /**
   * The last open stream was closed.
   *
   * @param playMs - how long its prompts still play: the next stream may come only after them (G-51).
   */
  closed(nowMs: number, playMs: number): void {
    this.#dueMs = nowMs + playMs + this.#silentMs();
  }

  /** The last open stream was cancelled: the platform comes back at once, or the caller is gone. */
  cancelled(nowMs: number): void {
    this.#dueMs = nowMs;
  }

  /** False once the caller is so late that nobody waits any more. */
  isAwaited(nowMs: number): boolean {
    return nowMs < this.#dueMs + LATE_MS;
  }

  /** How long a caller who does all that is expected is silent after the prompts, ms. */
  #silentMs(): number {
    const { accept, digits, interDigitMs, noInputMs } = this.#listen;
    if (this.#isTyping) return digits * interDigitMs;
    // G-35: who may only press keys is not listened to; a stream comes with a key, or with the report that none came (G-70).
    if (accept === 'keys') return noInputMs === 0 ? Infinity : noInputMs;
    return 0;
  }
}
