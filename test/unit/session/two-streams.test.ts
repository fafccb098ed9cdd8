// What one stream of a call means for the other one: a farewell, keys and speech on two of them at once.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type BotEar } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import type { Recognizer } from '../../../src/session/ports.ts';
import { LINE_SILENCE, SENTENCE } from '../../support/caller-audio.ts';
import { testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { reasonOf } from '../../support/interruption.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { gateOf } from '../../support/homes.ts';

const OPENING = { organizationId: 'org', conversationId: 'call-1', agentId: '', vendorConfig: '', parameters: {} };
/** The fake voice takes 10 ms a character. */
const GOODBYE = 'Goodbye, and thank you for calling. '.repeat(10);
const GOODBYE_MS = GOODBYE.length * 10;
const FRAME: Input = { kind: 'audio', audio: new Uint8Array(160).fill(0xff) };
/** Part of a sentence: more speech than a start needs, and less than an interruption needs. */
const COUGH: readonly Input[] =
  SENTENCE.kind === 'audio' ? [LINE_SILENCE, { kind: 'audio', audio: SENTENCE.audio.subarray(0, 8 * 500) }, LINE_SILENCE] : [];

const ears = new Set<BotEar>();
const definition = {
  id: 'plain',
  name: 'Plain',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  dtmf_input: (_: null, { digits }: { readonly digits: string }) => {
    if (digits === '9') return go(null, say(GOODBYE).end('done'));
    if (digits === '8') return go(null, say(GOODBYE, { bargeIn: false }).listen());
    return digits === '7' ? new Promise<never>(() => undefined) : go(null, say('Yes?').listen());
  },
  custom_event: () => go(null, say(GOODBYE).end('done')),
  otherwise: () => go(null, say('What?').listen()),
};
const plain = bot<null>(definition);
const selfHearing = bot<null>({
  ...definition,
  endpointing: 'bot',
  audio_input: (_pcm, _call, ear) => {
    ears.add(ear);
  },
});

/** A call whose welcome was heard. */
async function begun(options: Parameters<typeof testEngine>[1] = {}, which = plain) {
  ears.clear();
  const engine = await testEngine([which], {
    ...options,
    settings: { maxFarewellMs: 30_000, turnDeadlineMs: 60_000, ...options.settings },
  });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(5000);
  return { ...engine, call, session: await engine.sessions.acquire(OPENING) };
}

type Begun = Awaited<ReturnType<typeof begun>>;

/** So many of its streams open and are cancelled. */
function cancelled(streams: number) {
  return async ({ call }: Begun): Promise<void> => {
    for (let stream = 0; stream < streams; stream += 1) (await call.open()).turn.abort('hang_up');
  };
}

/** One whose farewell is being spoken. */
async function sayingFarewell(which = plain) {
  const engine = await begun({}, which);
  const farewell = await engine.call.open({ kind: 'dtmf', digits: '9' });
  await flushMicrotasks();
  return { ...engine, farewell };
}

describe('a caller who speaks while a farewell is spoken on another stream', () => {
  it('G-55 does not cut them when the server stops', async () => {
    const { call, clock, sessions, farewell } = await sayingFarewell();
    const newer = await call.open(FRAME);
    const closing = sessions.close(GOODBYE_MS + 1000);
    await clock.advanceAsync(GOODBYE_MS - 100);
    expect(farewell.sink.end).toBe('open');
    await clock.advanceAsync(2000);
    expect(farewell.sink.next).toMatchObject({ kind: 'end', metadata: { outcome: 'done' } });
    expect(newer.sink.end).toBe('complete');
    await closing;
  });

  it('may go on for long: what is heard meanwhile does not pile up', async () => {
    const { call, farewell } = await sayingFarewell();
    const newer = await call.open();
    for (let frame = 0; frame < 200; frame += 1) newer.turn.push(FRAME);
    await expect(call.open()).resolves.toBeDefined();
    newer.turn.halfClose();
    expect([newer.sink.kinds, newer.sink.end, farewell.sink.end]).toEqual([[], 'complete', 'open']);
  });

  it('G-77 gets the end once on the next stream when the stream of the farewell breaks', async () => {
    const { call, clock, farewell } = await sayingFarewell();
    farewell.turn.abort('hang_up');
    await clock.advanceAsync(GOODBYE_MS);
    const next = await call.open();
    for (let frame = 0; frame < 200; frame += 1) next.turn.push(FRAME);
    await expect(call.open()).resolves.toBeDefined();
    await next.sink.ended();
    expect([next.sink.kinds, next.sink.next]).toMatchObject([['final'], { kind: 'end', metadata: { outcome: 'done' } }]);
  });

  it('G-38 gets the end of the speech that was reported before the call was over', async () => {
    const { call, clock } = await begun();
    const speaking = await call.open(LINE_SILENCE, SENTENCE);
    expect(speaking.sink.kinds).toEqual(['input_started']);
    const farewell = await call.open({ kind: 'custom_event', name: 'closed', parameters: {} });
    await clock.advanceAsync(GOODBYE_MS + 1000);
    expect(farewell.sink.next).toMatchObject({ kind: 'end' });
    speaking.turn.halfClose();
    expect([speaking.sink.kinds, speaking.sink.end]).toEqual([['input_started', 'input_ended', 'final'], 'complete']);
  });
});

describe('a call that its bot ends on one of two streams', () => {
  it('G-13 has the other one completed when nothing has come on it', async () => {
    const { call, clock, seen } = await begun();
    const waiting = await call.open(FRAME);
    const farewell = await call.open({ kind: 'custom_event', name: 'closed', parameters: {} });
    await flushMicrotasks();
    expect(waiting.sink.end).toBe('open');
    await clock.advanceAsync(GOODBYE_MS + 1000);
    expect(farewell.sink.next).toMatchObject({ kind: 'end' });
    expect([waiting.sink.kinds, waiting.sink.end]).toEqual([[], 'complete']);
    expect(seen.slice(-3)).toEqual(['session_ended bot_end', 'turn_ended replied', 'turn_ended nothing_said']);
  });
});

describe('a caller whom the server transfers', () => {
  it('has a stream that opened meanwhile completed after the farewell', async () => {
    const { call, clock, seen, sessions } = await begun();
    const older = await call.open(FRAME);
    const closing = sessions.close(10_000);
    await clock.advanceAsync(5050);
    const newer = await call.open(FRAME);
    await clock.advanceAsync(3000);
    expect(older.sink.next).toMatchObject({ kind: 'transfer' });
    expect([newer.sink.kinds, newer.sink.end]).toEqual([[], 'complete']);
    expect(seen.slice(-3)).toEqual(['session_ended shutdown', 'turn_ended shutdown', 'turn_ended nothing_said']);
    await closing;
  });
});

describe('a bot that finds start and end of speech itself', () => {
  it('G-37 starts nothing while a prompt plays that cannot be cut', async () => {
    const { call, clock } = await begun({}, selfHearing);
    const { sink } = await call.open(LINE_SILENCE);
    await call.press('8');
    for (const ear of ears) ear.speechStarted();
    expect([ears.size, sink.kinds]).toEqual([1, []]);
    clock.advance(GOODBYE_MS);
    for (const ear of ears) ear.speechStarted();
    expect(sink.kinds).toEqual(['input_started']);
  });

  it('starts nothing once the end of the call is pending', async () => {
    const engine = await begun({}, selfHearing);
    const { sink } = await engine.call.open(LINE_SILENCE);
    const farewell = await engine.call.open({ kind: 'dtmf', digits: '9' });
    await flushMicrotasks();
    farewell.turn.abort('hang_up');
    await engine.clock.advanceAsync(GOODBYE_MS);
    for (const ear of ears) ear.speechStarted();
    expect([ears.size, sink.kinds]).toEqual([1, []]);
  });
});

describe('a short sound', () => {
  it('is enough to be heard where nothing is said and nothing is being answered', async () => {
    const { call } = await begun();
    const { sink } = await call.open(...COUGH);
    expect(sink.kinds[0]).toBe('input_started');
  });

  it('is not enough to lose a reply that is still being made', async () => {
    const { call } = await begun();
    await call.open({ kind: 'dtmf', digits: '7' });
    await flushMicrotasks();
    const { sink } = await call.open(...COUGH);
    expect(sink.kinds).toEqual([]);
  });
});

describe('a caller who goes on after a pause', () => {
  it('is heard to the end, also where nobody recognizes speech', async () => {
    const { call } = await begun({ settings: {} }, bot<null>({ ...definition, speech: { endSilenceMs: 600, resumeGraceMs: 2000 } }));
    const pause: Input = { kind: 'audio', audio: new Uint8Array(900 * 8).fill(0xff) };
    const sink = await call.turn(LINE_SILENCE, SENTENCE, pause, SENTENCE, LINE_SILENCE);
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
  });

  it('G-54 with keys has nothing of the words recognized any more', async () => {
    const signals: AbortSignal[] = [];
    const recognizer: Recognizer = {
      recognize: (_utterance, signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    };
    const { call } = await begun({ recognizer }, bot<null>({ ...definition, speech: { endSilenceMs: 600, resumeGraceMs: 2000 } }));
    const pause: Input = { kind: 'audio', audio: new Uint8Array(900 * 8).fill(0xff) };
    const sink = await call.turn(LINE_SILENCE, SENTENCE, pause, { kind: 'dtmf', digits: '1' });
    expect(sink.texts).toContain('Yes?');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('is not waited for as one who is typing when nothing came of the words', async () => {
    const { call, clock, session } = await begun();
    const speaking = await call.open(LINE_SILENCE, SENTENCE);
    const other = await call.open();
    speaking.turn.abort('hang_up');
    other.turn.halfClose();
    clock.advance(3000);
    expect(session.isAwaited(clock.monotonicMs())).toBe(false);
  });
});

describe('a client that opens and cancels streams', () => {
  it('is refused when too many of them wait for the bot to be notified', async () => {
    const bench = await begun({}, bot<null>({ ...definition, turn_started: () => new Promise(() => undefined) }));
    await cancelled(64)(bench);
    await expect(bench.call.open()).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('a bot that is still thinking', () => {
  it('G-74 is notified of a hang-up on the very stream that it answers', async () => {
    const reasons: unknown[] = [];
    const thinker = bot<null>({
      ...definition,
      dtmf_input: (_state, _event, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            reasons.push(reasonOf(signal));
            resolve(go(null, say('Too late.').listen()));
          });
        }),
    });
    const { call, seen } = await begun({}, thinker);
    const { turn, sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    turn.push({ kind: 'session_end' });
    expect([reasons, sink.next, sink.end]).toEqual([['hang_up'], { kind: 'gone' }, 'complete']);
    expect(seen.at(-1)).toBe('turn_ended hang_up');
  });
});

describe('a wire that needs room for one more input', () => {
  const busyUntil = (opened: Promise<void>) => ({ ...definition, dtmf_input: () => opened.then(() => go(null, say(GOODBYE).end('done'))) });
  /** Only then has the bot its farewell. */
  const talkedOver = async ({ call }: Begun, think: () => void): Promise<void> => {
    await call.open({ kind: 'dtmf_start' });
    think();
  };

  it.each([
    ['none while there is room', 7, () => undefined, [true, 'open']],
    ['the oldest when there is none', 8, () => undefined, [true, 'complete']],
    // Last words are said on it, ours or those of the bot.
    ['not the one on which we end the call', 8, ({ session }: Begun) => void session.leave('shutdown'), [false, 'open']],
    ['not the one on which the bot ends it', 8, talkedOver, [false, 'open']],
    ['none when it would not help, because too many inputs wait', 2, cancelled(61), [false, 'open']],
  ] as const)('completes of the replies that nobody wants %s', async (_which, streams, prepare, expected) => {
    const { opened, open: think } = gateOf();
    const hangs = { turn_started: () => new Promise<never>(() => undefined) };
    const bench = await begun({}, bot<null>({ ...busyUntil(opened), ...(streams === 2 ? hangs : {}) }));
    const { sink } = await bench.call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    await prepare(bench, think);
    await flushMicrotasks();
    await bench.call.open({ kind: 'dtmf_start' });
    while (bench.session.openTurns < streams) await bench.call.open();
    expect([bench.session.makeRoom(), sink.end]).toEqual(expected);
  });
});
