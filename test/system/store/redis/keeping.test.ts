// What a real Redis server still has after a restart, with the list of users that docs/shared-calls.md gives and with one that looks
// as safe and is not.
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../../../src/base/package-root.ts';
import { RedisDirectory } from '../../../../src/cluster/redis-directory.ts';
import { callsUse } from '../../../../src/cluster/redis-use.ts';
import { administrationUse, adminStore } from '../../../../src/store/redis/admin-store.ts';
import { keepingOf } from '../../../../src/store/redis/keeping.ts';
import { takeLease } from '../../../../src/store/redis/renewal-lease.ts';
import { SharedTexts } from '../../../../src/store/redis/shared-texts.ts';
import { Seal } from '../../../../src/store/seal.ts';
import { requireDebian } from '../../../support/debian.ts';
import { redisConnection } from '../../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer, type RedisServerOptions } from '../../../support/redis-server.ts';

requireDebian(REDIS_NEEDS);

/** The lines of the document, with a password. */
const DOCUMENTED = documentedUsers();
/** As many a list has it. */
const DEFAULT_OFF = ['user default off', ...DOCUMENTED.slice(1)];
const USES = [callsUse('parley'), administrationUse('parley')];
const PARLEY = { user: 'parley', password: 'secret' };

function documentedUsers(): readonly string[] {
  const text = readFileSync(path.join(packageRoot(), 'docs', 'shared-calls.md'), 'utf8');
  const users = [...text.matchAll(/^ +(user (?:default|parley) .+)$/gmu)].map(([, line = '']) => line.replace('>PASSWORD', '>secret'));
  expect(users.map((line) => line.split(' ')[1])).toEqual(['default', 'parley']);
  return users;
}

async function serverWith(options: RedisServerOptions): Promise<RedisServer> {
  const redis = await RedisServer.start(options);
  onTestFinished(() => redis.stop());
  return redis;
}

/** A call and a text of the administration are written, the server is started anew. @returns what is there then. */
async function restarted(acl: readonly string[]) {
  const redis = await serverWith({ acl, isKept: true });
  const connection = await redisConnection(redis, PARLEY);
  const [admin, seal] = [adminStore(connection, 'parley'), new Seal(randomBytes(32))];
  const call = { organizationId: 'org', conversationId: 'call' };
  const calls = { seal, keyPrefix: 'parley', ttlMs: 60_000 };
  const claim = { owner: 'one', mayCreate: true, heardAtMs: 1 };
  expect(await new RedisDirectory({ connection, ...calls }).claim(call, claim)).toMatchObject({ kind: 'mine' });
  const texts = await SharedTexts.open(admin, seal);
  const taken = await takeLease({ store: admin });
  if (taken.kind !== 'ours') throw new Error('nobody else is there');
  await texts.ledBy(taken.lease).set('login', 'token');
  await taken.lease.giveBack();
  const { restart: told } = await keepingOf(connection, USES);
  await redis.kill();
  await redis.again();
  const again = await redisConnection(redis, PARLEY);
  const found = await new RedisDirectory({ connection: again, ...calls }).find(call);
  const kept = await (await SharedTexts.open(adminStore(again, 'parley'), seal)).get('login');
  return { told, call: found.kind, text: kept };
}

describe('after a restart of a Redis server with an append-only file', () => {
  it('all is there with the list of users of the document, and the server says so before', async () => {
    expect(await restarted(DOCUMENTED)).toEqual({ told: 'kept', call: 'theirs', text: 'token' });
  });

  it('nothing is there where the default user is only switched off, and the server says so before', async () => {
    expect(await restarted(DEFAULT_OFF)).toEqual({ told: 'lost', call: 'unknown', text: undefined });
  });
});

describe('what a Redis server has after a restart', () => {
  it('is what was in its last copy where it has no append-only file', async () => {
    const redis = await serverWith({ acl: DEFAULT_OFF });
    expect(await keepingOf(await redisConnection(redis, PARLEY), USES)).toEqual({ restart: 'unsaved', eviction: undefined });
  });

  it.each(['~parley:home:* +@all', '~parley:admin:* +@all', '~* +@all -sadd'])(
    'is not all there where the default user has %s',
    async (rights) => {
      const redis = await serverWith({ acl: [`user default off &* ${rights}`, ...DOCUMENTED.slice(1)], isKept: true });
      expect(await keepingOf(await redisConnection(redis, PARLEY), USES)).toMatchObject({ restart: 'lost' });
    },
  );

  it.each(['+info', '+acl|dryrun'])('is not known to a user without the right %s', async (right) => {
    const redis = await serverWith({ acl: DEFAULT_OFF.map((line) => line.replace(` ${right}`, '')), isKept: true });
    expect(await keepingOf(await redisConnection(redis, PARLEY), USES)).toMatchObject({ restart: 'unknown' });
  });

  it.each([
    ['100mb', 'allkeys-lru', 'allkeys-lru'],
    ['100mb', 'noeviction', undefined],
    ['0', 'allkeys-lru', undefined],
  ])('is not all that was written where it drops keys: maxmemory %s and %s', async (maxmemory, policy, eviction) => {
    const redis = await serverWith({});
    await redis.ask('CONFIG', 'SET', 'maxmemory', maxmemory, 'maxmemory-policy', policy);
    expect(await keepingOf(await redisConnection(redis), USES)).toMatchObject({ eviction });
  });

  it('is unknown while Redis is away', async () => {
    const redis = await serverWith({});
    const connection = await redisConnection(redis);
    await redis.kill();
    await expect(keepingOf(connection, USES)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
