// Redis that dies, forgets or stands still while calls go on, with real processes: callers hear nothing of it. The turns of every
// call come to both servers by turns.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage } from '../fleet/home-stage.ts';
import { press, type RoutedCall } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { until } from '../support/until.ts';

/** A reply to a key comes at once; the machine is busy, ms. */
const PROMPT_MS = 1500;
/** Longer than three beats: who would take an answer for a death had done so by then, ms. */
const AWAY_MS = 3500;
/** The caller says nothing for so long after the first key: all that happens to Redis happens meanwhile, on a busy machine as well, ms. */
const OUTAGE_MS = 8000;
/** Calls at each time, the half of them at home on each server. */
const CALLS = 4;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;

beforeAll(async () => {
  if (isReady) stage = await HomeStage.start(2);
});
afterEach(async () => {
  if (isReady) await stage.empty();
});
afterAll(async () => {
  if (isReady) await stage.close();
});

/** Calls whose turns come to the one and to the other server, and that are longer than what happens to Redis. */
function callsBegin(): readonly RoutedCall[] {
  const script = [press('1'), { kind: 'wait', waitMs: OUTAGE_MS }, press('2'), { kind: 'wait', waitMs: 1500 }] as const;
  return Array.from({ length: CALLS }, (_, index) => stage.call({ agentId: 'counter', script, serverOf: (rpc) => rpc + index }));
}

async function expectNothingHeard(calls: readonly RoutedCall[]): Promise<void> {
  for (const call of calls) {
    const { texts, waitMs, outcome, turnsLost, turnsRepeated, findings } = await call.heard();
    const answers = ['1', '2'].flatMap((key) => [`Answer ${key}.`, `You have pressed the key ${key}.`]);
    expect(texts, call.story).toEqual(['Welcome to the counter.', ...answers]);
    expect({ outcome, turnsLost, turnsRepeated, findings }, call.story).toEqual({
      ...{ outcome: 'hung_up', turnsLost: 0, turnsRepeated: 0, findings: [] },
    });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
  }
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
  it('go on unheard where they live, and new ones begin and are registered when it is back, having forgotten all', async () => {
    const before = callsBegin();
    await Promise.all(before.map((call) => call.reached('waits')));
    await stage.fleet.redis.kill();
    const meanwhile = callsBegin();
    await Promise.all(meanwhile.map((call) => call.reached('waits')));
    await expectOneHomeEach(2 * CALLS);
    await pause(AWAY_MS - 2000);
    await stage.fleet.redis.lose();
    await expectOneHomeEach(2 * CALLS);
    await until('all calls are registered', async () => (await registered()) >= 2 * CALLS);
    await expectNothingHeard([...before, ...meanwhile]);
  });

  it('go on unheard while it stands still, new ones as well, and no server takes another one for dead', async () => {
    const before = callsBegin();
    await Promise.all(before.map((call) => call.reached('waits')));
    stage.fleet.redis.freeze();
    try {
      const meanwhile = callsBegin();
      await Promise.all(meanwhile.map((call) => call.reached('waits')));
      await pause(AWAY_MS - 2000);
      await expectOneHomeEach(2 * CALLS);
      stage.fleet.redis.thaw();
      await expectNothingHeard([...before, ...meanwhile]);
    } finally {
      stage.fleet.redis.thaw();
    }
  });
});
