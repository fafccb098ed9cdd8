import { describe, expect, it } from 'vitest';
import { bot, go, say } from '../../../../src/bot/index.ts';
import type { PromptAudio } from '../../../../src/dialog/output.ts';
import { FakeVoice, testEngine } from '../../../support/engine.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { MemoryCall } from '../../../support/memory-transport.ts';

/** Pieces that a test hands out one by one. */
class MadePieces implements AsyncIterable<PromptAudio>, AsyncIterator<PromptAudio> {
  isClosed = false;
  readonly #made: (PromptAudio | 'failure' | undefined)[] = [];
  #wanted: ((step: IteratorResult<PromptAudio> | Promise<never>) => void) | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Undefined ends them, a failure breaks them off. */
  make(durationMs: number | undefined | 'failure'): void {
    if (durationMs === 'failure') this.#made.push(durationMs);
    else
      this.#made.push(durationMs === undefined ? undefined : { mulaw: new Uint8Array(durationMs * 8).fill(durationMs & 0xff), durationMs });
    this.#deliver();
  }

  next(): Promise<IteratorResult<PromptAudio>> {
    return new Promise((resolve) => {
      this.#wanted = resolve;
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<PromptAudio>> {
    this.isClosed = true;
    return Promise.resolve({ done: true, value: undefined });
  }

  #deliver(): void {
    if (this.#wanted === undefined || this.#made.length === 0) return;
    const value = this.#made.shift();
    if (value === 'failure') this.#wanted(Promise.reject(new Error('the service broke off')));
    else this.#wanted(value === undefined ? { done: true, value } : { done: false, value });
    this.#wanted = undefined;
  }
}

const STREAMED = 'This is still being made.';

async function begun(settings = {}) {
  const pieces = new MadePieces();
  class StreamingVoice extends FakeVoice {
    override render(prompt: Parameters<FakeVoice['render']>[0]): ReturnType<FakeVoice['render']> {
      return prompt.kind === 'text' && prompt.text === STREAMED ? pieces : super.render(prompt);
    }
  }
  const talker = bot<null>({
    id: 'talker',
    name: 'Talker',
    version: 1,
    session_start: () => go(null, say('Hi.').listen()),
    dtmf_input: (_, { digits }) => go(null, digits === '1' ? say(STREAMED).say('After.').listen() : say('Two.').listen()),
    otherwise: (_, { heard }) => go(null, say(`${String(heard.complete)} ${String(heard.ms)} ${heard.text}`).listen()),
  });
  const voice = new StreamingVoice();
  const engine = await testEngine([talker], { voice, settings });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  engine.clock.advance(5000);
  const { sink, turn } = await call.open({ kind: 'dtmf', digits: '1' });
  await flushMicrotasks();
  return { ...engine, call, sink, turn, pieces, voice };
}

const lengths = (sink: Awaited<ReturnType<typeof begun>>['sink']) =>
  sink.outputs.flatMap((output) => (output.kind === 'prompt' ? [output.prompt.audio.durationMs] : []));

describe('a prompt that is still being made', () => {
  it('is sent piece by piece, in front of what follows it', async () => {
    const { sink, pieces } = await begun();
    expect(sink.kinds).toEqual([]);
    pieces.make(200);
    await flushMicrotasks();
    expect(lengths(sink)).toEqual([200]);
    pieces.make(400);
    pieces.make(undefined);
    await sink.ended();
    expect(lengths(sink)).toEqual([200, 400, 'After.'.length * 10]);
    // Whoever reads along must not read it twice.
    expect(sink.texts).toEqual([STREAMED, undefined, 'After.']);
    expect(sink.outputs.flatMap((output) => (output.kind === 'prompt' ? [output.prompt.goesOn] : []))).toEqual([
      undefined,
      true,
      undefined,
    ]);
    expect(pieces.isClosed).toBe(true);
  });

  it('G-41 travels whole in WAV mode', async () => {
    const { sink, pieces } = await begun({ mode: 'wav' });
    for (const ms of [200, 400, undefined]) pieces.make(ms);
    await sink.ended();
    expect(sink.kinds).toEqual(['final']);
    const [final] = sink.outputs;
    expect(final?.kind === 'final' && final.prompts.map(({ audio }) => audio?.mulaw.length)).toEqual([4800, 480]);
  });

  it('stops when the caller acts over it, and its source is cancelled', async () => {
    const { call, sink, pieces, voice } = await begun();
    pieces.make(200);
    await flushMicrotasks();
    await call.press('2');
    expect(voice.givenUp).toEqual([]);
    expect(pieces.isClosed).toBe(true);
    expect(sink.end).toBe('complete');
    expect(lengths(sink)).toEqual([200]);
  });

  it('ends where it is when the next piece does not come, which is reported', async () => {
    const { clock, sink, pieces, voice } = await begun();
    pieces.make(200);
    await clock.advanceAsync(4999);
    expect(voice.givenUp).toEqual([]);
    await clock.advanceAsync(1);
    await sink.ended();
    expect(lengths(sink)).toEqual([200, 60]);
    expect(voice.givenUp).toMatchObject([{ kind: 'text', text: STREAMED }]);
  });

  it('travels as text when nothing of it is made', async () => {
    const { sink, pieces } = await begun();
    pieces.make(undefined);
    await sink.ended();
    expect(sink.texts).toEqual([STREAMED, 'After.']);
  });

  it('G-91 waits for a client that does not read between the pieces', async () => {
    const { sink, pieces } = await begun();
    sink.isFull = true;
    for (const ms of [200, 400, undefined]) pieces.make(ms);
    await flushMicrotasks();
    expect(lengths(sink)).toEqual([200]);
    sink.drain();
    await sink.ended();
    expect(lengths(sink)).toEqual([200, 400, 60]);
  });

  it.each([
    ['reads it', false],
    ['does not', true],
  ])('is heard up to a word of all of its text when it is cut before all of it is made, and its client %s', async (_how, isFull) => {
    const { call, clock, sink, pieces } = await begun();
    sink.isFull = isFull;
    pieces.make(200);
    await flushMicrotasks();
    clock.advance(150);
    await call.turn({ kind: 'dtmf_start' });
    await sink.ended();
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual(['false 150 This']);
  });

  it('is not heard whole when its next piece does not come', async () => {
    const { call, clock, sink, pieces } = await begun();
    pieces.make(200);
    await clock.advanceAsync(5000);
    await sink.ended();
    clock.advance(10_000);
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual(['false 260 This After.']);
  });

  it.each(['chunk', 'wav'] as const)('is not heard whole when its service breaks off, in %s mode', async (mode) => {
    const { call, clock, sink, pieces } = await begun({ mode });
    for (const each of [200, 'failure'] as const) pieces.make(each);
    await sink.ended();
    clock.advance(10_000);
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual(['false 260 This After.']);
  });

  it('counts as one prompt in what was heard', async () => {
    const { call, clock, sink, pieces } = await begun();
    for (const ms of [200, 400, undefined]) pieces.make(ms);
    await sink.ended();
    clock.advance(10_000);
    expect((await call.turn({ kind: 'no_input' })).texts).toEqual([`true 660 ${STREAMED} After.`]);
  });
});
