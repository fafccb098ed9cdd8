// How long one caller may be without an answer. Whoever acts again while the bot still thinks takes its question away and
// asks another one; each has the turn's deadline, and without a bound over all of them a bot that hangs would leave an
// active caller in silence for ever.

/** Bound over all questions that follow each other without an answer, in deadlines of one turn. */
const WHOLE_DEADLINES = 1.5;
/** What the newest question has in any case, ms: it may come at the very end of that time. */
const LEAST_MS = 1000;

/** Owned by a session. Times are monotonic ms. */
export class AnswerLimit {
  #waitingSinceMs: number | undefined;

  /**
   * The bot is about to be asked.
   *
   * @param completeAtMs - since when the caller waits for this answer.
   * @param deadlineMs - of one turn.
   * @returns how long the bot has, ms.
   */
  forQuestion(completeAtMs: number, nowMs: number, deadlineMs: number): number {
    this.#waitingSinceMs ??= completeAtMs;
    const leftMs = this.#waitingSinceMs + deadlineMs * WHOLE_DEADLINES - nowMs;
    return Math.min(deadlineMs, Math.max(leftMs, LEAST_MS));
  }

  /** The caller hears something. */
  answered(): void {
    this.#waitingSinceMs = undefined;
  }
}
