// Calls that a server claims and has no session for, with a real server and a real store: it releases them, so that they pile up neither
// there nor in Redis.
import { randomBytes, randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { requireDebian } from '../support/debian.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

it('a call that was refused and is then hung up is released, and one that is served is not', async () => {
  const prefix = `test-${randomUUID()}`;
  const keys = JSON.stringify([randomBytes(32).toString('hex')]);
  const store = ['kind=redis', `redis.url=${redis.url}`, `redis.key_prefix=${prefix}`, `keys=${keys}`].map((each) => `--store.${each}`);
  const limits = ['--sessions.max=1', '--sessions.sweep_ms=100', '--auth.enabled=false', '--shutdown.notice_ms=0'];
  const server = await RunningServer.start({ hasTls: false, dataSources: () => [], flags: [...WITH_TEST_BOTS, ...store, ...limits] });
  onTestFinished(() => server.close());
  const client = await server.client({ organizationId: ORG, authorization: undefined });
  const [served, refused] = [client.call(), client.call()];
  await served.turn(event('SESSION_START'));
  expect((await refused.turn(event('SESSION_START'))).story.join()).toContain('TRANSFER');
  expect((await refused.turn(event('SESSION_END'))).ending.code).toBe(status.OK);

  const keysOf = async (): Promise<readonly string[]> =>
    (await redis.ask('KEYS', `${prefix}:home:*`)).split('\r\n').filter((each) => each.includes(':home:'));
  // An empty string, as it stands on the wire.
  const isFree = async (key: string): Promise<boolean> => (await redis.ask('HGET', key, 'owner')) === '$0\r\n';
  const free = async (): Promise<number> => (await Promise.all((await keysOf()).map(isFree))).filter(Boolean).length;
  await until('the refused one is released', async () => (await free()) === 1, 5000);
  expect(await keysOf()).toHaveLength(2);
});
