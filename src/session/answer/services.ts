// Names a bot's questions to models and tools, adds their answers to the recording of the call, and returns recorded answers in a replay.
import type { BotServices } from '../../bot/services.ts';
import type { Conversation } from '../conversation.ts';
import type { NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';

/** The service questions of a bot in one turn of a call that is recorded or replayed. */
export function botServices(
  { clock, answers }: Pick<EngineParts, 'clock' | 'answers'>,
  { recorder, questions }: Pick<Conversation, 'recorder' | 'questions'>,
  turn: NamedTurn,
): BotServices {
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
