import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../../src/speech/g711.ts';
import { readWav } from '../../../src/speech/wav.ts';
import { testEngine } from '../../support/engine.ts';
import { reasonOf } from '../../support/interruption.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const SPEECH = encodeMulaw(readWav(readFileSync(new URL('../../fixtures/speech/sentence.wav', import.meta.url))).samples);
const SILENCE = new Uint8Array(16_000).fill(MULAW_SILENCE);
const audio = (bytes: Uint8Array): Input => ({ kind: 'audio', audio: bytes });

const LONG = 'A prompt that takes a while to be heard to its end. '.repeat(4);

interface Told {
  readonly notes: readonly string[];
}

/** A bot whose long answers the test can hold back, and that records its events. */
function slowBot(): { readonly bot: ReturnType<typeof bot>; release: () => void; readonly started: Promise<void> } {
  let release: () => void = () => undefined;
  let begun: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  return {
    release: () => {
      release();
    },
    started,
    bot: bot<Told>({
      id: 'slow',
      name: 'Slow',
      version: 1,
      session_start: () => go({ notes: [] }, say(LONG).listen()),
      dtmf_input: async function* (state, { digits }) {
        if (digits === '1') {
          yield say('First part.');
          begun();
          await gate;
          yield say('Second part.');
        }
        return go(state, digits === '0' ? say('Bye.').end() : say(`Done ${digits}, ${state.notes.join(' ')}`).listen());
      },
      speech_input: (state) => go(state, say(`Speech, ${state.notes.join(' ')}`).listen()),
      barge_in: (state, { by, heard }) => ({ notes: [...state.notes, `${by}@${String(heard.ms)}`] }),
      otherwise: (state) => go(state, say('What?').listen()),
    }),
  };
}

describe('two turns of one call', () => {
  it('G-50 G-52 G-53 stops the older turn cleanly when the caller speaks on the newer one', async () => {
    const slow = slowBot();
    const { sessions, clock, seen } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const older = await call.open({ kind: 'dtmf', digits: '1' });
    await slow.started;
    expect(older.sink.kinds).toEqual(['prompt']);

    const newer = await call.open(audio(SILENCE));
    clock.advance(60);
    newer.turn.push(audio(SPEECH));
    slow.release();
    await older.sink.ended();
    expect(older.sink.texts).toEqual(['First part.']);
    expect(older.sink.kinds).toEqual(['prompt', 'final']);
    expect(older.sink.end).toBe('complete');

    newer.turn.push(audio(SILENCE));
    await newer.sink.ended();
    expect(newer.sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
    expect(newer.sink.texts).toEqual(['Speech, speech@60']);
    expect(seen.filter((event) => event === 'barge_in')).toHaveLength(1);
  });

  it('reports a barge-in into a prompt whose turn has already completed', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(500);
    expect((await call.press('5')).texts).toEqual(['Done 5, keys@500']);
  });

  it('reports no barge-in when the prompt was heard to its end', async () => {
    const slow = slowBot();
    const { sessions, clock, seen } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    expect((await call.press('5')).texts).toEqual(['Done 5, ']);
    expect(seen).not.toContain('barge_in');
  });

  it('G-54 takes the first key on the listening turn, completes it empty, and the digits on the next', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(300);
    const listening = await call.turn(audio(SILENCE), { kind: 'dtmf_start' });
    expect([listening.kinds, listening.end]).toEqual([[], 'complete']);
    clock.advance(2000);
    expect((await call.press('5')).texts).toEqual(['Done 5, keys@300']);
  });

  it('G-61 drops the reply to a cough when the first key comes just behind it', async () => {
    const slow = slowBot();
    const { sessions, clock, seen } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const { sink, turn } = await call.open(audio(SPEECH));
    turn.push(audio(SILENCE));
    turn.push({ kind: 'dtmf_start' });
    turn.push({ kind: 'dtmf_start' });
    turn.halfClose();
    await sink.ended();
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'final']);
    expect([sink.texts, sink.end]).toEqual([[], 'complete']);
    expect(seen.filter((event) => event === 'barge_in')).toHaveLength(1);
    expect((await call.press('5')).texts[0]).toMatch(/^Done 5/);
  });

  it('G-61 takes the keys in the place of what the caller was saying on another turn', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const speaking = await call.open(audio(SPEECH));
    expect((await call.turn({ kind: 'dtmf_start' })).kinds).toEqual([]);
    speaking.turn.push(audio(SILENCE));
    speaking.turn.halfClose();
    await speaking.sink.ended();
    expect([speaking.sink.kinds, speaking.sink.end]).toEqual([['input_started'], 'complete']);
    expect((await call.press('5')).texts[0]).toMatch(/^Done 5/);
  });

  it('G-61 hears nothing more on the turn whose speech gave way to the keys, and loses nothing on another one for it', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const older = await call.open(audio(SILENCE));
    const dropped = await call.open(audio(SPEECH));
    await call.press('5');
    clock.advance(LONG.length * 10);
    // The newest was listened to and has ended: the older one is listened to again.
    const newest = await call.open(audio(SPEECH), audio(SILENCE));
    await newest.sink.ended();
    clock.advance(LONG.length * 10);
    older.turn.push(audio(SPEECH));
    dropped.turn.push(audio(SPEECH));
    expect([older.sink.kinds, dropped.sink.kinds]).toEqual([['input_started'], ['input_started']]);
    older.turn.push(audio(SILENCE));
    await older.sink.ended();
    expect(older.sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
  });

  it('G-37 G-51 does not listen into a prompt that may not be cut', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot], { settings: { welcomeBargeIn: false } });
    const call = new MemoryCall(sessions);
    const welcome = await call.start();
    expect(welcome.outputs[0]).toMatchObject({ prompt: { bargeIn: false } });
    const { sink, turn } = await call.open(audio(SPEECH), audio(SILENCE));
    expect(sink.kinds).toEqual([]);
    clock.advance(LONG.length * 10);
    turn.push(audio(SPEECH));
    turn.push(audio(SILENCE));
    await sink.ended();
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
  });

  it('brings inputs of overlapping turns to the bot one at a time and in order', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const older = await call.open({ kind: 'dtmf', digits: '1' });
    await slow.started;
    const newer = await call.open({ kind: 'custom_event', name: 'x', parameters: {} });
    expect(newer.sink.kinds).toEqual([]);
    slow.release();
    await older.sink.ended();
    await newer.sink.ended();
    expect(older.sink.texts).toEqual(['First part.', 'Second part.', 'Done 1, ']);
    expect(newer.sink.texts).toEqual(['What?']);
  });

  it('G-16 stops generating for a cancelled turn and keeps the call', async () => {
    const slow = slowBot();
    const { sessions, clock, seen } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const { turn, sink } = await call.open({ kind: 'dtmf', digits: '1' });
    await slow.started;
    turn.abort('hang_up');
    slow.release();
    const next = await call.press('6');
    expect(sink.texts).toEqual(['First part.']);
    expect(sink.end).toBe('open');
    expect(next.texts[0]).toMatch(/^Done 6/);
    expect(seen).not.toContain('bot_failed bot_failed');
  });

  it('G-74 completes every open turn when the caller hangs up in the middle of a reply', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const older = await call.open({ kind: 'dtmf', digits: '1' });
    await slow.started;
    const newer = await call.open(audio(SILENCE));
    const gone = await call.hangUp();
    expect([older.sink.end, newer.sink.end, gone.end]).toEqual(['complete', 'complete', 'complete']);
    slow.release();
    expect(gone.next).toEqual({ kind: 'gone' });
    expect(sessions.size).toBe(0);
  });

  it('aborts a bot that is still thinking when the caller hangs up', async () => {
    let reason: unknown;
    let begun: () => void = () => undefined;
    const thinks = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const thinker = bot<null>({
      id: 'thinker',
      name: 'Thinker',
      version: 1,
      session_start: () => go(null, say('Hi.').listen()),
      otherwise: (_state, _event, { signal }) =>
        new Promise((resolve) => {
          begun();
          signal.addEventListener('abort', () => {
            reason = reasonOf(signal);
            resolve(go(null, say('Too late.').listen()));
          });
        }),
    });
    const { sessions } = await testEngine([thinker]);
    const call = new MemoryCall(sessions);
    await call.start();
    const thinking = await call.open({ kind: 'no_input' });
    const session = await sessions.acquire({
      organizationId: 'org',
      conversationId: 'call-1',
      agentId: '',
      vendorConfig: '',
      parameters: {},
    });
    await thinks;
    await call.hangUp();
    await session.stop('caller');
    expect(reason).toBe('hang_up');
    expect(thinking.sink.texts).toEqual([]);
  });

  it('G-55 speaks a terminal reply even when the caller talked over what came before', async () => {
    const slow = slowBot();
    const { sessions, clock } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(LONG.length * 10);
    const older = await call.open({ kind: 'dtmf', digits: '0' });
    const newer = await call.open(audio(SILENCE), audio(SPEECH));
    await older.sink.ended();
    expect(older.sink.texts).toEqual(['Bye.']);
    expect(older.sink.next).toMatchObject({ kind: 'end' });
    newer.turn.halfClose();
    await newer.sink.ended();
    expect(newer.sink.texts).toEqual([]);
  });

  it('refuses more open turns than one call can need', async () => {
    const slow = slowBot();
    const { sessions } = await testEngine([slow.bot]);
    const call = new MemoryCall(sessions);
    for (let turn = 0; turn < 8; turn += 1) await call.open(audio(SILENCE));
    await expect(call.open(audio(SILENCE))).rejects.toMatchObject({ code: 'overloaded' });
  });
});
