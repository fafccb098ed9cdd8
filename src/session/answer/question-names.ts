// Names a bot's questions to models and tools in the recording of a call.

/** Most turns whose questions are counted at the same time. */
const MAX_TURNS = 8;

/** The names of a call's questions: in every replay the same question of a turn has the same name. */
export class QuestionNames {
  readonly #turns = new Map<string, Map<string, number>>();

  /** @param asked - the question. @returns the question with the number of times it was asked in this turn. */
  next(turnId: string, asked: string): string {
    const counts = this.#turns.get(turnId) ?? new Map<string, number>();
    const count = (counts.get(asked) ?? 0) + 1;
    this.#turns.set(turnId, counts.set(asked, count));
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MAX_TURNS && oldest !== undefined) this.#turns.delete(oldest);
    return `${asked}#${String(count)}`;
  }
}
