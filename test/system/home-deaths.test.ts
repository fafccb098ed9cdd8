// Servers that die or stand still while they are the home of calls, with real processes and Redis: what the callers hear. Each turn
// is sent to the server that the test names, and each test has a home of its own; the other server is there for all of them.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage } from '../fleet/home-stage.ts';
import { LineRelay } from '../fleet/line-relay.ts';
import { recordedPhrases } from '../fleet/phrases.ts';
import { press, silentUntil, type RoutedCall } from '../fleet/routed-call.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { requireDebian } from '../support/debian.ts';
import { until } from '../support/until.ts';

const KILLED = 0;
/** Its peer port is at an address that another process can be given. */
const REPLACED = 1;
const FROZEN = 2;
const OTHER = 3;
/** Has no call. */
const STRANGER = 4;

const REPLACED_HOST = '127.0.0.2';

/** A reply that comes no later than this is not late, ms: the end of what is said takes 800, and the machine is busy. */
const PROMPT_MS = 2500;
/** As long as key 7 makes the bot think, ms. */
const THINKING_MS = 2000;
/** A server that stands still is found dead by then, ms: within three seconds, and the time that a busy machine takes. */
const FOUND_DEAD_MS = 5000;
/** Into the middle of each phase, from the moment at which all calls are in theirs, ms. */
const INTO_THE_PHASE_MS = 500;
/** Within one beat, and the time that a busy machine takes, ms. */
const BEAT_LIMIT_MS = 2000;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;
/** Where the others dial the one that is replaced. */
let address: LineRelay;
let speech: Step;

beforeAll(async () => {
  if (!isReady) return;
  stage = await HomeStage.start(5, [], {
    startOf: (replica) => (replica === REPLACED ? { flags: [`--peers.address=${REPLACED_HOST}`] } : {}),
  });
  const { peer: port } = stage.replica(REPLACED).ports;
  address = await LineRelay.start(port, { host: REPLACED_HOST, port });
  speech = { kind: 'say', label: 'a sentence', mulaw: Buffer.from((await recordedPhrases()).at(-1) ?? '', 'base64') };
});
afterAll(async () => {
  if (!isReady) return;
  await address.close();
  await stage.close();
});

type Phase = 'silence' | 'speech' | 'thinking' | 'reply' | 'farewell';

/** What a caller does to be in the middle of something, how the timeline calls it, and what is then heard in all. */
const PHASES: Readonly<
  Record<Phase, { readonly script: (quiet: AbortSignal) => readonly Step[]; readonly begins: string; readonly texts: readonly string[] }>
> = {
  silence: { script: (quiet) => [silentUntil(quiet), press('1')], begins: 'waits', texts: ['Answer 1.', 'Key 1.'] },
  speech: { script: () => [speech], begins: 'speaks', texts: ['Answer 1.', 'Speech.'] },
  thinking: { script: () => [press('7')], begins: 'presses', texts: ['Answer 1.', 'Key 7.'] },
  reply: { script: () => [press('8')], begins: 'presses', texts: ['Answer 1.', 'Key 8.'] },
  farewell: { script: () => [press('9')], begins: 'presses', texts: ['Goodbye.', 'It was a pleasure to count with you.'] },
};
// What it is written with.
const NAMES = Object.keys(PHASES) as readonly Phase[];

interface PhaseCall {
  readonly phase: Phase;
  readonly call: RoutedCall;
}

function callIn(
  phase: Phase,
  serverOf: (rpc: number) => number,
  { repeatsLostTurns = false, quiet = new AbortController().signal } = {},
): PhaseCall {
  return { phase, call: stage.call({ script: PHASES[phase].script(quiet), serverOf, repeatsLostTurns }) };
}

function callsOf(all: readonly PhaseCall[]): readonly RoutedCall[] {
  return all.map(({ call }) => call);
}

/** All callers are in the middle of their phases. */
async function reachPhases(calls: readonly PhaseCall[]): Promise<void> {
  await Promise.all(calls.map(({ phase, call }) => call.reached(PHASES[phase].begins)));
  await pause(INTO_THE_PHASE_MS);
}

/** Its caller has heard everything that is to be heard, and each of it where it belongs. */
async function expectWhole({ phase, call }: PhaseCall, maxWaitMs: number): Promise<number> {
  const { texts, outcome, turnsLost, turnsRepeated, turnsReopened, waitMs, findings } = await call.heard();
  const story = `${phase}\n${call.story}`;
  expect(texts, story).toEqual(['Hello.', ...PHASES[phase].texts]);
  expect(outcome, story).toBe(phase === 'farewell' ? 'ended' : 'hung_up');
  expect({ turnsLost, broken: findings.filter(({ rule }) => rule !== undefined) }, story).toEqual({ turnsLost: 0, broken: [] });
  expect(waitMs, story).toBeLessThan(maxWaitMs);
  return turnsRepeated + turnsReopened;
}

describe.concurrent('a home that is killed', () => {
  it('is not missed where turns are forwarded to it, in any phase of a call; a turn that came to it directly is lost, and answered elsewhere when the platform says it again', async () => {
    const home = stage.replica(KILLED);
    const over = new AbortController();
    const quiet = over.signal;
    const forwarded = NAMES.map((phase) => callIn(phase, (rpc) => (rpc === 0 ? KILLED : OTHER), { quiet }));
    const direct = NAMES.map((phase) => callIn(phase, () => (home.isRunning ? KILLED : OTHER), { quiet, repeatsLostTurns: true }));
    const all = [...forwarded, ...direct];
    await reachPhases(all);
    await stage.live(callsOf(all), KILLED, [OTHER]);
    await home.kill();
    // A refused connection is enough to know; no beat is waited for.
    await stage.live(callsOf(forwarded.filter(({ phase }) => phase !== 'farewell')), OTHER, [], BEAT_LIMIT_MS);
    over.abort();
    // The bot may have thought to the end when its home died, and has to think once more: nobody knows what it thought.
    const limitMs = (phase: Phase): number => PROMPT_MS + (phase === 'thinking' ? 2 * THINKING_MS : 0);
    for (const each of forwarded) expect(await expectWhole(each, limitMs(each.phase)), each.call.story).toBe(0);
    // What was said so far is said from its beginning.
    for (const each of direct) expect(await expectWhole(each, PROMPT_MS + limitMs(each.phase)), each.call.story).toBeGreaterThan(0);
  });

  it('is not taken for another process that answers at its address by now: its call is taken over, and the caller hears nothing', async () => {
    const home = stage.replica(REPLACED);
    const over = new AbortController();
    const script = [press('1'), silentUntil(over.signal), press('2')];
    const call = stage.call({ script, serverOf: (rpc) => (rpc === 0 ? REPLACED : OTHER) });
    await call.reached('waits');
    await stage.live([call], REPLACED, [OTHER, STRANGER]);
    await home.kill();
    address.turnTo(stage.replica(STRANGER).ports.peer);
    await stage.live([call], OTHER, [STRANGER], BEAT_LIMIT_MS);
    over.abort();
    const { texts, waitMs, turnsLost, turnsRepeated } = await call.heard();
    expect(texts, call.story).toEqual(['Hello.', 'Answer 1.', 'Key 1.', 'Answer 2.', 'Key 2.']);
    expect({ turnsLost, turnsRepeated }, call.story).toEqual({ turnsLost: 0, turnsRepeated: 0 });
    expect(waitMs, call.story).toBeLessThan(PROMPT_MS);
  });
});

describe.concurrent('a home that stands still', () => {
  it('costs callers whose turns are forwarded one late reply, and ends what was taken from it without a word when it goes on', async () => {
    const home = stage.replica(FROZEN);
    const forwarded = (['speech', 'thinking'] as const).map((phase) => callIn(phase, (rpc) => (rpc === 0 ? FROZEN : OTHER)));
    // Nobody else has its streams: it waits with its home.
    const direct = callIn('thinking', () => FROZEN);
    await reachPhases([...forwarded, direct]);
    home.signal('SIGSTOP');
    const all = [...forwarded, direct];
    await stage.live(callsOf(forwarded), OTHER, [], FOUND_DEAD_MS);
    home.signal('SIGCONT');
    const isLeft = async (): Promise<boolean> => (await stage.livesAt(FROZEN, callsOf(all))).join() === 'false,false,true';
    await until('the one that was taken for dead has the other call alone', isLeft, BEAT_LIMIT_MS);
    expect(await stage.livesAt(OTHER, [direct.call]), 'what nobody else could hear of stays').toEqual([false]);
    for (const each of all) {
      const thinkingMs = each.phase === 'thinking' ? 2 * THINKING_MS : 0;
      const cut = await expectWhole(each, PROMPT_MS + thinkingMs + FOUND_DEAD_MS);
      expect(cut, each.call.story).toBe(0);
    }
  });
});
