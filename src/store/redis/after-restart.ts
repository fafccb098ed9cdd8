// Whether a Redis server still has its data after a restart. One that writes an append-only file and lets nobody in as its default
// user may lose all of it: while it loads the file it runs what a script wrote as that user (redis/redis#14541), and drops what
// the user may not do. Asks; changes nothing.
import { AppError } from '../../base/errors.ts';
import type { RedisConnection } from './connection.ts';
import { reasonOf } from './failure.ts';

/** `lost`: most likely; `unknown`: our user may not ask. */
export type AfterRestart = 'kept' | 'lost' | 'unknown';

/** Answers to who lacks the right to ask, and before version 7, which cannot be asked. */
const UNASKED: ReadonlySet<string> = new Set(['NOPERM', 'ERR']);

/** What it says to an operator. */
export const LOST_AFTER_RESTART = {
  what: 'the Redis server will have lost its data after a restart: its default user may not write what the append-only file holds',
  mend: 'define that user as `user default off ~* &* +@all`; nobody can log in as it (docs/operations.md)',
};

/**
 * @param keyPrefix - what our keys begin with.
 * @throws AppError `store_unavailable` when it cannot be reached.
 */
export async function afterRestart(connection: Pick<RedisConnection, 'send'>, keyPrefix: string): Promise<AfterRestart> {
  try {
    const persistence = String(await connection.send(['INFO', 'persistence']));
    if (!persistence.includes('aof_enabled:1')) return 'kept';
    const answer = String(await connection.send(['ACL', 'DRYRUN', 'default', 'HSET', `${keyPrefix}:call:`, 'version', '1']));
    return answer === 'OK' ? 'kept' : 'lost';
  } catch (thrown) {
    if (thrown instanceof AppError && UNASKED.has(reasonOf(thrown))) return 'unknown';
    throw thrown;
  }
}
