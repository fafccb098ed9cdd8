// The time axis of one call: ms since it began, with timers. Every event of the call has its time on this axis.
import type { CancelTimer, Clock } from '../../base/clock.ts';

/** The longest a call and its parts may take, ms. */
export interface CallLimits {
  /** The whole call. Default 120 000. */
  readonly callMs: number;
  /** Until the connection is established. Default 5 000. */
  readonly connectMs: number;
  /** Until the first sign of a reply, and from the last sign to the completion of an RPC. Default 10 000 (G-95 asks for 6 s). */
  readonly answerMs: number;
  /** Until SESSION_END is answered; at most `answerMs`. Default 5 000. */
  readonly hangUpMs: number;
}

/** The limits of a call that sets none. */
export const DEFAULT_LIMITS: CallLimits = { callMs: 120_000, connectMs: 5000, answerMs: 10_000, hangUpMs: 5000 };

/** Limits in real time, converted to the axis of a call at `pace` times real time. The server is no faster in such a call. */
export function stretched({ callMs, connectMs, answerMs, hangUpMs }: CallLimits, pace: number): CallLimits {
  return { callMs: callMs * pace, connectMs: connectMs * pace, answerMs: answerMs * pace, hangUpMs: hangUpMs * pace };
}

/** Time since a call began. */
export class CallClock {
  readonly #clock: Clock;
  readonly #zeroMs: number;

  /** The call begins now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#zeroMs = clock.monotonicMs();
  }

  /** ms since the call began. */
  nowMs(): number {
    return this.#clock.monotonicMs() - this.#zeroMs;
  }

  /** Runs `task` once after `delayMs`. */
  after(delayMs: number, task: () => void): CancelTimer {
    return this.#clock.after(Math.max(0, delayMs), task);
  }
}
