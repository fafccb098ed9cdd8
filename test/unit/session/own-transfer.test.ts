// Calls that we end ourselves while something else is broken, too: a voice, or the wire.
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import { DefectiveVoice, TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { LeftSnapshots } from '../../support/homes.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const { transfer: transferPrompt } = TEST_SETTINGS.lines;
const FRAME = { kind: 'audio', audio: new Uint8Array(160).fill(0xff) } as const;

const asked: string[] = [];
let think: () => void = () => undefined;
const clerk = bot<{ readonly pin: string }>({
  id: 'clerk',
  name: 'Clerk',
  version: 1,
  session_start: () => go({ pin: '' }, say('Hello.').listen()),
  dtmf_input: async (_state, { digits }) => {
    asked.push(digits);
    if (digits === '5' || digits === '6') {
      // Does not listen to the signal.
      await new Promise<void>((resolve) => {
        think = resolve;
      });
      if (digits === '5') return go({ pin: digits }, say('To a person.').transfer({ reason: 'vip' }));
    }
    return digits === '9' ? go({ pin: '4711' }, say('Bye.').end('done')) : go({ pin: digits }, say('Yes?').listen());
  },
  otherwise: (state) => go(state, say('What?').listen()),
});

/** A call whose welcome was heard. */
async function begun(settings: Partial<typeof TEST_SETTINGS> = {}) {
  asked.length = 0;
  const voice = new DefectiveVoice();
  const engine = await testEngine([clerk], { voice, settings });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  return { ...engine, voice, call };
}

describe('the transcript of a call that we end', () => {
  it('G-7B goes out with the transfer, our own line as its last', async () => {
    const { call, sessions } = await begun({ keepsTranscript: true });
    const { sink } = await call.open(FRAME);
    await sessions.close(0);
    expect([sink.texts, sink.next]).toMatchObject([
      [transferPrompt],
      { kind: 'transfer', transcript: `bot: Hello.\nbot: ${transferPrompt}` },
    ]);
  });

  it('is not there when the operator keeps none', async () => {
    const { call, sessions } = await begun();
    const { sink } = await call.open(FRAME);
    await sessions.close(0);
    expect(sink.next).toStrictEqual({ kind: 'transfer', summary: undefined, transcript: undefined, metadata: { reason: 'shutdown' } });
  });
});

describe('a hand-over whose stream breaks while its line is heard', () => {
  it('is pending for the next turn, on which neither the bot is asked nor the line said again (G-77)', async () => {
    const { call, voice, clock, seen } = await begun({ maxFarewellMs: 30_000 });
    voice.defectiveText = 'Yes?';
    const first = await call.open({ kind: 'dtmf', digits: '1' });
    await flushMicrotasks();
    expect(first.sink.texts).toEqual([transferPrompt]);
    first.turn.abort('hang_up');
    voice.defectiveText = undefined;
    const next = await call.open({ kind: 'dtmf', digits: '2' });
    await clock.advanceAsync(30_000);
    expect([next.sink.texts, next.sink.next]).toMatchObject([[], { kind: 'transfer', metadata: { reason: 'failed' } }]);
    expect(asked).toEqual(['1']);
    expect(seen).toContain('session_ended failed');
  });
});

describe('a call that we end while one turn is answered and a newer one listens', () => {
  /** @param newer - what comes on the newer turn. */
  const leaving = async (digits: string, newer: Input = FRAME) => {
    const bench = await begun({ maxDurationMs: 90_000 });
    // The next look at how long calls last is 100 ms away.
    await bench.clock.advanceAsync(114_900);
    const answering = await bench.call.open({ kind: 'dtmf', digits });
    await flushMicrotasks();
    const listening = await bench.call.open(newer);
    await bench.clock.advanceAsync(100);
    return { ...bench, answering, listening };
  };

  it('ends as the bot ends it at this moment, on the turn of its answer', async () => {
    const { answering, listening, seen } = await leaving('5');
    expect([listening.sink.kinds, listening.sink.end]).toEqual([[], 'complete']);
    think();
    await flushMicrotasks();
    expect(answering.sink.texts).toEqual(['To a person.']);
    expect(answering.sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'vip' } });
    expect(answering.sink.end).toBe('complete');
    expect(seen).toContain('turn_ended nothing_said');
    expect(seen.filter((event) => event.startsWith('session_ended'))).toEqual(['session_ended bot_transfer']);
  });

  it('is transferred on the turn that is answered, and what opens behind it is completed', async () => {
    const { answering, call, seen } = await leaving('6');
    const again = await call.open(FRAME);
    think();
    await flushMicrotasks();
    expect(answering.sink.texts).toEqual([transferPrompt]);
    expect(answering.sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'too_long' } });
    expect([again.sink.kinds, again.sink.end]).toEqual([[], 'complete']);
    expect(seen.filter((event) => event.startsWith('session_ended'))).toEqual(['session_ended too_long']);
  });

  it('is transferred on the turn that listens when the older one was talked over', async () => {
    const { answering: older, listening: newer } = await leaving('6', { kind: 'dtmf_start' });
    think();
    await flushMicrotasks();
    expect(older.sink.isSuperseded).toBe(true);
    expect(newer.sink.next).toMatchObject({ kind: 'transfer', metadata: { reason: 'too_long' } });
  });
});

describe('a wire that throws', () => {
  const broken = (): never => {
    throw new Error('no wire');
  };

  it('ends the turn and the call when we transfer the caller', async () => {
    const { call, sessions, seen, log } = await begun();
    const { sink } = await call.open(FRAME);
    sink.write = broken;
    await sessions.close(0);
    expect(sink.end).toMatchObject({ code: 'internal' });
    expect(seen).toContain('turn_ended failed');
    expect(seen).toContain('session_ended shutdown');
    expect(log.lines).toMatchObject([{ level: 'error', conversationId: 'call-1', err: { cause: { message: 'no wire' } } }]);
  });

  it('ends the turn for which an end is pending, and leaves it pending', async () => {
    const { call, clock, seen } = await begun({ maxFarewellMs: 30_000 });
    const first = await call.open({ kind: 'dtmf', digits: '9' });
    await flushMicrotasks();
    first.turn.abort('hang_up');
    const second = await call.open();
    second.sink.write = broken;
    second.turn.push({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(1000);
    expect(second.sink.end).toMatchObject({ code: 'internal' });
    const third = await call.open({ kind: 'dtmf', digits: '1' });
    await clock.advanceAsync(1000);
    expect(third.sink.next).toMatchObject({ kind: 'end', metadata: { outcome: 'done' } });
    expect(seen).toContain('session_ended bot_end');
  });
});

describe('a client that does not read while we hand its caller over', () => {
  it('G-91 gets the end on the next stream', async () => {
    const { call, clock, seen, log } = await begun({ maxDurationMs: 90_000 });
    await clock.advanceAsync(84_000);
    const { sink } = await call.open(FRAME);
    sink.isFull = true;
    await clock.advanceAsync(31_000 + TEST_SETTINGS.slowReaderMs);
    expect([sink.texts, sink.next, sink.end]).toMatchObject([[transferPrompt], undefined, { code: 'slow_reader' }]);
    expect(log.lines).toMatchObject([{ level: 'warn', conversationId: 'call-1', code: 'slow_reader' }]);
    const next = await call.open(FRAME);
    await clock.advanceAsync(30_000);
    expect([next.sink.texts, next.sink.next]).toMatchObject([[], { kind: 'transfer', metadata: { reason: 'too_long' } }]);
    expect(seen.filter((event) => event.startsWith('session_ended'))).toEqual(['session_ended too_long']);
  });
});

describe('what another server finds of a call that is over', () => {
  const stateless = bot<null>({
    id: 'stateless',
    name: 'Stateless',
    version: 1,
    session_start: () => go(null, say('Hello.').listen()),
    otherwise: () => go(null, say('Bye.').end()),
  });

  it.each([
    ['its caller hung up', 'caller', (call: MemoryCall) => call.hangUp()],
    ['its bot ended it', 'bot_end', (call: MemoryCall) => call.press('1')],
  ])('G-7C is nothing to go on with, once %s', async (_why, end, over) => {
    const left = new LeftSnapshots();
    const { sessions, seen } = await testEngine([stateless], { snapshots: left });
    const call = new MemoryCall(sessions);
    await call.start();
    expect(left.newest()).toMatchObject({ started: true, ended: false });
    await over(call);
    await flushMicrotasks();
    expect([left.asked.at(-1), left.newest()]).toEqual(['forget call-1', undefined]);
    expect(seen).toContain(`session_ended ${end}`);
  });

  it('need not have been saved: a caller may hang up before there is anything', async () => {
    const left = new LeftSnapshots();
    const { sessions, log } = await testEngine([clerk], { snapshots: left });
    const call = new MemoryCall(sessions);
    await call.open(FRAME);
    await call.hangUp();
    await flushMicrotasks();
    expect([left.asked, log.lines]).toEqual([['forget call-1'], []]);
  });
});
