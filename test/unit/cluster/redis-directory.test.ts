import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createLogger } from '../../../src/base/log.ts';
import { ENDED_MS } from '../../../src/cluster/call-directory.ts';
import { RedisDirectory, type RedisDirectoryOptions } from '../../../src/cluster/redis-directory.ts';
import { RedisConnection } from '../../../src/store/redis/connection.ts';
import { Seal } from '../../../src/store/seal.ts';
import { callDirectorySuite } from '../../suites/call-directory.ts';
import { requireDebian } from '../../support/debian.ts';
import { redisConnection } from '../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer } from '../../support/redis-server.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
const CALL = { organizationId: 'org', conversationId: 'call' };
const TTL_MS = 600_000;
const CLAIM = { owner: 'a', mayCreate: true, heardAtMs: 1 };

let server: RedisServer;
/** Of two processes. */
let connections: readonly [RedisConnection, RedisConnection];

beforeAll(async () => {
  if (!hasRedis) return;
  server = await RedisServer.start();
  connections = [await connectionOfAll(), await connectionOfAll()];
});
afterAll(async () => {
  if (!hasRedis) return;
  await Promise.all(connections.map((connection) => connection.close()));
  await server.stop();
});

/** One that many tests use, so that they need not wait for it. */
function connectionOfAll(): Promise<RedisConnection> {
  const nobody = { user: undefined, password: undefined, caFile: undefined };
  return RedisConnection.open({
    url: server.url,
    ...nobody,
    timeoutMs: 10_000,
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
  });
}

function directoryOf(connection: RedisConnection, change: Partial<RedisDirectoryOptions> = {}): RedisDirectory {
  return new RedisDirectory({ connection, seal: new Seal(), keyPrefix: randomUUID(), ttlMs: TTL_MS, ...change });
}

/** The one key of a directory. */
async function keyOf(keyPrefix: string): Promise<string> {
  const [key, ...others] = (await connections[0].send(['KEYS', `${keyPrefix}:*`])) as readonly string[];
  if (key === undefined || others.length > 0) throw new Error('the directory has not exactly one key');
  return key;
}

async function leftMs(key: string): Promise<number> {
  return Number(await connections[0].send(['PTTL', key]));
}

callDirectorySuite('the directory on a Redis server', () => {
  const shared = { keyPrefix: randomUUID(), seal: new Seal() };
  return { one: directoryOf(connections[0], shared), other: directoryOf(connections[1], shared) };
});

describe('a call on the server', () => {
  it('is found under a name without its ids, below the prefix, and its snapshot does not lie open', async () => {
    const keyPrefix = randomUUID();
    const directory = directoryOf(connections[0], { keyPrefix });
    await directory.save(CALL, { owner: 'a', epoch: 1, seq: 1, heardAtMs: 1, snapshot: 'four digits' });
    const key = await keyOf(keyPrefix);
    expect(key).toMatch(new RegExp(`^${keyPrefix}:home:[\\w-]{43}$`, 'u'));
    expect(JSON.stringify(await connections[0].send(['HVALS', key]))).not.toContain('digits');
  });

  it('is forgotten by itself, and kept for the whole time again by whatever is done to it', async () => {
    const keyPrefix = randomUUID();
    const directory = directoryOf(connections[0], { keyPrefix });
    await directory.claim(CALL, CLAIM);
    const key = await keyOf(keyPrefix);
    const uses = [
      () => directory.claim(CALL, CLAIM),
      () => directory.save(CALL, { owner: 'a', epoch: 1, seq: 1, heardAtMs: 1 }),
      () => directory.touch(CALL),
      () => directory.register(CALL, { owner: 'a', seq: 2, heardAtMs: 2 }),
    ];
    for (const use of uses) {
      await connections[0].send(['PEXPIRE', key, '30000']);
      await use();
      expect(await leftMs(key)).toBeGreaterThan(TTL_MS - 60_000);
      expect(await leftMs(key)).toBeLessThanOrEqual(TTL_MS);
    }
    await directory.forget(CALL, { owner: 'a', epoch: 2 });
    expect(await leftMs(key)).toBeGreaterThan(ENDED_MS / 2);
    expect(await leftMs(key)).toBeLessThanOrEqual(ENDED_MS);
  });

  it('does not open with another key, nor as another call: state_unreadable', async () => {
    const keyPrefix = randomUUID();
    const directory = directoryOf(connections[0], { keyPrefix });
    await directory.save(CALL, { owner: 'a', epoch: 1, seq: 1, heardAtMs: 1, snapshot: 'words' });
    const stranger = directoryOf(connections[1], { keyPrefix });
    await expect(stranger.claim(CALL, { ...CLAIM, owner: 'b', deadEpoch: 1 })).rejects.toMatchObject({ code: 'state_unreadable' });
    const other = { ...CALL, conversationId: 'other' };
    const key = await keyOf(keyPrefix);
    await directory.claim(other, CLAIM);
    const keys = (await connections[0].send(['KEYS', `${keyPrefix}:*`])) as readonly string[];
    const otherKey = keys.find((one) => one !== key) ?? '';
    await connections[0].send(['HSET', otherKey, 'snapshot', String(await connections[0].send(['HGET', key, 'snapshot']))]);
    await expect(directory.claim(other, CLAIM)).rejects.toMatchObject({ code: 'state_unreadable' });
  });

  it('cannot be claimed, found or written while the server is away, in bounded time: store_unavailable', async () => {
    const ownServer = await RedisServer.start();
    const connection = await redisConnection(ownServer, { timeoutMs: 100 });
    const directory = directoryOf(connection);
    await ownServer.stop();
    const works = [
      directory.claim(CALL, CLAIM),
      directory.find(CALL),
      directory.save(CALL, { owner: 'a', epoch: 1, seq: 1, heardAtMs: 1 }),
      directory.register(CALL, { owner: 'a', seq: 1, heardAtMs: 1 }),
      directory.forget(CALL, { owner: 'a', epoch: 1 }),
      directory.touch(CALL),
    ];
    await Promise.all(works.map((work) => expect(work).rejects.toMatchObject({ code: 'store_unavailable' })));
  });
});
