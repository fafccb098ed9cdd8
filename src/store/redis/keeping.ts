// Whether a Redis server keeps its data after a restart and when its memory is full. A server with an append-only file may lose all data
// when its default user lacks rights: while loading the file, the server runs the writes of scripts as that user (redis/redis#14541), and
// drops the forbidden ones. Only reads settings; changes nothing.
import { AppError } from '../../base/errors.ts';
import type { RedisConnection } from './connection.ts';
import { reasonOf } from './failure.ts';
import { missingWrites, type RedisUse } from './rights.ts';

export interface Keeping {
  /** After a restart. `unsaved`: writes since the last copy are lost; `lost`: probably all data; `unknown`: our user may not ask. */
  readonly restart: 'kept' | 'unsaved' | 'lost' | 'unknown';
  /** The policy by which the server drops keys; undefined: it drops none, or our user may not ask. */
  readonly eviction: string | undefined;
}

/** Error words when our user may not ask, and of servers before version 7, which do not support the question. */
const UNASKED: ReadonlySet<string> = new Set(['NOPERM', 'ERR']);

/**
 * @param uses - the commands that write to the server.
 * @throws AppError `store_unavailable` when the server cannot be reached.
 */
export async function keepingOf(connection: Pick<RedisConnection, 'send'>, uses: readonly RedisUse[]): Promise<Keeping> {
  const [memory = '', persistence] = [
    await unlessUnasked(info(connection, 'memory')),
    await unlessUnasked(info(connection, 'persistence')),
  ];
  const { policy = 'noeviction' } = /^maxmemory_policy:(?<policy>[\w-]+)/mu.exec(memory)?.groups ?? {};
  const isLimited = /^maxmemory:[1-9]/mu.test(memory);
  return {
    restart: persistence === undefined ? 'unknown' : await restartOf(connection, persistence, uses),
    eviction: isLimited && policy !== 'noeviction' ? policy : undefined,
  };
}

async function restartOf(
  connection: Pick<RedisConnection, 'send'>,
  persistence: string,
  uses: readonly RedisUse[],
): Promise<Keeping['restart']> {
  if (!persistence.includes('aof_enabled:1')) return 'unsaved';
  const missing = await unlessUnasked(missingWrites(connection, 'default', uses));
  return missing === undefined ? 'unknown' : missing.length === 0 ? 'kept' : 'lost';
}

async function info(connection: Pick<RedisConnection, 'send'>, section: string): Promise<string> {
  return String(await connection.send(['INFO', section]));
}

/** The answer; undefined when our user may not ask. */
async function unlessUnasked<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    if (thrown instanceof AppError && UNASKED.has(reasonOf(thrown))) return undefined;
    throw thrown;
  }
}
