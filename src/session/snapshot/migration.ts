// Migrates a snapshot of another version of its bot.
import { AppError, toAppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Bot } from '../../bot/bot.ts';
import { checkState } from '../../bot/reply-check.ts';
import type { EngineParts } from '../parts.ts';
import { firstSnapshot, type Snapshot } from './snapshot.ts';

type MigrationParts = Pick<EngineParts, 'log' | 'settings'>;

/**
 * A snapshot migrated to this process's version of the bot. When the bot rejects an older state, the call starts over.
 *
 * @throws AppError `bot_outdated` when the bot rejects a state of a newer version: the caller is transferred
 * instead of starting over.
 */
export function migrated(bot: Bot, snapshot: Snapshot, parts: MigrationParts): Snapshot {
  if (snapshot.ended) return snapshot;
  const today = { ...snapshot, bot: { id: bot.id, version: bot.version } };
  // There is no bot state yet.
  if (!snapshot.started) return today;
  const state = migratedState(snapshot, bot, parts);
  if (state !== undefined) return { ...today, state };
  if (snapshot.bot.version > bot.version) {
    throw new AppError('bot_outdated', 'the call has a state of a newer version of its bot than this server has', {
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
    log.warn(ids, 'the bot rejected the state of another version');
  } catch (thrown) {
    const error = toAppError(thrown, 'bot_failed');
    log.error({ ...ids, code: error.code, err: error }, 'migrate of the bot threw');
  }
  return undefined;
}
