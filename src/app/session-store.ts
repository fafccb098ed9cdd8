// Where the records of calls lie, as the settings say: in this process, or in a Redis server that several servers share. What
// must not lie open there is sealed on its way.
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import type { Interruptions, SessionStore } from '../session/ports.ts';
import { MemoryStore } from '../store/memory.ts';
import { Seal } from '../store/seal.ts';
import { SealingStore } from '../store/sealing.ts';
import type { RedisConnection } from '../store/redis/connection.ts';
import type { StoreMetrics } from '../telemetry/store-metrics.ts';
import { sealKeys } from './changing-secrets.ts';
import type { Settings } from './config/settings.ts';

/** How much longer than an idle call a record is kept, ms: the server that serves the call ends it, and tells its bot. */
const KEPT_AFTER_IDLE_MS = 300_000;
/** What a record has beside the bot's state, as a part of `sessions.max_record_bytes`: the last reply, the transcript, the facts. */
const RECORD_PARTS = 4;

/** What the store is joined to. */
export interface SessionStoreParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  readonly metrics: StoreMetrics;
}

/** Where calls are kept. */
export interface OpenedStore {
  readonly store: SessionStore;
  readonly seal: Seal;
  /** There where other servers share the store. */
  readonly shared: { readonly interruptions: Interruptions } | undefined;
}

/**
 * Opens it. A Redis server that is away does not keep this one from starting: calls are turned away until it is there.
 *
 * @throws AppError `config_invalid` without the package of the client, or for an unreadable CA file.
 */
export async function openSessionStore(
  { store, sessions }: Pick<Settings, 'store' | 'sessions'>,
  parts: SessionStoreParts,
): Promise<OpenedStore> {
  const { clock, log, lifecycle, metrics } = parts;
  if (store.kind === 'memory') {
    // Its key is made here and known to nobody.
    const seal = new Seal();
    return { store: new SealingStore(new MemoryStore(), seal), seal, shared: undefined };
  }
  const [{ RedisConnection }, { RedisStore }, { RedisInterruptions }] = await Promise.all([
    import('../store/redis/connection.ts'),
    import('../store/redis/redis-store.ts'),
    import('../store/redis/redis-interruptions.ts'),
  ]);
  const connection = await RedisConnection.open({ ...store.redis, clock, log });
  lifecycle.opened('connection to the Redis server', () => connection.close());
  metrics.connected(connection.isUp);
  connection.onChange(metrics.connected);
  const { keyPrefix } = store.redis;
  const warn = (isUp: boolean): void => {
    if (isUp) void warnOfLoss(connection, keyPrefix, log);
  };
  warn(connection.isUp);
  connection.onChange(warn);
  const owner = randomUUID();
  const kept = new RedisStore({
    ...{ connection, owner, keyPrefix, leaseMs: store.leaseMs },
    ttlMs: sessions.idleTimeoutMs + KEPT_AFTER_IDLE_MS,
    maxRecordBytes: RECORD_PARTS * sessions.maxRecordBytes,
  });
  const seal = new Seal(...sealKeys(store.keys));
  const interruptions = new RedisInterruptions({ connection, owner, keyPrefix });
  return { store: new SealingStore(metrics.timed(kept), seal), seal, shared: { interruptions } };
}

/** Says so when the server would forget its calls with its next restart. Never throws: the connection tells what is wrong with it. */
async function warnOfLoss(connection: Pick<RedisConnection, 'send'>, keyPrefix: string, log: Logger): Promise<void> {
  const { afterRestart, LOST_AFTER_RESTART } = await import('../store/redis/after-restart.ts');
  const kept = await afterRestart(connection, keyPrefix).catch(() => 'unknown');
  if (kept === 'lost') log.warn({ event: 'store_forgets', mend: LOST_AFTER_RESTART.mend }, LOST_AFTER_RESTART.what);
}
