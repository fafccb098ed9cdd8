import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import type { Utterance } from '../../../../src/dialog/utterance.ts';
import type { Recognizer } from '../../../../src/session/ports.ts';
import { testEngine } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';
import { LINE_SILENCE, SENTENCE } from '../../../support/caller-audio.ts';

const echo = bot<null>({
  id: 'echo',
  name: 'Echo',
  version: 1,
  // Long enough that no pause of the recorded sentence itself reaches the end.
  speech: { endSilenceMs: 600, resumeGraceMs: 2000 },
  session_start: () => go(null, say('Hi.').listen()),
  speech_input: (_, { text }) => go(null, say(`Heard ${text ?? 'nothing'}.`).listen()),
  otherwise: () => go(null, say('What?').listen()),
});

/** Part of a second of silence, in bytes. */
const pause = (ms: number) => ({ kind: 'audio', audio: new Uint8Array(ms * 8).fill(0xff) }) as const;

async function listening(recognize?: (utterance: Utterance, count: number) => Promise<string | undefined>) {
  const asked: { readonly utterance: Utterance; readonly signal: AbortSignal }[] = [];
  const recognizer: Recognizer = {
    recognize: (utterance, signal) => {
      asked.push({ utterance, signal });
      return recognize?.(utterance, asked.length) ?? Promise.resolve(`text ${String(asked.length)}`);
    },
  };
  const engine = await testEngine([echo], { recognizer });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  const { turn, sink } = await call.open(LINE_SILENCE, SENTENCE);
  return { ...engine, call, asked, turn, sink };
}

describe('recognition on the suspected end of speech', () => {
  it('begins before the end is certain, and is asked once for one utterance', async () => {
    const { asked, turn, sink } = await listening();
    turn.push(pause(900));
    expect(sink.kinds).toEqual(['input_started']);
    expect(asked).toHaveLength(1);
    turn.push(pause(3000));
    await sink.ended();
    expect(sink.texts).toContain('Heard text 1.');
    expect(asked).toHaveLength(1);
  });

  it('forgets what it began when the caller goes on', async () => {
    const { asked, turn, sink } = await listening();
    turn.push(pause(900));
    turn.push(SENTENCE);
    expect(asked[0]?.signal.aborted).toBe(true);
    turn.push(pause(3000));
    await sink.ended();
    expect(sink.texts).toContain('Heard text 2.');
    expect(asked[1]?.utterance.durationMs).toBeGreaterThan((asked[0]?.utterance.durationMs ?? 0) * 1.5);
  });

  it('begins three times for one utterance at most', async () => {
    const { asked, turn, sink } = await listening();
    for (let pauses = 0; pauses < 5; pauses += 1) {
      turn.push(pause(900));
      turn.push(SENTENCE);
    }
    expect(asked).toHaveLength(3);
    turn.push(pause(3000));
    await sink.ended();
    expect(sink.texts).toContain('Heard text 4.');
  });

  it('is stopped with a turn that ends without an input, and never becomes the text of another turn', async () => {
    const { asked, call, turn } = await listening();
    turn.push(pause(900));
    turn.abort('hang_up');
    expect(asked[0]?.signal.aborted).toBe(true);
    const next = await call.turn(LINE_SILENCE, SENTENCE, pause(3000));
    expect(next.texts).toContain('Heard text 2.');
  });

  it('leaves the bot without text when it fails, and breaks nothing when nobody asks for it', async () => {
    const { turn, sink } = await listening(() => Promise.reject(new Error('down')));
    turn.push(pause(900));
    await flushMicrotasks();
    turn.push(pause(3000));
    await sink.ended();
    expect(sink.texts).toContain('Heard nothing.');
  });

  it('stops when the deadline of the turn has passed', async () => {
    const { asked, clock, turn, sink } = await listening(() => new Promise(() => undefined));
    turn.push(pause(3000));
    await clock.advanceAsync(10_000);
    await sink.ended();
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it('G-54 of words that keys replaced never becomes the text of a newer turn', async () => {
    const { asked, call, turn } = await listening();
    turn.push(pause(900));
    turn.push({ kind: 'dtmf_start' });
    const next = await call.turn(LINE_SILENCE, SENTENCE, pause(3000));
    expect(next.texts).toContain('Heard text 2.');
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it('begins for the next utterance, however often earlier ones were given up', async () => {
    const { asked, call, turn } = await listening();
    turn.push(pause(900));
    turn.abort('hang_up');
    for (let turns = 0; turns < 3; turns += 1) {
      const { turn: further } = await call.open(LINE_SILENCE, SENTENCE, pause(900));
      further.abort('hang_up');
    }
    expect(asked).toHaveLength(4);
  });
});
