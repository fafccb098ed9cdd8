// What a caller does at one server while the call lives at another one, and deploys between turns, with real processes and Redis: the
// caller hears what one server would have said.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage, metricOf } from '../fleet/home-stage.ts';
import { recordedPhrases } from '../fleet/phrases.ts';
import { press, silentUntil } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { until } from '../support/until.ts';

const LEAVING = 0;
const HOME = 1;
const FORWARDER = 2;

/** How long a server that stops goes on to take new calls, ms. */
const NOTICE_MS = 3000;
const PROMPT_MS = 2500;
const HANG_UP_LIMIT_MS = 1000;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;

beforeAll(async () => {
  if (isReady) stage = await HomeStage.start(3, [`--shutdown.notice_ms=${String(NOTICE_MS)}`]);
});
afterAll(async () => {
  if (isReady) await stage.close();
});

/** What is heard of a call in which these keys are pressed. */
function answersTo(...keys: readonly string[]): readonly string[] {
  return ['Hello.', ...keys.flatMap((key, index) => [`Answer ${String(index + 1)}.`, `Key ${key}.`])];
}

describe.concurrent('a caller whose turns come to another server than the one where the call lives', () => {
  it('cuts prompts by speech and by keys, is answered, and is gone when the hang-up comes there', async () => {
    const speech = Buffer.from((await recordedPhrases()).at(-1) ?? '', 'base64');
    const over = new AbortController();
    const call = stage.call({
      script: [
        press('1'),
        press('2', { interruptMs: 400 }),
        { kind: 'say', label: 'over the prompt', mulaw: speech, interruptMs: 400 },
        silentUntil(over.signal),
      ],
      serverOf: (rpc) => (rpc === 0 ? HOME : FORWARDER),
    });
    await call.reached('waits');
    await stage.live([call], HOME, [FORWARDER]);
    expect(await metricOf(stage.replica(FORWARDER), 'parley_forwarded_streams_open')).toBeGreaterThan(0);
    over.abort();
    const { replies, texts, findings, waitMs, outcome } = await call.heard();
    // Once each; of what was cut, the texts tell more than was heard.
    expect(
      texts.filter((text) => text.startsWith('Answer')),
      call.story,
    ).toEqual(['Answer 1.', 'Answer 2.', 'Answer 3.']);
    expect(replies.filter(({ isInterrupted }) => isInterrupted).length, call.story).toBe(2);
    expect({ findings, outcome }, call.story).toEqual({ findings: [], outcome: 'hung_up' });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
    const isGone = async (): Promise<boolean> => !(await stage.livesAt(HOME, [call])).some(Boolean);
    await until('the hang-up is known where the call lived', isGone, HANG_UP_LIMIT_MS);
  });

  it('is answered by one call when every turn comes to the next server, the key and its start apart', async () => {
    const keys = ['1', '2', '3'];
    const script = keys.map((key) => press(key));
    const calls = [0, 1].map((first) => stage.call({ script, serverOf: (rpc) => ((first + rpc) % 2 === 0 ? HOME : FORWARDER) }));
    for (const call of calls) {
      const { texts, findings } = await call.heard();
      expect({ texts, findings }, call.story).toEqual({ texts: answersTo(...keys), findings: [] });
    }
  });
});

describe.concurrent('a server that stops in good order', () => {
  it('gives its calls to the other one between two turns, sends new calls there, and callers hear nothing', async () => {
    const leaving = stage.replica(LEAVING);
    const [noticed, gone] = [new AbortController(), new AbortController()];
    const script = [press('1'), silentUntil(noticed.signal), press('2'), silentUntil(gone.signal), press('3')];
    const toBoth = stage.call({ script, serverOf: (rpc) => (leaving.isRunning && rpc % 2 === 0 ? LEAVING : HOME) });
    const toOther = stage.call({ script, serverOf: (rpc) => (rpc === 0 ? LEAVING : HOME) });
    await Promise.all([toBoth, toOther].map((call) => call.reached('waits')));
    const stopped = leaving.stop();
    await until('it is not ready any more', async () => !(await leaving.isReady()), NOTICE_MS);
    // Load balancers need a moment to notice, and send new calls meanwhile.
    const isNew = stage.call({ script, serverOf: (rpc) => (rpc === 0 ? LEAVING : HOME) });
    await isNew.reached('prompt');
    expect(leaving.isRunning, 'the new call came in time').toBe(true);
    expect(await stage.livesAt(LEAVING, [isNew]), 'the new call lives elsewhere').toEqual([false]);
    noticed.abort();
    const exit = await stopped;
    expect(exit.code).toBe(0);
    gone.abort();
    for (const call of [toBoth, toOther, isNew]) {
      const { texts, waitMs, turnsLost, turnsRepeated, findings } = await call.heard();
      expect(texts, call.story).toEqual(answersTo('1', '2', '3'));
      expect({ turnsLost, turnsRepeated, findings }, call.story).toEqual({ turnsLost: 0, turnsRepeated: 0, findings: [] });
      expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
    }
  });
});
