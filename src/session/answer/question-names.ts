// How a bot's questions to models and tools are named in the recording of a call.

/** Most turns whose questions are counted. */
const MAX_TURNS = 8;

/** The names of a call's questions: the same question of a turn has the same name whenever the call is played. */
export class QuestionNames {
  readonly #turns = new Map<string, Map<string, number>>();

  /** @param asked - what is asked; @returns the same, with how often it was asked in this turn. */
  next(turnId: string, asked: string): string {
    const counts = this.#turns.get(turnId) ?? new Map<string, number>();
    const count = (counts.get(asked) ?? 0) + 1;
    this.#turns.set(turnId, counts.set(asked, count));
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > MAX_TURNS && oldest !== undefined) this.#turns.delete(oldest);
    return `${asked}#${String(count)}`;
  }
}
