// A server that is stopped while callers are in the middle of something: what becomes of each of them.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { LINE_SILENCE } from '../../support/caller-audio.ts';
import { testEngine, TEST_SETTINGS, type TestEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall, type MemoryTurn } from '../../support/memory-transport.ts';
import type { CutCalls } from '../../../src/session/draining.ts';

/** The fake voice takes 10 ms a character. */
const GOODBYE = 'Goodbye, and thank you for calling. '.repeat(10);
const GOODBYE_MS = GOODBYE.length * 10;
/** Nobody can cut it, so the platform opens the next stream after it (G-51). */
const NOTICE = 'This call may be recorded. '.repeat(40);
const NOTICE_MS = NOTICE.length * 10;
const KEYS = 'Your number, please.';
const KEYS_PLAY_MS = KEYS.length * 10;
const NO_INPUT_MS = 6000;
const INTER_DIGIT_MS = 2000;
/** The platform may be so late with the next stream. */
const LATE_MS = 3000;
const TRANSFER_PLAY_MS = TEST_SETTINGS.lines.transfer.length * 10;
const GRACE_MS = 20_000;
/** Callers who are still there are transferred in the last five seconds. */
const TRANSFER_AT_MS = GRACE_MS - 5000;

let answer: () => void = () => undefined;

const drained = bot<null>({
  id: 'drained',
  name: 'Drained',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  dtmf_input: async (_state, { digits }) => {
    if (digits === '1') {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    }
    if (digits === '2') return go(null, say(GOODBYE).end('done'));
    if (digits === '3') return go(null, say(NOTICE, { bargeIn: false }).listen());
    if (digits === '4') return go(null, say(KEYS).listen({ accept: 'keys', noInputMs: NO_INPUT_MS }));
    if (digits === '5') return go(null, say(KEYS).listen({ accept: 'keys', noInputMs: 0 }));
    if (digits === '6') return go(null, say(KEYS).listen({ digits: 4, interDigitMs: INTER_DIGIT_MS }));
    return go(null, say('Yes?').say('Anything else?').listen());
  },
  otherwise: () => go(null, say('Yes?').listen()),
});

/** A call whose welcome was heard; none of its turns is open. */
async function begun(): Promise<TestEngine & { readonly call: MemoryCall }> {
  const engine = await testEngine([drained], { settings: { maxFarewellMs: 30_000, turnDeadlineMs: 60_000 } });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(1000);
  return { ...engine, call };
}

/** A call with one open turn, its welcome heard. */
async function inTheMiddle(digits?: string): Promise<TestEngine & { readonly call: MemoryCall; readonly open: MemoryTurn }> {
  const engine = await begun();
  const { call } = engine;
  const open = await call.open(digits === undefined ? { kind: 'audio', audio: new Uint8Array(160).fill(0xff) } : { kind: 'dtmf', digits });
  await flushMicrotasks();
  return { ...engine, open };
}

/** Stops the engine. @returns what was cut, once it is known. */
function stop({ sessions }: TestEngine, limitMs = GRACE_MS): { cut: CutCalls | undefined } {
  const result: { cut: CutCalls | undefined } = { cut: undefined };
  void sessions.close(limitMs).then((cut) => {
    result.cut = cut;
  });
  return result;
}

describe('a server that stops', () => {
  it('P-09 waits for a bot that is thinking, and its reply is whole', async () => {
    const engine = await inTheMiddle('1');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(4000);
    expect([engine.open.sink.end, stopped.cut]).toEqual(['open', undefined]);
    answer();
    await engine.clock.advanceAsync(100);
    await engine.call.hangUp();
    await engine.clock.advanceAsync(100);
    expect(engine.open.sink.texts.filter((text) => text !== undefined)).toEqual(['Yes?', 'Anything else?']);
    expect(engine.open.sink.next).toMatchObject({ kind: 'listen' });
    expect(stopped.cut).toEqual({ turns: 0, calls: 0 });
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('transfers the caller of a bot that does not come to an end, and counts the turn', async () => {
    const engine = await inTheMiddle('1');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(TRANSFER_AT_MS + TRANSFER_PLAY_MS + 1500);
    expect(engine.open.sink.texts.filter((text) => text !== undefined)).toEqual([TEST_SETTINGS.lines.transfer]);
    expect(engine.open.sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'shutdown' } });
    expect(stopped.cut).toEqual({ turns: 1, calls: 0 });
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('transfers a caller who is listened to, before its time is up', async () => {
    const engine = await inTheMiddle();
    const stopped = stop(engine);
    await engine.clock.advanceAsync(TRANSFER_AT_MS - 100);
    expect(engine.open.sink.end).toBe('open');
    await engine.clock.advanceAsync(100 + TRANSFER_PLAY_MS + 1500);
    expect(engine.open.sink.next).toMatchObject({ kind: 'transfer' });
    expect(stopped.cut).toEqual({ turns: 1, calls: 0 });
  });

  it('lets a client that reads slowly have its prompts', async () => {
    const engine = await begun();
    const { call } = engine;
    const open = await call.open();
    open.sink.isFull = true;
    open.turn.push({ kind: 'dtmf', digits: '9' });
    await flushMicrotasks();
    const stopped = stop(engine);
    await engine.clock.advanceAsync(3000);
    expect(open.sink.texts).toEqual(['Yes?']);
    open.sink.drain();
    await engine.clock.advanceAsync(100);
    expect(open.sink.texts.filter((text) => text !== undefined)).toEqual(['Yes?', 'Anything else?']);
    await call.hangUp();
    await engine.clock.advanceAsync(100);
    expect(stopped.cut).toEqual({ turns: 0, calls: 0 });
  });

  it('G-7A waits until the farewell was heard', async () => {
    const engine = await inTheMiddle('2');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(GOODBYE_MS - 100);
    expect([engine.open.sink.next, stopped.cut]).toEqual([undefined, undefined]);
    await engine.clock.advanceAsync(200);
    expect(engine.open.sink.next).toMatchObject({ kind: 'end' });
    await engine.clock.advanceAsync(1500);
    expect(stopped.cut).toEqual({ turns: 0, calls: 0 });
  });

  it('uses the time for transfers to finish a farewell, and does not count it as cut', async () => {
    const engine = await inTheMiddle('2');
    // The words end after the hand-over begins and before the time is up.
    const stopped = stop(engine, GOODBYE_MS + 1000);
    await engine.clock.advanceAsync(GOODBYE_MS + 500);
    expect(engine.open.sink.next).toMatchObject({ kind: 'end', metadata: { outcome: 'done' } });
    await engine.clock.advanceAsync(1500);
    expect(stopped.cut).toEqual({ turns: 0, calls: 0 });
  });

  it('G-77 still delivers the end of a call whose farewell takes too long, at once and counted', async () => {
    const engine = await inTheMiddle('2');
    const stopped = stop(engine, 1000);
    await engine.clock.advanceAsync(990);
    expect(engine.open.sink.next).toBeUndefined();
    await engine.clock.advanceAsync(1200);
    expect(engine.open.sink.next).toMatchObject({ kind: 'end', metadata: { outcome: 'done' } });
    expect(engine.open.sink.end).toBe('complete');
    expect(stopped.cut).toEqual({ turns: 1, calls: 0 });
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('is done a second after its time, whatever a bot does', async () => {
    const engine = await inTheMiddle('1');
    const stopped = stop(engine, 0);
    await engine.clock.advanceAsync(1000);
    expect(engine.open.sink.next).toMatchObject({ kind: 'transfer' });
    expect(stopped.cut).toEqual({ turns: 1, calls: 0 });
  });

  it('counts each new call that it refuses as draining, also when its time is up', async () => {
    const engine = await inTheMiddle();
    stop(engine);
    const another = new MemoryCall(engine.sessions, { conversationId: 'new' });
    await expect(another.start()).rejects.toMatchObject({ code: 'shutting_down', details: { reason: 'draining' } });
    await engine.clock.advanceAsync(GRACE_MS + 2000);
    await expect(another.start()).rejects.toMatchObject({ code: 'shutting_down' });
    expect(engine.seen.filter((line) => line.startsWith('call_refused'))).toEqual(['call_refused draining', 'call_refused draining']);
  });
});

describe('a server that stops while a caller has no open stream', () => {
  it('ends at once when no call is left', async () => {
    const engine = await begun();
    await engine.call.hangUp();
    const stopped = stop(engine);
    await flushMicrotasks();
    expect(stopped.cut).toEqual({ turns: 0, calls: 0 });
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('G-51 goes on with a caller who comes back after a prompt that cannot be cut, and transfers when its time is up', async () => {
    const engine = await begun();
    await engine.call.press('3');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(NOTICE_MS + 100);
    expect(stopped.cut).toBeUndefined();
    expect((await engine.call.turn({ kind: 'no_input' })).next).toMatchObject({ kind: 'listen' });
    const { sink } = await engine.call.open(LINE_SILENCE);
    await engine.clock.advanceAsync(TRANSFER_AT_MS - NOTICE_MS - 200);
    expect(sink.kinds).toEqual([]);
    await engine.clock.advanceAsync(200 + TRANSFER_PLAY_MS);
    expect(sink.texts.filter((text) => text !== undefined)).toEqual([TEST_SETTINGS.lines.transfer]);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'shutdown' } });
    expect(stopped.cut).toEqual({ turns: 1, calls: 0 });
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('G-51 transfers, while it has time, who comes back after the others were transferred', async () => {
    const engine = await begun();
    await engine.call.press('3');
    const stopped = stop(engine, NOTICE_MS + 1000);
    await engine.clock.advanceAsync(NOTICE_MS);
    const { sink } = await engine.call.open(LINE_SILENCE);
    await engine.clock.advanceAsync(500);
    expect(sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'shutdown' } });
    expect(stopped.cut).toEqual({ turns: 1, calls: 0 });
  });

  it('counts the call of a prompt that plays longer than it has time', async () => {
    const engine = await begun();
    await engine.call.press('3');
    const stopped = stop(engine, NOTICE_MS - 1000);
    await engine.clock.advanceAsync(NOTICE_MS - 1100);
    expect(stopped.cut).toBeUndefined();
    await engine.clock.advanceAsync(200);
    expect(stopped.cut).toEqual({ turns: 0, calls: 1 });
    expect(engine.seen).toContain('session_ended shutdown');
  });

  it('G-35 G-70 waits for the report that no key was pressed', async () => {
    const engine = await begun();
    await engine.call.press('4');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(KEYS_PLAY_MS + NO_INPUT_MS + 2000);
    expect(stopped.cut).toBeUndefined();
    expect((await engine.call.turn({ kind: 'no_input' })).texts).toContain('Yes?');
    await engine.call.hangUp();
    await engine.clock.advanceAsync(100);
    expect(stopped.cut).toEqual({ turns: 0, calls: 0 });
  });

  it('G-54 waits for the digits of a caller who is typing', async () => {
    const engine = await begun();
    await engine.call.press('6');
    await engine.call.turn({ kind: 'dtmf_start' });
    const stopped = stop(engine);
    await engine.clock.advanceAsync(4 * INTER_DIGIT_MS);
    expect(stopped.cut).toBeUndefined();
    expect((await engine.call.press('4711')).next).toMatchObject({ kind: 'listen' });
    await engine.call.hangUp();
    await engine.clock.advanceAsync(100);
    expect(stopped.cut).toEqual({ turns: 0, calls: 0 });
  });

  it('G-35 waits, as long as it has time, for the key of a caller without a time limit of the platform', async () => {
    const engine = await begun();
    await engine.call.press('5');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(TRANSFER_AT_MS + 1000);
    const { sink } = await engine.call.open({ kind: 'dtmf_start' });
    await engine.clock.advanceAsync(500);
    expect(sink.next).toMatchObject({ kind: 'transfer' });
    expect(stopped.cut).toEqual({ turns: 1, calls: 0 });
  });

  it.each([
    ['whose next stream is late', (call: MemoryCall) => call.press('9'), 'Yes?Anything else?'.length * 10],
    [
      'whose stream was cancelled',
      async (call: MemoryCall) => {
        const { turn } = await call.open({ kind: 'dtmf', digits: '1' });
        await flushMicrotasks();
        turn.abort('hang_up');
      },
      0,
    ],
  ])('gives up a caller %s, and counts the call', async (_who, act, playMs) => {
    const engine = await begun();
    await act(engine.call);
    const stopped = stop(engine);
    await engine.clock.advanceAsync(playMs + LATE_MS - 200);
    expect(stopped.cut).toBeUndefined();
    await engine.clock.advanceAsync(300);
    expect(stopped.cut).toEqual({ turns: 0, calls: 1 });
  });

  it('does not wait for a caller who was to be back long ago', async () => {
    const engine = await begun();
    await engine.clock.advanceAsync(LATE_MS);
    const stopped = stop(engine);
    await flushMicrotasks();
    expect(stopped.cut).toEqual({ turns: 0, calls: 1 });
  });
});
