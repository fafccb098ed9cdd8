// What a call of a load tells of the waits of its caller: also of those that nobody ended.
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { scaledClock } from '../../../../src/base/scaled-clock.ts';
import { EVENT_INPUT } from '../../../../src/contract/numbers.ts';
import type { WaitFact, CallFacts } from '../../../../src/fake-platform/load/call-facts.ts';
import { ConnectionPool } from '../../../../src/fake-platform/load/connection-pool.ts';
import { holdLoadCall, type LoadScenario } from '../../../../src/fake-platform/load/load-call.ts';
import { KnownSounds } from '../../../../src/fake-platform/load/prompt-watch.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import { parseTarget } from '../../../../src/fake-platform/lines/target.ts';
import { pcmWav } from '../../../../src/speech/wav.ts';
import { tone, wavReply } from '../../../support/call-lab.ts';
import { eventOnly, listenFor, startScriptedServer, type ScriptedTurn, type TurnScript } from '../../../support/scripted-server.ts';

const PACE = 20;
const LIMITS = { callMs: 100_000, connectMs: 100_000, answerMs: 40_000, hangUpMs: 5000 };
/** Time that a busy machine may add to a wait, ms of the fast clock. */
const SLACK_MS = 4000;
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface Held {
  readonly facts: CallFacts;
  readonly waits: readonly WaitFact[];
  /** Whether the caller waited for something, as asked at times of the call. */
  readonly asked: readonly boolean[];
}

interface Wish {
  readonly scenario?: Partial<LoadScenario>;
  readonly limits?: Partial<typeof LIMITS>;
  /** The load ends the call then, ms. */
  readonly breakOffAtMs?: number;
  readonly askAtMs?: number;
}

async function held(script: TurnScript, { scenario, limits, breakOffAtMs, askAtMs }: Wish = {}): Promise<Held> {
  const clock = scaledClock(PACE);
  const server = await startScriptedServer({ script });
  const pool = new ConnectionPool(
    { target: parseTarget(server.target), profile: loadProfile('fake'), clock, connectLimitMs: LIMITS.connectMs },
    10,
  );
  closers.push(() => {
    pool.close();
    server.close();
  });
  const stop = new AbortController();
  const waits: WaitFact[] = [];
  const asked: boolean[] = [];
  const plain = { agentId: '', organizationId: '', vendorConfig: '', allowPartial: false };
  const line = pool.line({ ...plain, conversationId: 'c-1', organizationId: 'o-1' });
  const zeroMs = clock.monotonicMs();
  if (breakOffAtMs !== undefined) {
    clock.after(breakOffAtMs, () => {
      stop.abort();
    });
  }
  const facts = await holdLoadCall({
    arrival: { number: 0, scenario: 0, dueMs: 0 },
    scenario: {
      ...{ name: 'it', organizationId: 'o-1', agentId: '', noInputMs: 0, repeatsLostTurns: false, limits: { ...LIMITS, ...limits } },
      ...scenario,
    },
    line,
    clock,
    zeroMs,
    known: new KnownSounds(),
    signal: stop.signal,
    onWaited: (wait) => waits.push(wait),
    onBegun: (isWaitingSince) => {
      asked.push(isWaitingSince(0), isWaitingSince(-1));
      if (askAtMs !== undefined) clock.after(askAtMs, () => asked.push(isWaitingSince(askAtMs)));
    },
  });
  line.close();
  return { facts, waits, asked };
}

function eventOf(turn: ScriptedTurn): number | undefined {
  return turn.received[0]?.message.event_input?.event_type;
}

/** Welcomes, and leaves the rest to a script. */
function afterWelcome(rest: TurnScript): TurnScript {
  return async (turn) => {
    await turn.until(({ received }) => received.length > 0);
    if (eventOf(turn) === EVENT_INPUT.SESSION_START) {
      await turn.halfClosed();
      turn.send(wavReply(100, {}, { text: 'Welcome.' }));
      turn.complete();
    } else await rest(turn);
  };
}

/** A wait of one kind must be there once. */
function waitOf(kind: WaitFact['kind'], { waits }: Held): number {
  const found = waits.filter((wait) => wait.kind === kind);
  expect(found, kind).toHaveLength(1);
  return found[0]?.waitedMs ?? 0;
}

const neverAnswers: TurnScript = () => undefined;
const SAYS: Partial<LoadScenario> = { script: [{ kind: 'say', label: 'hello', mulaw: tone(500) }] };

describe('the waits of a call of a load', () => {
  it('last until the call is broken off when nothing was ever heard', async () => {
    const call = await held(neverAnswers, { breakOffAtMs: 8000 });
    expect(call.facts).toMatchObject({ outcome: 'interrupted', isHeard: false });
    expect(waitOf('first_audio', call)).toBeGreaterThanOrEqual(7900);
    expect(call.waits[0]?.fromMs).toBe(0);
    expect(call.asked).toEqual([true, false]);
  });

  it('last until the caller loses patience, and not until the server got the hang-up', async () => {
    const call = await held(neverAnswers, { scenario: { hangUpAtMs: 8000 } });
    expect(call.facts).toMatchObject({ outcome: 'hung_up', isHeard: false });
    const waited = waitOf('first_audio', call);
    expect(waited).toBeGreaterThanOrEqual(7900);
    expect(waited).toBeLessThan(8000 + SLACK_MS);
  });

  it('are no longer than the limit when the server never answers', async () => {
    const call = await held(neverAnswers, { limits: { answerMs: 10_000 } });
    expect(call.facts.failures.map(({ code }) => code)).toContain('no_answer');
    const waited = waitOf('first_audio', call);
    expect(waited).toBeGreaterThanOrEqual(9900);
    expect(waited).toBeLessThan(10_000 + SLACK_MS);
  });

  it.each<[string, TurnScript]>([
    ['hears nothing of it', neverAnswers],
    [
      'has heard the end of it',
      async (turn) => {
        await turn.speech();
        turn.send(eventOnly('START_OF_INPUT'));
        await turn.silenceAfterSpeech();
        turn.send(eventOnly('END_OF_INPUT'));
      },
    ],
  ])('last until the call is broken off when a reply to speech never comes, and the server %s', async (_, rest) => {
    const call = await held(afterWelcome(rest), { scenario: SAYS, breakOffAtMs: 20_000, askAtMs: 18_000 });
    expect(call.facts.isHeard).toBe(true);
    expect(waitOf('speech_reply', call)).toBeGreaterThan(8000);
    expect(call.asked.at(-1)).toBe(true);
  });

  it('count a reply that never comes also when the call fails by it', async () => {
    const call = await held(afterWelcome(neverAnswers), { scenario: SAYS, limits: { answerMs: 10_000 } });
    expect(call.facts.outcome).toBe('failed');
    expect(waitOf('speech_reply', call)).toBeGreaterThanOrEqual(9900);
  });

  it('begin with the last key, although the server lets the digits wait', async () => {
    const stallMs = 6000;
    const clock = scaledClock(PACE);
    const call = await held(
      afterWelcome(async (turn) => {
        await turn.halfClosed();
        const event = eventOf(turn);
        if (event === EVENT_INPUT.START_OF_DTMF) await new Promise<void>((resolve) => clock.after(stallMs, resolve));
        else if (event !== EVENT_INPUT.SESSION_END) turn.send(wavReply(100));
        turn.complete();
      }),
      { scenario: { script: [{ kind: 'press', keys: ['1', '2', '3', '4'] }] } },
    );
    expect(call.facts.failures).toEqual([]);
    // The four keys take a second themselves.
    expect(waitOf('key_reply', call)).toBeGreaterThan(stallMs - 3000);
  });

  it('are none of a server that refuses the call', async () => {
    const call = await held((turn) => {
      turn.fail(status.RESOURCE_EXHAUSTED, 'no room');
    });
    expect(call.facts).toMatchObject({ outcome: 'failed', isHeard: false });
    expect(call.waits).toEqual([]);
  });
});

describe('what a call of a load hears', () => {
  it('is also a prompt of another rate', async () => {
    const call = await held(async (turn) => {
      await turn.halfClosed();
      const audio = pcmWav([new Int16Array(16_000)], 16_000);
      if (eventOf(turn) === EVENT_INPUT.SESSION_START) turn.send({ ...listenFor(), prompts: [{ audio_content: audio }] });
      turn.complete();
    });
    expect(call.facts).toMatchObject({ outcome: 'hung_up', isHeard: true, breaches: [], failures: [] });
    // The caller listens to the end: a second, not two.
    expect(call.facts.durationMs).toBeGreaterThan(990);
    expect(call.waits.map(({ kind }) => kind)).toEqual(['first_audio']);
  });

  it('is also a prompt that comes with the end of the call', async () => {
    const call = await held(async (turn) => {
      await turn.halfClosed();
      turn.send({ ...wavReply(100), ...eventOnly('SESSION_END') });
      turn.complete();
    });
    expect(call.facts).toMatchObject({ outcome: 'ended', isHeard: true });
    expect(call.waits.map(({ kind }) => kind)).toEqual(['first_audio']);
  });

  it('is not a text without sound', async () => {
    const call = await held(async (turn) => {
      await turn.halfClosed();
      if (eventOf(turn) === EVENT_INPUT.SESSION_START) turn.send({ ...listenFor(), prompts: [{ text: 'Welcome.' }] });
      turn.complete();
    });
    expect(call.facts).toMatchObject({ outcome: 'hung_up', isHeard: false });
  });
});
