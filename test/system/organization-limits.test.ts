// The limit of an organization over two servers that share Redis: both count all calls, and each shows all of them.
import { randomBytes, randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ShownOrganizations } from '../../src/ops/console-api.ts';
import { requireDebian } from '../support/debian.ts';
import type { PlatformCall } from '../support/platform-call.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { dataSource, RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { closeAll } from '../support/shared-servers.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const ORGANIZATION = '99999999-9999-4999-8999-999999999999';
const MOST = 3;
const isReady = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
const servers: RunningServer[] = [];

beforeAll(async () => {
  if (!isReady) return;
  redis = await RedisServer.start();
  const store = [`url=${redis.url}`, `key_prefix=test-${randomUUID()}`].map((each) => `--store.redis.${each}`);
  const flags = [
    ...[...WITH_TEST_BOTS, ...store, '--store.kind=redis', `--store.keys=["${randomBytes(32).toString('hex')}"]`],
    ...['--shutdown.notice_ms=0', `--sessions.max_per_organization=${String(MOST)}`],
  ];
  for (let started = 0; started < 2; started += 1) {
    servers.push(await RunningServer.start({ flags, dataSources: (issuer) => [{ ...dataSource(issuer), organization_id: ORGANIZATION }] }));
  }
});
afterAll(async () => {
  if (!isReady) return;
  await closeAll(servers);
  await redis.stop();
});

/** Places a call. @returns undefined when it is refused. */
async function placed(server: RunningServer): Promise<PlatformCall | undefined> {
  const authorization = await server.issuer.issueToken({ organizationId: ORGANIZATION });
  const call = (await server.client({ organizationId: ORGANIZATION, authorization })).call();
  const { story, ending } = await call.turn(event('SESSION_START'));
  expect(ending.code).toBe(status.OK);
  return story.length > 1 ? call : undefined;
}

it('is the same for both servers, is seen at both, and a server that goes takes its calls out of it', async () => {
  const [one, two] = servers;
  if (one === undefined || two === undefined) throw new Error('both were started');
  const first = await placed(one);
  for (let more = 1; more < MOST; more += 1) expect(await placed(one)).toBeDefined();
  await until('the second server has heard of the calls at the first one', async () => {
    const call = await placed(two);
    await call?.turn(event('SESSION_END'));
    return call === undefined;
  });
  expect(await two.metric('parley_calls_refused_total{reason="organization"}')).toBe(1);

  await first?.turn(event('SESSION_END'));
  await until('the place of the call that has ended is free at the second server', async () => (await placed(two)) !== undefined);
  await until('and taken at the first one', async () => (await one.metric('parley_sessions_open{bot="tester"}')) === MOST - 1);
  await until('no call is taken there', async () => {
    const call = await placed(one);
    await call?.turn(event('SESSION_END'));
    return call === undefined;
  });
  const answer = await fetch(`http://127.0.0.1:${String(two.app.ready.opsPort)}/api/organizations`);
  const { organizations, silent } = (await answer.json()) as ShownOrganizations;
  expect(silent).toEqual([]);
  expect(organizations).toMatchObject([{ openCalls: MOST, maxCalls: MOST }]);

  await one.app.close();
  await until('the place of the calls of the first server is free', async () => (await placed(two)) !== undefined);
});
