// Opens the Redis server that several servers share for their calls, and the seal for its data.
import type { Logger } from '../base/log.ts';
import { Seal } from '../store/seal.ts';
import type { RedisConnection } from '../store/redis/connection.ts';
import type { StoreMetrics } from '../telemetry/store-metrics.ts';
import { sealKeys } from './changing-secrets.ts';
import type { Settings } from './config/settings.ts';
import type { ProcessParts } from './process-parts.ts';

export interface SharedStoreParts extends ProcessParts {
  readonly metrics: StoreMetrics;
}

export interface SharedStore {
  readonly connection: RedisConnection;
  readonly seal: Seal;
  /** Prefix of all keys. */
  readonly keyPrefix: string;
}

/**
 * Opens the shared store; undefined when no calls are shared. An unreachable Redis does not prevent the start.
 *
 * @throws AppError `config_invalid` without the client package, or for an unreadable CA file.
 */
export async function openSharedStore(
  settings: Pick<Settings, 'store' | 'admin'>,
  { clock, log, lifecycle, metrics }: SharedStoreParts,
): Promise<SharedStore | undefined> {
  const { store } = settings;
  if (store.kind === 'memory') return undefined;
  const { RedisConnection } = await import('../store/redis/connection.ts');
  const connection = await RedisConnection.open({ ...store.redis, clock, log });
  lifecycle.opened('connection to the Redis server', () => connection.close());
  metrics.connected(connection.isUp);
  connection.onChange(metrics.connected);
  const warn = (isUp: boolean): void => {
    if (isUp) void warnOfFindings(connection, settings, log);
  };
  warn(connection.isUp);
  connection.onChange(warn);
  return { connection, seal: new Seal(...sealKeys(store.keys)), keyPrefix: store.redis.keyPrefix };
}

/** Warns about problems of the Redis server. Never throws, because the connection logs its own errors. */
async function warnOfFindings(
  connection: Pick<RedisConnection, 'send'>,
  settings: Pick<Settings, 'store' | 'admin'>,
  log: Logger,
): Promise<void> {
  const { examineRedis } = await import('./redis-examination.ts');
  const findings = await examineRedis(connection, settings).catch(() => []);
  for (const { code, what, mend } of findings) log.warn({ event: code, mend }, what);
}
