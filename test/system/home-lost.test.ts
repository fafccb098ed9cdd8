// What callers hear when more is lost than one home or Redis, with real processes: a home that nobody reaches and that reaches nobody, and
// a home that dies together with Redis.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage, metricOf } from '../fleet/home-stage.ts';
import { LineRelay } from '../fleet/line-relay.ts';
import { press, silentUntil, type RoutedCall } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { until } from '../support/until.ts';

const HOME = 0;
const OTHER = 1;
const OTHER_HOME = 2;

/** Where the others dial the homes. */
const HOME_HOST = '127.0.0.3';
const OTHER_HOME_HOST = '127.0.0.4';
/** Longer than the test: nothing comes through, and nobody is refused, ms. */
const NEVER_MS = 100_000;
const PROMPT_MS = 2500;
/** Within one beat, and the time that a busy machine takes, ms. */
const BEAT_LIMIT_MS = 2000;
const HANDOVER = 'Sorry, this is not working. I will connect you to a colleague.';

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;
/** Between the home and Redis, between the others and the home, and between the others and the other home. */
let toRedis: LineRelay;
let toHome: LineRelay;
let toOtherHome: LineRelay;

beforeAll(async () => {
  if (!isReady) return;
  stage = await HomeStage.start(3, [], {
    startOf: async (replica, { ports: { peer: port }, redis }) => {
      if (replica === OTHER) return {};
      if (replica === OTHER_HOME) {
        toOtherHome = await LineRelay.start(port, { host: OTHER_HOME_HOST, port });
        return { flags: [`--peers.address=${OTHER_HOME_HOST}`] };
      }
      toHome = await LineRelay.start(port, { host: HOME_HOST, port });
      toRedis = await LineRelay.start(redis.port);
      return { flags: [`--peers.address=${HOME_HOST}`, `--store.redis.url=redis://127.0.0.1:${String(toRedis.port)}`] };
    },
  });
});
afterAll(async () => {
  if (!isReady) return;
  await stage.close();
  await Promise.all([toRedis, toHome, toOtherHome].map((line) => line.close()));
});

async function expectWhole(call: RoutedCall): Promise<void> {
  const { texts, waitMs, outcome, turnsLost, turnsRepeated, findings } = await call.heard();
  expect(texts, call.story).toEqual(['Hello.', ...['1', '2'].flatMap((key) => [`Answer ${key}.`, `Key ${key}.`])]);
  expect({ outcome, turnsLost, turnsRepeated, findings }, call.story).toEqual({
    ...{ outcome: 'hung_up', turnsLost: 0, turnsRepeated: 0, findings: [] },
  });
  expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
}

describe.concurrent('a home that is cut off from Redis and from its peers', () => {
  it('goes on with the calls whose turns reach it, loses the others without a word, and has none of those when it is back', async () => {
    const [taken, back] = [new AbortController(), new AbortController()];
    const script = [silentUntil(taken.signal), press('1'), silentUntil(back.signal), press('2')];
    const direct = stage.call({ script, serverOf: () => HOME });
    const forwarded = stage.call({ script, serverOf: (rpc) => (rpc === 0 || back.signal.aborted ? HOME : OTHER) });
    await Promise.all([direct, forwarded].map((call) => call.reached('waits')));
    await stage.live([direct, forwarded], HOME, [OTHER]);
    for (const line of [toRedis, toHome]) line.slowTo(NEVER_MS);
    await stage.live([forwarded], OTHER, []);
    expect(await stage.livesAt(HOME, [direct, forwarded]), 'nobody can tell it').toEqual([true, true]);
    taken.abort();
    await Promise.all([direct, forwarded].map((call) => call.reached('waits', 2)));
    for (const line of [toRedis, toHome]) {
      line.slowTo(0);
      line.cut();
    }
    await stage.live([forwarded], OTHER, [HOME]);
    await stage.live([direct], HOME, [OTHER]);
    back.abort();
    await Promise.all([direct, forwarded].map((call) => expectWhole(call)));
  });
});

describe.concurrent('a home that is wrongly taken for dead, because its peer port refuses', () => {
  it('gives up within a beat what was taken from it, and keeps the rest: callers hear nothing', async () => {
    const over = new AbortController();
    const script = [silentUntil(over.signal), press('1'), press('2')];
    const direct = stage.call({ script, serverOf: () => OTHER_HOME });
    const forwarded = stage.call({ script, serverOf: (rpc) => (rpc === 0 ? OTHER_HOME : OTHER) });
    await Promise.all([direct, forwarded].map((call) => call.reached('waits')));
    await stage.live([direct, forwarded], OTHER_HOME, [OTHER]);
    await toOtherHome.down();
    await stage.live([forwarded], OTHER, [OTHER_HOME], BEAT_LIMIT_MS);
    await stage.live([direct], OTHER_HOME, [OTHER]);
    over.abort();
    await Promise.all([direct, forwarded].map((call) => expectWhole(call)));
    await toOtherHome.up();
  });
});

describe('a home that dies', () => {
  it('after Redis has forgotten its calls leaves nothing to go on with: the bot begins again', async () => {
    const over = new AbortController();
    const call = stage.call({ script: [silentUntil(over.signal), press('1')], serverOf: (rpc) => (rpc === 0 ? HOME : OTHER) });
    await call.reached('waits');
    await stage.live([call], HOME, [OTHER]);
    // It cannot write its calls again.
    await toRedis.down();
    await stage.fleet.redis.lose();
    await until('the other server has found it', async () => (await metricOf(stage.replica(OTHER), 'parley_store_up')) === 1);
    await stage.replica(HOME).kill();
    await stage.live([call], OTHER, []);
    over.abort();
    const { texts, outcome, turnsLost, turnsRepeated, findings, waitMs } = await call.heard();
    expect(texts, call.story).toEqual(['Hello.', 'Hello.']);
    expect({ outcome, turnsLost, turnsRepeated, findings }, call.story).toEqual({
      ...{ outcome: 'hung_up', turnsLost: 0, turnsRepeated: 0, findings: [] },
    });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
  });

  it('together with Redis leaves callers who wait for an answer to a person, and the server says why', async () => {
    const dead = new AbortController();
    const call = stage.call({
      script: [silentUntil(dead.signal), press('1')],
      serverOf: (rpc) => (rpc === 0 ? OTHER_HOME : OTHER),
    });
    await call.reached('waits');
    await stage.live([call], OTHER_HOME, [OTHER]);
    await Promise.all([stage.fleet.redis.kill(), stage.replica(OTHER_HOME).kill()]);
    dead.abort();
    const { texts, outcome, turnsLost, waitMs } = await call.heard();
    expect(texts, call.story).toEqual(['Hello.', HANDOVER]);
    // The turn on which nobody had said anything yet ends with a status.
    expect({ outcome, turnsLost }, call.story).toEqual({ outcome: 'transferred', turnsLost: 0 });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
    expect(await metricOf(stage.replica(OTHER), 'parley_calls_refused_total', 'reason="store"')).toBe(1);
    const log = await stage.fleet.logOf(stage.replica(OTHER));
    const said = log.split('\n').filter((line) => line.includes(call.conversationId) && line.includes('"code":"store_unavailable"'));
    expect(said.join('\n')).toContain('with a spoken line');
  });
});
