// Problems of a reachable Redis server, for the doctor and for warnings at start: missing rights of our user, and data that
// a restart would lose.
import { fault, warning, type Found } from '../admin/doctor/finding.ts';
import { callsUse } from '../cluster/redis-use.ts';
import { administrationUse } from '../store/redis/admin-store.ts';
import { afterRestart } from '../store/redis/after-restart.ts';
import type { RedisConnection } from '../store/redis/connection.ts';
import { FOR_EXAMINATION, missingRights } from '../store/redis/rights.ts';
import type { Settings } from './config/settings.ts';

/** The settings to name in the advice. */
export interface RedisSettings {
  readonly store: { readonly redis: Pick<Settings['store']['redis'], 'keyPrefix' | 'user'> };
  readonly admin: Pick<Settings['admin'], 'enabled'>;
}

const LOST_AFTER_RESTART = warning(
  'store_forgets',
  'the Redis server will have lost its data after a restart: its default user may not write what the append-only file holds',
  'define that user as `user default off ~* &* +@all`; nobody can log in as it (docs/shared-calls.md)',
);

/** @throws AppError `store_unavailable` when Redis is unreachable. */
export async function examineRedis(
  connection: Pick<RedisConnection, 'send'>,
  { store: { redis }, admin }: RedisSettings,
): Promise<readonly Found[]> {
  const uses = [callsUse(redis.keyPrefix), ...(admin.enabled ? [administrationUse(redis.keyPrefix)] : [])];
  const missing = await missingRights(connection, redis.user ?? 'default', uses);
  const isLost = (await afterRestart(connection, uses)) === 'lost';
  return [...(missing.length === 0 ? [] : [rightMissing(missing)]), ...(isLost ? [LOST_AFTER_RESTART] : [])];
}

function rightMissing(missing: readonly string[]): Found {
  // A user without the right to ask fails only this examination.
  const found = missing.every((right) => FOR_EXAMINATION.includes(right)) ? warning : fault;
  return found(
    'store_right_missing',
    `the user of the Redis server lacks a right: ${missing.join(' ')}`,
    'give the user what docs/shared-calls.md lists, on all keys that begin with store.redis.key_prefix',
  );
}
