// The shared store of the administration over a real Redis server: one connection for each process that a test plays.
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { INTEGRATION_KEY } from '../../src/admin/oauth/integration-tokens.ts';
import { readTokenReply } from '../../src/admin/tokens.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { adminPlace, sharedServer, type AdminPlace, type SharedServer } from '../../src/store/redis/admin-place.ts';
import { RedisConnection } from '../../src/store/redis/connection.ts';
import { takeOwnership, type OwnerClaim, type OwnerLease } from '../../src/store/redis/owner-lease.ts';
import { SharedTexts } from '../../src/store/redis/shared-texts.ts';
import { Seal } from '../../src/store/seal.ts';
import type { AdminSurroundings } from './open-surroundings.ts';
import type { RedisServer } from './redis-server.ts';

/** Longest wait for an answer, ms. */
const TIMEOUT_MS = 5000;

/** The keys of one deployment that no other test has. */
export function ownPlace(): AdminPlace {
  return adminPlace(randomUUID());
}

/** A connection as another process has it; closed when the test ends. */
export async function processOn(redis: Pick<RedisServer, 'url'>, timeoutMs = TIMEOUT_MS): Promise<SharedServer> {
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  const log = createLogger({ level: 'silent' });
  const connection = await RedisConnection.open({ url: redis.url, ...nobody, timeoutMs, clock: systemClock, log });
  onTestFinished(() => connection.close());
  return sharedServer(connection);
}

/** One deployment with a key of its own. */
export interface Deployment {
  readonly place: AdminPlace;
  readonly key: Buffer;
}

/** What one process of a deployment sees of the texts. */
export function textsOf({ place, key }: Deployment, server: SharedServer): Promise<SharedTexts> {
  return SharedTexts.open({ server, place, seal: new Seal(key) });
}

/** The ownership, which nobody may have whom the claim does not depose; given back when the test ends. */
export async function owning(place: AdminPlace, server: SharedServer, claim?: OwnerClaim): Promise<OwnerLease> {
  const taken = await takeOwnership({ server, place }, claim);
  if (taken.kind !== 'ours') throw new Error('another process has the ownership');
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
  const given = { place: adminPlace(prefix), key: Buffer.from(key, 'hex') };
  const server = await processOn(redis);
  const texts = await textsOf(given, server);
  const lease = await owning(given.place, server);
  const owned = texts.owned(lease.token, (error) => {
    throw error;
  });
  await owned.set(INTEGRATION_KEY, JSON.stringify(readTokenReply({ ...api.logIn() }, clock.nowMs())));
  await lease.giveBack();
}
