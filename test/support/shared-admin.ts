// The shared store of the administration over a real Redis server: one connection for each process that a test plays.
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { INTEGRATION_KEY } from '../../src/admin/oauth/integration-tokens.ts';
import { readTokenReply } from '../../src/admin/tokens.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { adminStore, type AdminStore } from '../../src/store/redis/admin-store.ts';
import { RedisConnection } from '../../src/store/redis/connection.ts';
import { takeLease, type RenewalLease } from '../../src/store/redis/renewal-lease.ts';
import { SharedTexts } from '../../src/store/redis/shared-texts.ts';
import { Seal } from '../../src/store/seal.ts';
import type { AdminSurroundings } from './open-surroundings.ts';
import type { RedisServer } from './redis-server.ts';

/** Longest wait for an answer, ms. */
const TIMEOUT_MS = 5000;

/** The store as another process has it, under a prefix of its own unless one is given; its connection is closed when the test ends. */
export async function storeOn(
  redis: Pick<RedisServer, 'url'>,
  prefix: string = randomUUID(),
  timeoutMs = TIMEOUT_MS,
): Promise<AdminStore & { readonly prefix: string }> {
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  const log = createLogger({ level: 'silent' });
  const connection = await RedisConnection.open({ url: redis.url, ...nobody, timeoutMs, clock: systemClock, log });
  onTestFinished(() => connection.close());
  return { ...adminStore(connection, prefix), prefix };
}

/** The lease, which nobody may have but a leader that is deposed; given back when the test ends. */
export async function leaseOf(store: AdminStore, deposes?: string): Promise<RenewalLease> {
  const taken = await takeLease({ store }, deposes);
  if (taken.kind !== 'ours') throw new Error('another process has the lease');
  onTestFinished(() => taken.lease.giveBack());
  return taken.lease;
}

/** Somebody logs in with the integration before the servers are started. @param prefix - what the keys of the store begin with. */
export async function logInShared(
  redis: Pick<RedisServer, 'url'>,
  prefix: string,
  { api, key }: Pick<AdminSurroundings, 'api' | 'key'>,
  clock: Clock,
): Promise<void> {
  const store = await storeOn(redis, prefix);
  const texts = await SharedTexts.open(store, new Seal(Buffer.from(key, 'hex')));
  const lease = await leaseOf(store);
  const tokens = JSON.stringify(readTokenReply({ ...api.logIn() }, clock.nowMs()));
  await texts.ledBy(lease).set(INTEGRATION_KEY, tokens);
  await lease.giveBack();
}
