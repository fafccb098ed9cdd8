// Two servers that answer the same input of the same call: two engines with one real Redis server. The long version is
// `npm run check:race`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { race } from '../fleet/race.ts';
import { requireDebian } from '../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
const RACES = 200;

let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

const NOTHING_WRONG = { ok: true, races: RACES, twoWinners: 0, noWinner: 0, differentReplies: 0, lostUpdates: 0 };

describe('two servers that answer the same input of a call', () => {
  it('write once when both have read the same version, and both say what was written', async () => {
    expect(await race(redis.url, 'same_version', RACES)).toMatchObject({ ...NOTHING_WRONG, commits: RACES, refused: RACES });
  });

  it('wait for each other when neither stands still, and count each input once', async () => {
    expect(await race(redis.url, 'same_moment', RACES)).toMatchObject({ ...NOTHING_WRONG, commits: 2 * RACES });
  });
});
