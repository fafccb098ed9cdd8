// A server that is told to stop while callers are in the middle of something: what becomes of each of them.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import { testEngine, TEST_SETTINGS, type TestEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall, type MemoryTurn } from '../../support/memory-transport.ts';

/** The fake voice takes 10 ms a character. */
const GOODBYE = 'Goodbye, and thank you for calling. '.repeat(10);
const GOODBYE_MS = GOODBYE.length * 10;
const HANDOVER_PLAY_MS = TEST_SETTINGS.handover.length * 10;
const GRACE_MS = 20_000;
/** Callers who are still there are handed over in the last five seconds. */
const HAND_OVER_AT_MS = GRACE_MS - 5000;

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
    return go(null, say('Yes?').say('Anything else?').listen());
  },
  otherwise: () => go(null, say('Yes?').listen()),
});

/** A call with one open turn, its welcome heard. */
async function inTheMiddle(digits?: string): Promise<TestEngine & { readonly open: MemoryTurn }> {
  const engine = await testEngine([drained], { settings: { maxFarewellMs: 30_000, turnDeadlineMs: 60_000 } });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await engine.clock.advanceAsync(1000);
  const open = await call.open(digits === undefined ? { kind: 'audio', audio: new Uint8Array(160).fill(0xff) } : { kind: 'dtmf', digits });
  await flushMicrotasks();
  return { ...engine, open };
}

/** Stops the engine. @returns the number of cut turns, once it is known. */
function stop({ sessions }: TestEngine, limitMs = GRACE_MS): { cut: number | undefined } {
  const result: { cut: number | undefined } = { cut: undefined };
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
    await engine.clock.advanceAsync(1600);
    expect(engine.open.sink.texts.filter((text) => text !== undefined)).toEqual(['Yes?', 'Anything else?']);
    expect(engine.open.sink.next).toMatchObject({ kind: 'listen' });
    expect(stopped.cut).toBe(0);
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('hands over the caller of a bot that does not come to an end, and counts the turn', async () => {
    const engine = await inTheMiddle('1');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(HAND_OVER_AT_MS + HANDOVER_PLAY_MS + 1500);
    expect(engine.open.sink.texts.filter((text) => text !== undefined)).toEqual([TEST_SETTINGS.handover]);
    expect(engine.open.sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'shutdown' } });
    expect(stopped.cut).toBe(1);
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('hands over a caller who is listened to, before its time is up', async () => {
    const engine = await inTheMiddle();
    const stopped = stop(engine);
    await engine.clock.advanceAsync(HAND_OVER_AT_MS - 100);
    expect(engine.open.sink.end).toBe('open');
    await engine.clock.advanceAsync(100 + HANDOVER_PLAY_MS + 1500);
    expect(engine.open.sink.next).toMatchObject({ kind: 'transfer' });
    expect(stopped.cut).toBe(1);
  });

  it('lets a client that reads slowly have its prompts', async () => {
    const engine = await testEngine([drained], { settings: { maxFarewellMs: 30_000, turnDeadlineMs: 60_000 } });
    const call = new MemoryCall(engine.sessions);
    await call.start();
    const open = await call.open();
    open.sink.isFull = true;
    open.turn.push({ kind: 'dtmf', digits: '3' });
    await flushMicrotasks();
    const stopped = stop(engine);
    await engine.clock.advanceAsync(3000);
    expect(open.sink.texts).toEqual(['Yes?']);
    open.sink.drain();
    await engine.clock.advanceAsync(100);
    expect(open.sink.texts.filter((text) => text !== undefined)).toEqual(['Yes?', 'Anything else?']);
    await engine.clock.advanceAsync(1500);
    expect(stopped.cut).toBe(0);
  });

  it('G-7A waits until last words were heard', async () => {
    const engine = await inTheMiddle('2');
    const stopped = stop(engine);
    await engine.clock.advanceAsync(GOODBYE_MS - 100);
    expect([engine.open.sink.next, stopped.cut]).toEqual([undefined, undefined]);
    await engine.clock.advanceAsync(200);
    expect(engine.open.sink.next).toMatchObject({ kind: 'end' });
    await engine.clock.advanceAsync(1500);
    expect(stopped.cut).toBe(0);
  });

  it('uses the time for handing over to finish last words, and does not count them as cut', async () => {
    const engine = await inTheMiddle('2');
    // The words end after the hand-over begins and before the time is up.
    const stopped = stop(engine, GOODBYE_MS + 1000);
    await engine.clock.advanceAsync(GOODBYE_MS + 500);
    expect(engine.open.sink.next).toMatchObject({ kind: 'end', metadata: { outcome: 'done' } });
    await engine.clock.advanceAsync(1500);
    expect(stopped.cut).toBe(0);
  });

  it('G-77 still hands over the end of a call whose last words take too long, at once and counted', async () => {
    const engine = await inTheMiddle('2');
    const stopped = stop(engine, 1000);
    await engine.clock.advanceAsync(990);
    expect(engine.open.sink.next).toBeUndefined();
    await engine.clock.advanceAsync(1200);
    expect(engine.open.sink.next).toMatchObject({ kind: 'end', metadata: { outcome: 'done' } });
    expect(engine.open.sink.end).toBe('complete');
    expect(stopped.cut).toBe(1);
    expect(engine.clock.pendingTimers).toBe(0);
  });

  it('is done a second after its time, whatever a bot does', async () => {
    const engine = await inTheMiddle('1');
    const stopped = stop(engine, 0);
    await engine.clock.advanceAsync(1000);
    expect(engine.open.sink.next).toMatchObject({ kind: 'transfer' });
    expect(stopped.cut).toBe(1);
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
