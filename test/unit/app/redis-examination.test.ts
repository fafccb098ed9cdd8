// What the examination finds on a real Redis server whose user has exactly what docs/shared-calls.md lists, and where it lacks one of them.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/base/package-root.ts';
import { toAppError } from '../../../src/base/errors.ts';
import { examineRedis, redisClockFindings } from '../../../src/app/redis-examination.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { requireDebian } from '../../support/debian.ts';
import { redisConnection } from '../../support/redis-connection.ts';
import { REDIS_NEEDS, RedisServer } from '../../support/redis-server.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start({ isKept: true });
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

const RIGHTS = documentedRights();

/** What stands behind `-@all` in the document's list of users. */
function documentedRights(): readonly string[] {
  const text = readFileSync(path.join(packageRoot(), 'docs', 'shared-calls.md'), 'utf8');
  const rights = /^ +user parley .*? -@all (?<rights>.+)$/mu.exec(text)?.groups?.['rights'];
  if (rights === undefined) throw new Error('docs/shared-calls.md has no list of users');
  return rights.split(' ');
}

/** Everything that is said of a server whose user has these rights. */
async function findings(rights: readonly string[], { keys = ['~parley:*'], hasAdministration = true } = {}): Promise<readonly unknown[]> {
  expect(await redis.ask('ACL', 'SETUSER', 'parley', 'reset', 'on', '>secret', ...keys, '-@all', ...rights)).toBe('+OK');
  const connection = await redisConnection(redis, { user: 'parley', password: 'secret' });
  const settings = { store: { redis: { keyPrefix: 'parley', user: 'parley' } }, admin: { enabled: hasAdministration } };
  try {
    return (await examineRedis(connection, settings)).map(({ severity, what }) => `${severity}: ${what}`);
  } catch (thrown) {
    return [toAppError(thrown).message];
  }
}

describe('the examination of a Redis server', () => {
  it('finds nothing where the user has exactly what the document lists', async () => {
    expect(await findings(RIGHTS)).toEqual([]);
  });

  it.each(RIGHTS)('names %s where the user lacks it, and nothing else', async (right) => {
    const severity = right === '+info' || right === '+acl|dryrun' ? 'warning' : 'fault';
    const expected =
      right === '+ping'
        ? 'the Redis server refused with NOPERM: the user lacks a right (docs/shared-calls.md lists them): +ping'
        : `${severity}: the user of the Redis server lacks a right: ${right}`;
    expect(await findings(RIGHTS.filter((each) => each !== right))).toEqual([expected]);
  });

  it.each([
    ['~parley:home:', ['~parley:{instances}*', '~parley:admin:*']],
    ['~parley:{instances}', ['~parley:home:*', '~parley:{instances}:*', '~parley:admin:*']],
    ['~parley:{instances}:inbox:', ['~parley:home:*', '~parley:{instances}', '~parley:admin:*']],
    ['~parley:admin:texts', ['~parley:home:*', '~parley:{instances}*', '~parley:admin:[cdl]*']],
  ])('names %s where the user has no right to such keys', async (key, keys) => {
    expect(await findings(RIGHTS, { keys })).toEqual([`fault: the user of the Redis server lacks a right: ${key}`]);
  });

  it('does not miss what only the administration needs where there is none', async () => {
    const rights = RIGHTS.filter((right) => !['+hlen', '+zadd', '+time'].includes(right));
    const only = { keys: ['~parley:home:*', '~parley:{instances}*'], hasAdministration: false };
    expect(await findings(rights, only)).toEqual([]);
  });
});

describe('the time of a Redis server', () => {
  it.each([
    ['agrees with ours', 0, []],
    ['is behind ours', 60_000, [/^warning clock_skew this machine is (?:59|60) s ahead of the Redis server$/u]],
    ['is ahead of ours', -60_000, [/^warning clock_skew this machine is (?:59|60) s behind the Redis server$/u]],
  ])('%s', async (_what, aheadMs, expected) => {
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
    const found = await redisClockFindings(await redisConnection(redis), clock);
    expect(found.map(({ severity, code, what }) => `${severity} ${code} ${what}`)).toEqual(
      expected.map((text) => expect.stringMatching(text) as unknown),
    );
  });

  it('is not asked of a user who may not', async () => {
    await redis.ask('ACL', 'SETUSER', 'timeless', 'reset', 'on', '>secret', '+@all', '-time');
    const connection = await redisConnection(redis, { user: 'timeless', password: 'secret' });
    expect(await redisClockFindings(connection, { ...systemClock, nowMs: () => 0 })).toEqual([]);
  });
});
