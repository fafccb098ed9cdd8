// A record that another version of its bot has written, brought to the version that is here. Writes nothing: the next commit
// of whoever has claimed the call does.
import { AppError, toAppError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { Bot } from '../bot/bot.ts';
import { checkState } from '../bot/reply-check.ts';
import type { EngineParts } from './parts.ts';
import { demandSmall } from './record-size.ts';
import { firstRecord, type SessionRecord } from './record.ts';

/** What is needed of the engine. */
type MigrationParts = Pick<EngineParts, 'log' | 'settings'>;

/**
 * The record as the bot of this process can use it. A call whose bot has no use for an older state starts over.
 *
 * @throws AppError `bot_outdated` for a state of a newer version that the bot has no use for: its caller is handed over, rather than
 *   beginning again.
 */
export function recordFor(bot: Bot, record: SessionRecord, parts: MigrationParts): SessionRecord {
  if (bot.version === record.bot.version || record.ended) return record;
  const today = { ...record, bot: { id: bot.id, version: bot.version } };
  // A call that has not begun has no state to migrate.
  if (!record.started) return today;
  const state = migrated(record, bot, parts);
  if (state !== undefined) return { ...today, state };
  if (record.bot.version > bot.version) {
    throw new AppError('bot_outdated', 'the call goes on with a newer version of its bot than this server has', {
      details: { bot: bot.id, version: bot.version, newerVersion: record.bot.version },
    });
  }
  return { ...firstRecord({ call: record.call, bot, mode: record.mode }), version: record.version };
}

function migrated(record: SessionRecord, bot: Bot, { log, settings }: MigrationParts): JsonValue | undefined {
  const ids = { conversationId: record.call.conversationId, bot: bot.id, fromVersion: record.bot.version, version: bot.version };
  try {
    const state: unknown = bot.migrate(record.state, record.bot.version);
    if (state !== undefined) {
      const checked = checkState(state);
      demandSmall(checked, settings.maxRecordBytes);
      return checked;
    }
    log.warn(ids, 'the bot has no use for the state of another version');
  } catch (thrown) {
    const error = toAppError(thrown, 'bot_failed');
    log.error({ ...ids, code: error.code, err: error }, 'migrate of the bot threw');
  }
  return undefined;
}
