// What a bot gets beside state and event.
import type { BotContext } from '../../bot/bot.ts';
import type { Conversation } from '../conversation.ts';
import type { NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';

/** The context of a handler. @throws AppError `bot_failed` when the bot could not open what it keeps for the call. */
export function botContext(
  { clock, log }: EngineParts,
  { call, bot, live }: Conversation,
  turn: NamedTurn,
  signal: AbortSignal,
): BotContext<unknown> {
  return {
    call,
    live: bot.live === undefined ? undefined : live.value,
    turnId: turn.id,
    signal,
    clock,
    log: log.child({ bot: bot.id, ...turn.logIds }),
  };
}
