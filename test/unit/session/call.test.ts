import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bot, end, go, listen, say, transfer } from '../../../src/bot/index.ts';
import type { Input } from '../../../src/dialog/input.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../../src/speech/g711.ts';
import { readWav } from '../../../src/speech/wav.ts';
import { snapshotOf, testEngine } from '../../support/engine.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

const SPEECH = encodeMulaw(readWav(readFileSync(new URL('../../fixtures/speech/sentence.wav', import.meta.url))).samples);
const SILENCE = new Uint8Array(8000 * 2).fill(MULAW_SILENCE);

const audio = (bytes: Uint8Array): Input => ({ kind: 'audio', audio: bytes });

/** Says what it got, so that a test sees which events arrived and in which order. */
const mirror = bot<{ readonly events: readonly string[] }>({
  id: 'mirror',
  name: 'Mirror',
  version: 1,
  session_start: (event) => go({ events: [`start ${event.name}`] }, say('Welcome, what is it?').listen()),
  dtmf_input: (state, { digits }) => {
    if (digits === '9') return go(state, say('Goodbye.').end('done'));
    if (digits === '0') return go(state, say('Connecting.').transfer({ reason: 'asked', summary: 'They asked.', routingHint: 'sales' }));
    return go({ events: [...state.events, `keys ${digits}`] }, say(`Keys ${digits}`).listen({ digits: 4, terminator: '#' }));
  },
  speech_input: (state, { utterance, text }) =>
    go({ events: [...state.events, `speech ${text ?? '-'}`] }, say(`Heard ${String(Math.round(utterance.durationMs / 1000))} s`).listen()),
  no_input: (state) => go({ events: [...state.events, 'silence'] }, say('Are you there?').listen()),
  custom_event: (state, { name, parameters }) => go({ events: [...state.events, `event ${name} ${JSON.stringify(parameters)}`] }, listen()),
  otherwise: (state) => go(state, say('What?').listen()),
});

describe('a call', () => {
  it('G-21 answers the session start on its own turn with the welcome and input settings (G-80)', async () => {
    const { sessions } = await testEngine([mirror]);
    const sink = await new MemoryCall(sessions).start();
    expect(sink.texts).toEqual(['Welcome, what is it?']);
    expect(sink.kinds).toEqual(['prompt', 'final']);
    expect(sink.next).toMatchObject({ kind: 'listen', accept: 'both', digits: 1, interDigitMs: 3000, noInputMs: 10_000 });
    expect(sink.end).toBe('complete');
  });

  it('G-12 G-15 remembers the call across turns, whatever was half-closed', async () => {
    const { sessions } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('12')).texts).toEqual(['Keys 12']);
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual(['Are you there?']);
    await call.turn({ kind: 'custom_event', name: 'vip', parameters: { level: 3 } });
    const record = await snapshotOf({ sessions });
    expect(record?.state).toEqual({ events: ['start ', 'keys 12', 'silence', 'event vip {"level":3}'] });
    expect(Object.isFrozen(record?.state)).toBe(true);
  });

  it('G-67 takes the terminator off the digits', async () => {
    const { sessions } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    await call.press('1');
    expect((await call.press('55#')).texts).toEqual(['Keys 55']);
  });

  it('G-36 G-38 reports the start and the end of speech on the turn that carries it, then replies', async () => {
    const { sessions, clock } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(1000);
    const sink = await call.turn(audio(SILENCE), audio(SPEECH), audio(SILENCE));
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
    expect(sink.texts[0]).toMatch(/^Heard \d s$/);
  });

  it('G-11 takes a half-close in the middle of speech as the end of the utterance', async () => {
    const { sessions, clock } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(1000);
    const sink = await call.turn(audio(SPEECH.subarray(0, 8000)));
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
  });

  it('G-61 answers the first key and a silent turn with nothing and completes them', async () => {
    const { sessions } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    const key = await call.turn({ kind: 'dtmf_start' });
    const silent = await call.turn(audio(SILENCE));
    expect([key.kinds, key.end, silent.kinds, silent.end]).toEqual([[], 'complete', [], 'complete']);
  });

  it('G-34 takes probe packets without sound', async () => {
    const { sessions } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.turn(audio(new Uint8Array(0)))).kinds).toEqual([]);
  });

  it('starts over with the welcome when the first thing it hears of a call is not its start', async () => {
    const { sessions, log } = await testEngine([mirror]);
    expect((await new MemoryCall(sessions).press('5')).texts).toEqual(['Welcome, what is it?']);
    expect(log.lines.some((line) => line.message.includes('starts over'))).toBe(true);
  });

  it('G-74 G-75 answers a hang-up without a prompt and forgets the call', async () => {
    const { sessions, seen } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    const sink = await call.hangUp();
    expect(sink.next).toEqual({ kind: 'gone' });
    expect(sink.texts).toEqual([]);
    expect(sessions.size).toBe(0);
    expect(seen).toContain('session_ended caller');
  });

  it('G-76 ends the call with an uncuttable farewell, and G-7C gives later turns no prompts', async () => {
    const { sessions, seen } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    const sink = await call.press('9');
    expect(sink.texts).toEqual(['Goodbye.']);
    expect(sink.outputs[0]).toMatchObject({ prompt: { bargeIn: false } });
    expect(sink.next).toEqual({ kind: 'end', metadata: { outcome: 'done' } });
    expect(seen).toContain('session_ended bot_end');
    for (const late of [await call.press('1'), await call.turn({ kind: 'no_input' })]) expect(late.isSuperseded).toBe(true);
    expect(await call.turn(audio(SPEECH))).toMatchObject({ kinds: [], end: 'complete' });
  });

  it('G-77 G-79 transfers the caller with reason, summary and routing hint', async () => {
    const { sessions } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    expect((await call.press('0')).next).toEqual({
      kind: 'transfer',
      summary: 'They asked.',
      metadata: { reason: 'asked', summary: 'They asked.', routing_hint: 'sales' },
    });
  });

  it('G-41 sends one final with all prompts in WAV mode', async () => {
    const { sessions } = await testEngine([mirror], { settings: { mode: 'wav' } });
    const call = new MemoryCall(sessions);
    const sink = await call.start();
    expect(sink.kinds).toEqual(['final']);
    expect(sink.texts).toEqual(['Welcome, what is it?']);
  });

  it('keeps two organizations with the same conversation id apart', async () => {
    const { sessions } = await testEngine([mirror]);
    await new MemoryCall(sessions).start();
    const other = new MemoryCall(sessions, { organizationId: 'other' });
    expect((await other.start()).texts).toEqual(['Welcome, what is it?']);
    expect(sessions.size).toBe(2);
  });

  it('refuses a second input on one turn without disturbing the reply', async () => {
    const { sessions, log } = await testEngine([mirror]);
    const call = new MemoryCall(sessions);
    await call.start();
    const sink = await call.turn({ kind: 'dtmf', digits: '1' }, { kind: 'dtmf', digits: '2' });
    expect(sink.texts).toEqual(['Keys 1']);
    expect(log.lines.some((line) => line.message.includes('second input'))).toBe(true);
  });

  it('ends and transfers without a word when the bot has none', async () => {
    const terse = bot<null>({
      id: 'terse',
      name: 'Terse',
      version: 1,
      session_start: () => go(null, listen()),
      dtmf_input: (_state, { digits }) => go(null, digits === '1' ? end() : transfer({ reason: 'because' })),
      otherwise: () => go(null, listen()),
    });
    const { sessions } = await testEngine([terse]);
    const first = new MemoryCall(sessions, { conversationId: 'a' });
    await first.start();
    expect((await first.press('1')).next).toEqual({ kind: 'end', metadata: { outcome: 'completed' } });
    const second = new MemoryCall(sessions, { conversationId: 'b' });
    await second.start();
    expect((await second.press('2')).next).toMatchObject({ kind: 'transfer', metadata: { reason: 'because' } });
  });
});
