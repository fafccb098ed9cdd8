// Names a bot's questions to models and tools, notes their answers in the recording of the call, and gives recorded ones in a replay.
import type { BotServices } from '../../bot/services.ts';
import type { Conversation } from '../conversation.ts';
import type { NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';

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

/** For the bot's questions in a turn; undefined when nobody records or replays the call. */
export function botServices(
  { clock, answers }: Pick<EngineParts, 'clock' | 'answers'>,
  { recorder, questions }: Pick<Conversation, 'recorder' | 'questions'>,
  turn: NamedTurn,
): BotServices | undefined {
  if (recorder === undefined && answers === undefined) return undefined;
  return {
    ask: (service, name) => {
      const key = questions.next(turn.id, name);
      const askedAtMs = clock.monotonicMs();
      return {
        recorded: answers?.(turn.id, service, key),
        answered: (answer) => recorder?.serviceAnswered(turn, { service, key, tookMs: clock.monotonicMs() - askedAtMs, answer }),
      };
    },
  };
}
