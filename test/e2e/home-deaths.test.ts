// Servers that die or stand still while they are the home of calls, with real processes and Redis: what the callers hear. Each turn
// is sent to the server that the test names.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage, openCalls } from '../fleet/home-stage.ts';
import { recordedPhrases } from '../fleet/phrases.ts';
import { press, type RoutedCall } from '../fleet/routed-call.ts';
import type { Step } from '../../src/fake-platform/script.ts';
import { requireDebian } from '../support/debian.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

/** A reply that comes no later than this is not late, ms: the end of what is said takes 800, and the machine is busy. */
const PROMPT_MS = 2500;
/** As long as key 7 makes the bot think, ms. */
const THINKING_MS = 3000;
/** A server that stands still is found dead by then, ms. */
const FOUND_DEAD_MS = 3000;
/** Into the middle of each phase, from the moment at which all calls are in theirs, ms. */
const INTO_THE_PHASE_MS = 500;
const STOPPED_MS = 4000;
/** Within one beat, and the time that a busy machine takes, ms. */
const BEAT_LIMIT_MS = 2000;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;
let speech: Step;

beforeAll(async () => {
  if (!isReady) return;
  stage = await HomeStage.start(2);
  speech = { kind: 'say', label: 'a sentence', mulaw: Buffer.from((await recordedPhrases()).at(-1) ?? '', 'base64') };
});
afterEach(async () => {
  if (!isReady) return;
  await stage.repair();
  await stage.empty();
});
afterAll(async () => {
  if (isReady) await stage.close();
});

type Phase = 'silence' | 'speech' | 'thinking' | 'reply' | 'farewell';

/** What a caller does to be in the middle of something, how the timeline calls it, and what is then heard in all. */
const PHASES: Readonly<
  Record<Phase, { readonly script: () => readonly Step[]; readonly begins: string; readonly texts: readonly string[] }>
> = {
  silence: {
    script: () => [{ kind: 'wait', waitMs: 3500 }, press('1')],
    begins: 'waits',
    texts: ['Answer 1.', 'You have pressed the key 1.'],
  },
  speech: { script: () => [speech], begins: 'speaks', texts: ['Answer 1.', 'You have said something.'] },
  thinking: { script: () => [press('7')], begins: 'presses', texts: ['Answer 1.', 'You have pressed the key 7.'] },
  reply: { script: () => [press('8')], begins: 'presses', texts: ['Answer 1.', 'You have pressed the key 8.'] },
  farewell: {
    script: () => [press('9')],
    begins: 'presses',
    texts: ['Goodbye after 0.', 'It was a pleasure to count with you. Please call again soon.'],
  },
};
// What it is written with.
const NAMES = Object.keys(PHASES) as readonly Phase[];

function callIn(phase: Phase, serverOf: (rpc: number) => number, repeatsLostTurns: boolean): RoutedCall {
  return stage.call({ script: PHASES[phase].script(), serverOf, repeatsLostTurns });
}

/** Its caller has heard everything that is to be heard, and each of it where it belongs. */
async function expectWhole(phase: Phase, call: RoutedCall, maxWaitMs: number): Promise<number> {
  const { texts, outcome, turnsLost, turnsRepeated, turnsReopened, waitMs, findings } = await call.heard();
  const story = `${phase}\n${call.story}`;
  expect(texts, story).toEqual(['Welcome to the counter.', ...PHASES[phase].texts]);
  expect(outcome, story).toBe(phase === 'farewell' ? 'ended' : 'hung_up');
  expect({ turnsLost, broken: findings.filter(({ rule }) => rule !== undefined) }, story).toEqual({ turnsLost: 0, broken: [] });
  expect(waitMs, story).toBeLessThan(maxWaitMs);
  return turnsRepeated + turnsReopened;
}

describe('a home that is killed', () => {
  it('is not missed where turns are forwarded to it, in any phase of a call; a turn that came to it directly is lost, and answered elsewhere when the platform says it again', async () => {
    const forwarded = NAMES.map((phase) => ({ phase, call: callIn(phase, (rpc) => (rpc === 0 ? 0 : 1), false) }));
    const direct = NAMES.map((phase) => ({ phase, call: callIn(phase, () => (stage.replica(0).isRunning ? 0 : 1), true) }));
    const calls = [...forwarded, ...direct];
    await Promise.all(calls.map(({ phase, call }) => call.reached(PHASES[phase].begins)));
    await pause(INTO_THE_PHASE_MS);
    expect(await stage.homes()).toEqual([calls.length, 0]);
    await stage.replica(0).kill();
    // A refused connection is enough to know; no beat is waited for.
    await until('they live at the other one', async () => (await openCalls(stage.replica(1))) >= forwarded.length, BEAT_LIMIT_MS);
    // The bot has to think once more, because nobody knows what it thought before.
    const limitMs = (phase: Phase): number => PROMPT_MS + (phase === 'thinking' ? THINKING_MS : 0);
    for (const { phase, call } of forwarded) expect(await expectWhole(phase, call, limitMs(phase)), call.story).toBe(0);
    // What was said so far is said from its beginning.
    for (const { phase, call } of direct) expect(await expectWhole(phase, call, PROMPT_MS + limitMs(phase)), call.story).toBeGreaterThan(0);
  });

  it('is not taken for the process that starts at its address: that one takes the call over, and the caller goes on', async () => {
    const home = stage.replica(0);
    await home.kill();
    const flags = [`--peers.port=${String(await freePort())}`];
    await home.start({ flags });
    const call = stage.call({
      script: [press('1'), { kind: 'wait', waitMs: 2000 }, press('2')],
      serverOf: () => 0,
      repeatsLostTurns: true,
    });
    await call.reached('waits');
    await home.kill();
    await home.start({ flags });
    const { texts, turnsLost } = await call.heard();
    expect(texts, call.story).toEqual([
      ...['Welcome to the counter.', 'Answer 1.', 'You have pressed the key 1.', 'Answer 2.', 'You have pressed the key 2.'],
    ]);
    expect(turnsLost, call.story).toBe(0);
  });
});

describe('a home that stands still', () => {
  it('costs callers whose turns are forwarded one late reply, and ends what was taken from it without a word when it goes on', async () => {
    const phases = ['speech', 'thinking'] as const;
    const forwarded = phases.map((phase) => ({ phase, call: callIn(phase, (rpc) => (rpc === 0 ? 0 : 1), false) }));
    // Nobody else has its streams: it waits with its home.
    const direct = callIn('thinking', () => 0, false);
    const calls = [...forwarded, { phase: 'thinking', call: direct } as const];
    await Promise.all(calls.map(({ phase, call }) => call.reached(PHASES[phase].begins)));
    await pause(INTO_THE_PHASE_MS);
    stage.replica(0).signal('SIGSTOP');
    await until('both calls live at the other server', async () => (await openCalls(stage.replica(1))) === 2, STOPPED_MS);
    await pause(STOPPED_MS - FOUND_DEAD_MS);
    stage.replica(0).signal('SIGCONT');
    await until('the one that was taken for dead has one call left', async () => (await openCalls(stage.replica(0))) === 1, BEAT_LIMIT_MS);
    expect(await stage.homes()).toEqual([1, 2]);
    for (const { phase, call } of calls) {
      const thinkingMs = phase === 'thinking' ? THINKING_MS : 0;
      const cut = await expectWhole(phase, call, PROMPT_MS + thinkingMs + (call === direct ? STOPPED_MS : FOUND_DEAD_MS));
      expect(cut, call.story).toBe(0);
    }
  });
});
