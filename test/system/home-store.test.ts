// Redis that dies, forgets or stands still while calls go on, with real processes: callers hear nothing of it. The turns of every
// call come to both servers by turns.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage, metricOf } from '../fleet/home-stage.ts';
import { press, silentUntil, type RoutedCall } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { until } from '../support/until.ts';

/** A reply to a key comes at once; the machine is busy, ms. */
const PROMPT_MS = 1500;
/** More than make a server that does not beat a dead one: who would take an outage for a death had done so by then. */
const MISSED_BEATS = 4;
/** Calls at each time, the half of them at home on each server. */
const CALLS = 4;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;

beforeAll(async () => {
  if (isReady) stage = await HomeStage.start(2);
});
afterAll(async () => {
  if (isReady) await stage.close();
});

/** Calls whose turns come to the one and to the other server, and whose callers are silent between two keys until the signal. */
async function callsWait(over: AbortSignal): Promise<readonly RoutedCall[]> {
  const script = [press('1'), silentUntil(over), press('2')];
  const calls = Array.from({ length: CALLS }, (_, index) => stage.call({ script, serverOf: (rpc) => rpc + index }));
  await Promise.all(calls.map((call) => call.reached('waits')));
  return calls;
}

async function expectNothingHeard(calls: readonly RoutedCall[]): Promise<void> {
  for (const call of calls) {
    const { texts, waitMs, outcome, turnsLost, turnsRepeated, findings } = await call.heard();
    expect(texts, call.story).toEqual(['Hello.', 'Answer 1.', 'Key 1.', 'Answer 2.', 'Key 2.']);
    expect({ outcome, turnsLost, turnsRepeated, findings }, call.story).toEqual({
      ...{ outcome: 'hung_up', turnsLost: 0, turnsRepeated: 0, findings: [] },
    });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
  }
}

/** How many beats each server has missed. */
function missedBeats(): Promise<readonly number[]> {
  return Promise.all(stage.fleet.replicas.map((replica) => metricOf(replica, 'parley_store_failures_total', 'operation="beat"')));
}

async function untilBeatsAreMissed(before: readonly number[]): Promise<void> {
  await until('every server has missed some beats', async () =>
    (await missedBeats()).every((count, index) => count >= (before[index] ?? 0) + MISSED_BEATS),
  );
}

/** Calls that stand in the directory with a home. */
async function registered(): Promise<number> {
  const keys = await stage.fleet.redis.ask('--scan', '--pattern', '*:home:*');
  return keys === '' ? 0 : keys.split('\n').length;
}

async function expectOneHomeEach(calls: number): Promise<void> {
  const homes = await stage.homes();
  expect(
    homes.reduce((sum, each) => sum + each, 0),
    `calls at home: ${homes.join(' and ')}`,
  ).toBe(calls);
}

describe('calls while Redis is away', () => {
  it('go on unheard while it stands still, new ones as well, and no server takes another one for dead', async () => {
    const over = new AbortController();
    const before = await callsWait(over.signal);
    const missed = await missedBeats();
    stage.fleet.redis.freeze();
    try {
      const meanwhile = await callsWait(over.signal);
      await untilBeatsAreMissed(missed);
      await expectOneHomeEach(2 * CALLS);
      stage.fleet.redis.thaw();
      over.abort();
      await expectNothingHeard([...before, ...meanwhile]);
    } finally {
      stage.fleet.redis.thaw();
    }
    await stage.empty();
  });

  it('go on unheard where they live when it is killed, and new ones begin and are registered when it is back, having forgotten all', async () => {
    const over = new AbortController();
    const before = await callsWait(over.signal);
    const missed = await missedBeats();
    await stage.fleet.redis.kill();
    const meanwhile = await callsWait(over.signal);
    await untilBeatsAreMissed(missed);
    await expectOneHomeEach(2 * CALLS);
    await stage.fleet.redis.lose();
    await until('all calls are registered', async () => (await registered()) >= 2 * CALLS);
    await expectOneHomeEach(2 * CALLS);
    over.abort();
    await expectNothingHeard([...before, ...meanwhile]);
  });
});
