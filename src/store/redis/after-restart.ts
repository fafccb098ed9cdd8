// Whether a Redis server still has its data after a restart. One that writes an append-only file and lets nobody in as its default
// user may lose all of it: while it loads the file it runs what a script wrote as that user (redis/redis#14541), and drops what
// the user may not do. Asks; changes nothing.
import { AppError } from '../../base/errors.ts';
import type { RedisConnection } from './connection.ts';
import { reasonOf } from './failure.ts';
import { missingWrites, type RedisUse } from './rights.ts';

/** `lost`: most likely, at least a part; `unknown`: our user may not ask. */
export type AfterRestart = 'kept' | 'lost' | 'unknown';

/** Answers to who lacks the right to ask, and before version 7, which cannot be asked. */
const UNASKED: ReadonlySet<string> = new Set(['NOPERM', 'ERR']);

/**
 * @param uses - what is written there.
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
