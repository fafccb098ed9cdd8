// What a caller does at one server while the call lives at another one, and deploys between turns, with real processes and Redis: the
// caller hears what one server would have said.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage, metricOf, openCalls } from '../fleet/home-stage.ts';
import { recordedPhrases } from '../fleet/phrases.ts';
import { press } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { until } from '../support/until.ts';

/** How long a server that stops goes on to take new calls, ms. */
const NOTICE_MS = 3000;
const PROMPT_MS = 2500;
const HANG_UP_LIMIT_MS = 1000;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;

beforeAll(async () => {
  if (isReady) stage = await HomeStage.start(2, [`--shutdown.notice_ms=${String(NOTICE_MS)}`]);
});
afterEach(async () => {
  if (!isReady) return;
  await stage.repair();
  await stage.empty();
});
afterAll(async () => {
  if (isReady) await stage.close();
});

describe('a caller whose turns come to another server than the one where the call lives', () => {
  it('cuts prompts by speech and by keys, is answered, and is gone when the hang-up comes there', async () => {
    const speech = Buffer.from((await recordedPhrases()).at(-1) ?? '', 'base64');
    const call = stage.call({
      script: [
        press('1'),
        press('2', { interruptMs: 600 }),
        { kind: 'say', label: 'over the prompt', mulaw: speech, interruptMs: 600 },
        { kind: 'wait', waitMs: 1500 },
      ],
      serverOf: (rpc) => (rpc === 0 ? 0 : 1),
    });
    await call.reached('waits');
    expect(await stage.homes()).toEqual([1, 0]);
    expect(await metricOf(stage.replica(1), 'parley_forwarded_streams_open')).toBe(1);
    const { replies, texts, findings, waitMs, outcome } = await call.heard();
    // Once each; of what was cut, the texts tell more than was heard.
    expect(
      texts.filter((text) => text.startsWith('Answer')),
      call.story,
    ).toEqual(['Answer 1.', 'Answer 2.', 'Answer 3.']);
    expect(replies.filter(({ isInterrupted }) => isInterrupted).length, call.story).toBe(2);
    expect({ findings, outcome }, call.story).toEqual({ findings: [], outcome: 'hung_up' });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
    await until('the hang-up is known where the call lived', async () => (await openCalls(stage.replica(0))) === 0, HANG_UP_LIMIT_MS);
  });

  it('is answered by one call when every turn comes to the next server, the key and its start apart', async () => {
    const script = ['1', '2', '3'].map((key) => press(key));
    const calls = [0, 1].map((first) => stage.call({ agentId: 'counter', script, serverOf: (rpc) => first + rpc }));
    for (const call of calls) {
      const { texts, findings } = await call.heard();
      const answers = ['1', '2', '3'].flatMap((key) => [`Answer ${key}.`, `You have pressed the key ${key}.`]);
      expect({ texts, findings }, call.story).toEqual({ texts: ['Welcome to the counter.', ...answers], findings: [] });
    }
  });
});

describe('a server that stops in good order', () => {
  it('gives its calls to the other one between two turns, sends new calls there, and callers hear nothing', async () => {
    const leaving = stage.replica(0);
    const script = [
      press('1'),
      { kind: 'wait', waitMs: 1000 } as const,
      press('2'),
      { kind: 'wait', waitMs: NOTICE_MS } as const,
      press('3'),
    ];
    const toBoth = stage.call({ agentId: 'counter', script, serverOf: (rpc) => (leaving.isRunning ? rpc : 1) });
    const toOther = stage.call({ agentId: 'counter', script, serverOf: (rpc) => (rpc === 0 ? 0 : 1) });
    await Promise.all([toBoth, toOther].map((call) => call.reached('waits')));
    const stopped = leaving.stop();
    await until('it is not ready any more', async () => !(await leaving.isReady()), NOTICE_MS);
    // Load balancers need a moment to notice, and send new calls meanwhile.
    const [atLeaving = 0, atOther = 0] = await stage.homes();
    const isNew = stage.call({ agentId: 'counter', script, serverOf: (rpc) => (rpc === 0 ? 0 : 1) });
    await isNew.reached('prompt');
    const [thenAtLeaving = 0, thenAtOther = 0] = await stage.homes();
    expect(leaving.isRunning, 'the new call came in time').toBe(true);
    expect(thenAtLeaving).toBeLessThanOrEqual(atLeaving);
    expect(thenAtOther, 'the new call lives at the other one').toBeGreaterThan(atOther);
    const exit = await stopped;
    expect(exit.code).toBe(0);
    for (const call of [toBoth, toOther, isNew]) {
      const { texts, waitMs, turnsLost, turnsRepeated, findings } = await call.heard();
      const answers = ['1', '2', '3'].flatMap((key) => [`Answer ${key}.`, `You have pressed the key ${key}.`]);
      expect(texts, call.story).toEqual(['Welcome to the counter.', ...answers]);
      expect({ turnsLost, turnsRepeated, findings }, call.story).toEqual({ turnsLost: 0, turnsRepeated: 0, findings: [] });
      expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
    }
  });
});
