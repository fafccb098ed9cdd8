// Where a call goes on that this process does not hold any more: its record, brought to today's version of its bot.
import type { JsonValue } from '../base/json.ts';
import { toAppError } from '../base/errors.ts';
import type { Bot } from '../bot/bot.ts';
import { checkAnswer } from '../bot/reply-check.ts';
import type { EngineParts } from './parts.ts';
import type { SessionRecord } from './record.ts';
import type { SessionStartingPoint } from './session.ts';

/**
 * The starting point of a recorded call. A record of an older version of the bot is migrated and stored.
 *
 * @returns undefined when the call has to start over: the bot's state has changed its shape and the bot cannot migrate
 *   it. Its record is forgotten then.
 */
export async function startingPoint(
  record: SessionRecord,
  bot: Bot,
  { store, log }: EngineParts,
): Promise<SessionStartingPoint | undefined> {
  const point = { call: record.call, bot, mode: record.mode, turns: record.turns, listen: record.listen, isContinued: true };
  if (bot.version === record.bot.version || record.ended) return point;
  const state = migrated(record, bot, log);
  // A call that has not begun has no state to migrate.
  if (state === undefined && record.started) {
    await store.drop(record.call);
    return undefined;
  }
  const next = { ...record, state: state ?? null, bot: { id: bot.id, version: bot.version }, version: record.version + 1 };
  // Somebody else was faster: that one's record counts, and it names today's version, too.
  await store.commit(next, record.version);
  return point;
}

function migrated(record: SessionRecord, bot: Bot, log: EngineParts['log']): JsonValue | undefined {
  const ids = { conversationId: record.call.conversationId, bot: bot.id, fromVersion: record.bot.version, version: bot.version };
  try {
    const state: unknown = record.started ? bot.migrate(record.state, record.bot.version) : undefined;
    if (state !== undefined) return checkAnswer({ state, reply: { prompts: [], next: { kind: 'listen' } } }).state;
    if (record.started) log.warn(ids, 'the bot has no use for the state of an older version; its call starts over');
  } catch (thrown) {
    const error = toAppError(thrown, 'bot_failed');
    log.error({ ...ids, code: error.code, err: error }, 'migrate of the bot threw; its call starts over');
  }
  return undefined;
}
