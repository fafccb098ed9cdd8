// Whether a Redis server keeps its data after a restart. A server with an append-only file and without a permitted default user may
// lose all of it: while it loads the file, it runs the writes of scripts as that user (redis/redis#14541), and drops those
// that the user may not do. Only asks; changes nothing.
import { AppError } from '../../base/errors.ts';
import type { RedisConnection } from './connection.ts';
import { reasonOf } from './failure.ts';
import { missingWrites, type RedisUse } from './rights.ts';

/** `lost`: most likely, at least in part; `unknown`: our user may not ask. */
export type AfterRestart = 'kept' | 'lost' | 'unknown';

/** Errors for a user without the right to ask, and of servers before version 7, which cannot be asked. */
const UNASKED: ReadonlySet<string> = new Set(['NOPERM', 'ERR']);

/**
 * @param uses - the commands that write there.
 * @throws AppError `store_unavailable` when it cannot be reached.
 */
export async function afterRestart(connection: Pick<RedisConnection, 'send'>, uses: readonly RedisUse[]): Promise<AfterRestart> {
  try {
    const persistence = String(await connection.send(['INFO', 'persistence']));
    if (!persistence.includes('aof_enabled:1')) return 'kept';
    return (await missingWrites(connection, 'default', uses)).length === 0 ? 'kept' : 'lost';
  } catch (thrown) {
    if (thrown instanceof AppError && UNASKED.has(reasonOf(thrown))) return 'unknown';
    throw thrown;
  }
}
