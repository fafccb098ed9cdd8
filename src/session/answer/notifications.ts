// Notifies bots of events. The return value of the handler is the bot's new state; a failed handler changes nothing.
import { linkForeignAbort, waitAtMost } from '../../base/abort.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { NotifyingEvent } from '../../bot/bot.ts';
import { runNote } from '../../bot/run-handler.ts';
import type { Conversation } from '../conversation.ts';
import type { NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';
import { migrated } from '../snapshot/migration.ts';
import { botContext } from './bot-question.ts';

/** Time limit of a handler for notifications, ms: replies wait for it. */
const NOTIFY_LIMIT_MS = 500;

/** Notifies the bot of a conversation; must not be called while a question is running. Never throws. */
export async function notify(parts: EngineParts, conversation: Conversation, event: NotifyingEvent, turn: NamedTurn): Promise<void> {
  try {
    await run(parts, conversation, event, turn);
  } catch (thrown) {
    parts.observer.botFailed?.(conversation.call, turn.id, toAppError(thrown, 'bot_failed'));
  }
}

async function run(parts: EngineParts, conversation: Conversation, event: NotifyingEvent, turn: NamedTurn): Promise<void> {
  const { bot, snapshot: found } = conversation;
  if (!found.started || (found.ended && event.type !== 'session_end')) return;
  const snapshot = found.bot.version === bot.version ? found : migrated(bot, found, parts);
  const limit = linkForeignAbort();
  try {
    const work = runNote(bot, snapshot.state, event, botContext(parts, conversation, turn, limit.signal), parts.settings.maxStateBytes);
    const waited = await waitAtMost(work, NOTIFY_LIMIT_MS, parts.clock);
    if (waited.kind !== 'value') throw new AppError('bot_timeout', `the handler of ${event.type} took too long`);
    // Only on a change: a reply that is lost on its way is undone only if the snapshot is still the same. And only where no such reply was
    // undone meanwhile: its state would come back without the rest of it.
    if (waited.value !== found.state && conversation.snapshot === found) conversation.snapshot = { ...snapshot, state: waited.value };
  } finally {
    limit.abort('deadline');
  }
}
