// The primary of Redis dies in the middle of calls, and sentinels put its replica in its place, with real processes: callers hear nothing
// of it, and what is saved from then on is there when the home of a call dies.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage, metricOf } from '../fleet/home-stage.ts';
import { KeptRedis } from '../fleet/kept-redis.ts';
import { press, silentUntil, type RoutedCall } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { PRIMARY_NAME, RedisSentinel } from '../support/redis-sentinel.ts';
import { until } from '../support/until.ts';

const HOME = 0;
const OTHER = 1;
const SENTINELS = 3;
const AGREED = 2;
/** A reply to a key comes at once; the machine is busy, ms. */
const PROMPT_MS = 2500;
const CALLS = 3;

const isReady = requireDebian(FLEET_NEEDS);
let primary: KeptRedis;
let replica: KeptRedis;
let sentinels: readonly RedisSentinel[];
let stage: HomeStage;

beforeAll(async () => {
  if (!isReady) return;
  primary = await KeptRedis.start();
  replica = await KeptRedis.start(primary.port);
  sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => RedisSentinel.start(primary, AGREED)));
  const addresses = JSON.stringify(sentinels.map(({ address }) => address));
  [stage] = await Promise.all([
    HomeStage.start(2, [`--store.redis.sentinels=${addresses}`, `--store.redis.sentinel_name=${PRIMARY_NAME}`]),
    ...sentinels.map((sentinel) => sentinel.agrees(1)),
  ]);
});
afterAll(async () => {
  if (!isReady) return;
  await stage.close();
  await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
  await Promise.all([primary.stop(), replica.stop()]);
});

/** The turns of a call come to the server where it does not live. */
function serversOf(home: number): (rpc: number) => number {
  return (rpc) => (rpc === 0 ? home : 1 - home);
}

async function expectWhole(call: RoutedCall, keys: readonly string[]): Promise<void> {
  const { texts, waitMs, outcome, turnsLost, turnsRepeated, turnsReopened, findings } = await call.heard();
  expect(texts, call.story).toEqual(['Hello.', ...keys.flatMap((key, index) => [`Answer ${String(index + 1)}.`, `Key ${key}.`])]);
  expect({ outcome, turnsLost, turnsRepeated, turnsReopened, findings }, call.story).toEqual({
    ...{ outcome: 'hung_up', turnsLost: 0, turnsRepeated: 0, turnsReopened: 0, findings: [] },
  });
  expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
}

it('a failover of Redis is not heard in calls that run or begin meanwhile, and what they save after it outlives their home', async () => {
  const [away, back, killed] = [new AbortController(), new AbortController(), new AbortController()];
  const start = (keys: readonly string[], home: number): RoutedCall => {
    const [first = '', second = '', third = '', ...rest] = keys;
    const script = [
      press(first),
      silentUntil(away.signal),
      press(second),
      silentUntil(back.signal),
      press(third),
      ...rest.flatMap((key) => [silentUntil(killed.signal), press(key)]),
    ];
    return stage.call({ script, serverOf: serversOf(home) });
  };
  const keys = ['1', '2', '3', '4'];
  const endedBefore = await registered();
  const living = Array.from({ length: CALLS }, () => start(keys, HOME));
  // At home in the server that stays; its turns come to the one that is killed, and are over by then.
  const short = start(keys.slice(0, 3), OTHER);
  await Promise.all([...living, short].map((call) => call.reached('waits')));
  await primary.kill();
  away.abort();
  const begun = Array.from({ length: CALLS }, () => start(keys, HOME));
  await Promise.all([...living, short, ...begun].map((call) => call.reached('waits', 2)));
  await stage.live([...living, ...begun], HOME, [OTHER]);
  await until('the replica is the primary', async () => (await replica.ask('ROLE')).startsWith('master'));
  await until('both servers have found it', async () =>
    (await Promise.all(stage.fleet.replicas.map((server) => metricOf(server, 'parley_store_up')))).every((up) => up === 1),
  );
  await until('all calls are registered there', async () => (await registered()) >= endedBefore + living.length + begun.length + 1);
  back.abort();
  await expectWhole(short, keys.slice(0, 3));
  await Promise.all([...living, ...begun].map((call) => call.reached('waits', 3)));
  await stage.replica(HOME).kill();
  await stage.live([...living, ...begun], OTHER, []);
  killed.abort();
  for (const call of [...living, ...begun]) await expectWhole(call, keys);
});

/** Calls that stand in the copy of the directory, those that ended lately among them. */
async function registered(): Promise<number> {
  const keys = await replica.ask('--scan', '--pattern', '*:home:*');
  return keys === '' ? 0 : keys.split('\n').length;
}
