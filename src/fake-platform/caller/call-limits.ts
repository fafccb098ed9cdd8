// How long a call and its parts may take. The one place for it: commands, scenarios and loads all begin here.

/** The longest that a call and its parts may take, ms. */
export interface CallLimits {
  /** The whole call. Default 120 000. */
  readonly callMs: number;
  /** Until the connection stands. Default 5 000. */
  readonly connectMs: number;
  /** Until a sign of a reply, and from the last one to the completion of an RPC. Default 10 000 (G-95 asks for 6 s). */
  readonly answerMs: number;
  /** Until SESSION_END is answered; never longer than any answer. Default 5 000. */
  readonly hangUpMs: number;
}

/** The limits of a call that was given none. */
export const DEFAULT_LIMITS: CallLimits = { callMs: 120_000, connectMs: 5000, answerMs: 10_000, hangUpMs: 5000 };

/** The same limits on the clock of a call that goes `pace` times as fast as life: a server takes its own time all the same. */
export function stretched({ callMs, connectMs, answerMs, hangUpMs }: CallLimits, pace: number): CallLimits {
  return { callMs: callMs * pace, connectMs: connectMs * pace, answerMs: answerMs * pace, hangUpMs: hangUpMs * pace };
}
