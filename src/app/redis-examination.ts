// Problems of a reachable Redis server, for the doctor and for warnings at start: rights that our user lacks, and data that a restart would
// lose.
import { skewFindings } from '../admin/doctor/access-checks.ts';
import { fault, warning, type Found } from '../admin/doctor/finding.ts';
import type { Clock } from '../base/clock.ts';
import { callsUse } from '../cluster/redis-use.ts';
import { administrationUse } from '../store/redis/admin-store.ts';
import { keepingOf } from '../store/redis/keeping.ts';
import type { RedisConnection } from '../store/redis/connection.ts';
import { FOR_EXAMINATION, missingRights } from '../store/redis/rights.ts';
import type { Settings } from './config/settings.ts';

/** The settings that the advice names. */
export interface RedisSettings {
  readonly store: { readonly redis: Pick<Settings['store']['redis'], 'keyPrefix' | 'user'> };
  readonly admin: Pick<Settings['admin'], 'enabled'>;
}

const LOST_AFTER_RESTART = warning(
  'store_forgets',
  'the Redis server will have lost its data after a restart: its default user may not write what the append-only file holds',
  'define that user as `user default off ~* &* +@all`; nobody can log in as it (docs/shared-calls.md)',
);

const UNSAVED = warning(
  'store_unsaved',
  'a restart of the Redis server loses tokens and nonces written since its last copy: it writes no append-only file',
  'set `appendonly yes` (docs/shared-calls.md)',
);

/** @throws AppError `store_unavailable` when Redis is unreachable. */
export async function examineRedis(
  connection: Pick<RedisConnection, 'send'>,
  { store: { redis }, admin }: RedisSettings,
): Promise<readonly Found[]> {
  const uses = [callsUse(redis.keyPrefix), ...(admin.enabled ? [administrationUse(redis.keyPrefix)] : [])];
  const missing = await missingRights(connection, redis.user ?? 'default', uses);
  const { restart, eviction } = await keepingOf(connection, uses);
  return [
    ...(missing.length === 0 ? [] : [rightMissing(missing)]),
    ...(restart === 'lost' ? [LOST_AFTER_RESTART] : []),
    // Calls in progress are written again; tokens and nonces are not.
    ...(restart === 'unsaved' && admin.enabled ? [UNSAVED] : []),
    ...(eviction === undefined ? [] : [evicts(eviction)]),
  ];
}

/** Compares our clock with that of the Redis server. Empty when our user may not ask for its time. */
export async function redisClockFindings(connection: Pick<RedisConnection, 'send'>, clock: Clock): Promise<readonly Found[]> {
  const beforeMs = clock.nowMs();
  const answer = await connection.send(['TIME']).catch(() => undefined);
  const seconds = Array.isArray(answer) ? Number(answer[0]) : Number.NaN;
  return skewFindings(seconds * 1000, { beforeMs, afterMs: clock.nowMs() }, 'the Redis server').map((found) =>
    warning(found.code, found.what, found.mend),
  );
}

function evicts(policy: string): Found {
  const what = `the Redis server drops keys when its memory is full (maxmemory-policy ${policy}): calls, tokens and nonces among them`;
  return warning('store_evicts', what, 'set `maxmemory-policy noeviction`, or use a Redis server without such a policy');
}

function rightMissing(missing: readonly string[]): Found {
  // When only rights to examine are missing, calls are not affected.
  const found = missing.every((right) => FOR_EXAMINATION.includes(right)) ? warning : fault;
  return found(
    'store_right_missing',
    `the user of the Redis server lacks a right: ${missing.join(' ')}`,
    'give the user what docs/shared-calls.md lists, on all keys that begin with store.redis.key_prefix',
  );
}
