import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { bot, go, say } from '../../../src/bot/index.ts';
import type { Recognizer } from '../../../src/session/ports.ts';
import { snapshotOf, testEngine } from '../../support/engine.ts';
import { homes } from '../../support/homes.ts';
import { MemoryCall } from '../../support/memory-transport.ts';
import { LINE_SILENCE, SENTENCE, WHOLE_SENTENCE } from '../../support/caller-audio.ts';

const STORY = 'Once upon a time there was a long, long prompt that went on and on.';
const STORY_MS = STORY.length * 10;

const teller = bot<{ readonly inputs: number }>({
  id: 'teller',
  name: 'Teller',
  version: 1,
  session_start: () => go({ inputs: 0 }, say(STORY).listen({ noInputMs: 7000, event: { name: 'began' } })),
  otherwise: ({ inputs }) => go({ inputs: inputs + 1 }, say('Pardon?').listen()),
});

async function interruptedWith(text: string | undefined, settings = {}) {
  const recognizer: Recognizer = { recognize: () => Promise.resolve(text) };
  return interrupted(recognizer, settings);
}

async function interrupted(recognizer: Recognizer, settings = {}) {
  const engine = await testEngine([teller], { recognizer, settings });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(500);
  const sink = await call.turn(...WHOLE_SENTENCE);
  const snapshot = await snapshotOf(engine);
  return { ...engine, call, sink, snapshot };
}

describe('an interruption without words', () => {
  it('lets the prompt go on a little before the cut, and the bot is not asked', async () => {
    const { sink, snapshot } = await interruptedWith(undefined);
    expect(sink.kinds).toEqual(['input_started', 'input_ended', 'prompt', 'final']);
    const [prompt] = sink.outputs.flatMap((output) => (output.kind === 'prompt' ? [output.prompt] : []));
    expect(prompt?.audio.durationMs).toBe(STORY_MS - 500 + 400);
    expect(snapshot?.state).toEqual({ inputs: 0 });
  });

  it('asks the platform for the same input again, without sending the flow its event a second time', async () => {
    const { sink } = await interruptedWith('  ');
    expect(sink.next).toMatchObject({ kind: 'listen', noInputMs: 7000 });
    expect(sink.next).not.toHaveProperty('event.name');
  });

  it('can interrupt what goes on, too', async () => {
    const { call, clock, sink } = await interruptedWith(undefined);
    expect(sink.kinds).toContain('prompt');
    clock.advance(500);
    const again = await call.turn(...WHOLE_SENTENCE);
    const [prompt] = again.outputs.flatMap((output) => (output.kind === 'prompt' ? [output.prompt] : []));
    expect(prompt?.audio.durationMs).toBe(STORY_MS - 100 - 500 + 400);
  });

  it('has the prompt begin anew at the next home, which has no sound of the one before', async () => {
    const all = await homes({ recognizer: { recognize: () => Promise.resolve(undefined) } }, [1, 1], teller);
    const { a, clock, left, next } = all;
    await new MemoryCall(a.sessions).start();
    await clock.advanceAsync(500);
    const sink = await next().turn(...WHOLE_SENTENCE);
    expect([sink.kinds, sink.next]).toMatchObject([
      ['input_started', 'input_ended', 'prompt', 'final'],
      { kind: 'listen', noInputMs: 7000 },
    ]);
    expect(sink.texts).toContain(STORY);
    expect(left.newest()?.state).toEqual({ inputs: 0 });
  });

  it('reaches the bot when there were words', async () => {
    expect((await interruptedWith('stop it')).sink.texts).toContain('Pardon?');
  });

  it('reaches the bot when the recognizer failed, because nobody knows what was said', async () => {
    const failing: Recognizer = { recognize: () => Promise.reject(new AppError('recognition_failed', 'down')) };
    expect((await interrupted(failing)).sink.texts).toContain('Pardon?');
  });

  it('reaches the bot when the operator wants it', async () => {
    expect((await interruptedWith(undefined, { resumesPrompts: false })).sink.texts).toContain('Pardon?');
  });

  it('reaches the bot when nothing was playing', async () => {
    const recognizer: Recognizer = { recognize: () => Promise.resolve(undefined) };
    const { sessions, clock } = await testEngine([teller], { recognizer });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(STORY_MS);
    expect((await call.turn(...WHOLE_SENTENCE)).texts).toContain('Pardon?');
  });

  it('does not talk into keys that are being pressed', async () => {
    const recognizer: Recognizer = { recognize: () => Promise.resolve(undefined) };
    const { sessions, clock } = await testEngine([teller], { recognizer });
    const call = new MemoryCall(sessions);
    await call.start();
    clock.advance(100);
    const spoken = await call.open(LINE_SILENCE, SENTENCE);
    await call.turn({ kind: 'dtmf_start' });
    spoken.turn.halfClose();
    await spoken.sink.ended();
    expect(spoken.sink.texts).not.toContain(STORY);
  });
});
