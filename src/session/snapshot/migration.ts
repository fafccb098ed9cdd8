// A snapshot that another version of its bot has made, brought to the version that is here.
import { AppError, toAppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Bot } from '../../bot/bot.ts';
import { checkState } from '../../bot/reply-check.ts';
import type { EngineParts } from '../parts.ts';
import { firstSnapshot, type Snapshot } from './snapshot.ts';

/** What is needed of the engine. */
type MigrationParts = Pick<EngineParts, 'log' | 'settings'>;

/**
 * A snapshot of another version as the bot of this process can use it. A call whose bot has no use for an older state starts over.
 *
 * @throws AppError `bot_outdated` for a state of a newer version that the bot has no use for: its caller is transferred, rather than
 *   beginning again.
 */
export function migrated(bot: Bot, snapshot: Snapshot, parts: MigrationParts): Snapshot {
  if (snapshot.ended) return snapshot;
  const today = { ...snapshot, bot: { id: bot.id, version: bot.version } };
  // A call that has not begun has no state to migrate.
  if (!snapshot.started) return today;
  const state = migratedState(snapshot, bot, parts);
  if (state !== undefined) return { ...today, state };
  if (snapshot.bot.version > bot.version) {
    throw new AppError('bot_outdated', 'the call goes on with a newer version of its bot than this server has', {
      details: { bot: bot.id, version: bot.version, newerVersion: snapshot.bot.version },
    });
  }
  return firstSnapshot({ call: snapshot.call, bot, mode: snapshot.mode });
}

function migratedState(snapshot: Snapshot, bot: Bot, { log, settings }: MigrationParts): JsonValue | undefined {
  const ids = { conversationId: snapshot.call.conversationId, bot: bot.id, fromVersion: snapshot.bot.version, version: bot.version };
  try {
    const state: unknown = bot.migrate(snapshot.state, snapshot.bot.version);
    if (state !== undefined) return checkState(state, settings.maxStateBytes);
    log.warn(ids, 'the bot has no use for the state of another version');
  } catch (thrown) {
    const error = toAppError(thrown, 'bot_failed');
    log.error({ ...ids, code: error.code, err: error }, 'migrate of the bot threw');
  }
  return undefined;
}
