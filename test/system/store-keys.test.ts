// Two servers with one store whose keys are replaced while calls go on: what was sealed before is still read, what is written from
// then on is sealed with the new key, and nothing is restarted.
import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireDebian } from '../support/debian.ts';
import type { CallIds } from '../support/platform-call.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { WatchedFolder } from '../support/watched-folder.ts';
import { event, keys } from '../support/wire-audio.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** A server of the deployment; `close` them in the order of their start, the last one first. */
function serve(storeKeys: unknown): Promise<RunningServer> {
  const store = ['kind=redis', `redis.url=${redis.url}`, `keys=${JSON.stringify(storeKeys)}`].map((each) => `--store.${each}`);
  const open = ['--auth.enabled=false', '--shutdown.notice_ms=0'];
  return RunningServer.start({ hasTls: false, dataSources: () => [], flags: [...WITH_TEST_BOTS, ...store, ...open] });
}

/** What a key, or coming in, brings the caller of a call on this server. */
async function turn(server: RunningServer, ids: Partial<CallIds>, key?: '4'): Promise<{ readonly ids: CallIds; readonly told: unknown }> {
  const client = await server.client({ organizationId: ORG, authorization: undefined });
  const call = client.call(ids);
  const { ending, responses } = await call.turn(key === undefined ? event('SESSION_START') : keys(key));
  const events = responses.flatMap(({ output_events: each }) => each ?? []).map(({ event_type: type }) => type);
  return { ids: call.ids, told: { code: ending.code, responses: responses.length, events } };
}

/** The prompt and its end, and the call goes on. */
const GOES_ON = { code: status.OK, responses: 2, events: [] };

it('calls that go on are read with the key before, written with the new one, and lost by no server', async () => {
  const [old, fresh] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
  const folder = new WatchedFolder();
  // As the document says: the new one stands in second place everywhere, before it becomes the first.
  const files = [{ file: folder.write('first', old) }, { file: folder.write('second', fresh) }];
  const [one, other] = [await serve(files), await serve(files)];
  const [going, quiet] = [(await turn(one, {})).ids, (await turn(other, {})).ids];
  // What is typed next is sensitive: the state is sealed from here on.
  for (const ids of [going, quiet]) expect((await turn(one, ids, '4')).told).toEqual(GOES_ON);

  folder.write('first', fresh);
  folder.write('second', old);
  for (const server of [one, other]) {
    await until('the keys are taken', () => server.logged({ event: 'files_taken', what: 'store_keys' }).length > 0);
  }
  for (const server of [other, one]) expect((await turn(server, going, '4')).told).toEqual(GOES_ON);

  // What their homes leave is sealed with the new key: one that has it alone goes on with both calls.
  const next = await serve([fresh]);
  for (const server of [other, one]) await server.app.close();
  for (const ids of [going, quiet]) expect((await turn(next, ids, '4')).told).toEqual(GOES_ON);
  for (const server of [next, other, one]) await server.close();
});

it('a call that nobody has served since the keys changed is read with the key before, which its server keeps', async () => {
  const [old, fresh] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
  const folder = new WatchedFolder();
  // The new one alone, as a mounted secret is replaced: the one before goes on opening.
  const server = await serve([{ file: folder.write('only', old) }]);
  const { ids } = await turn(server, {});
  await turn(server, ids, '4');
  folder.write('only', fresh);
  await until('the key is taken', () => server.logged({ event: 'files_taken', what: 'store_keys' }).length > 0);
  expect((await turn(server, ids, '4')).told).toEqual(GOES_ON);
  await server.close();
});
