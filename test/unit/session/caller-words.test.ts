// What a session does with words that are known while the caller speaks: pauses are weighed by them, the bot is told of them and may
// prepare its answer, and what the stream loses is recognized as a whole.
import { describe, expect, it } from 'vitest';
import { bot, go, say, type BotDefinition } from '../../../src/bot/index.ts';
import type { HeardWords, RecognitionStream, Recognizer } from '../../../src/session/ports.ts';
import { LINE_SILENCE, SENTENCE } from '../../support/caller-audio.ts';
import { TEST_SETTINGS, testEngine } from '../../support/engine.ts';
import { flushMicrotasks } from '../../support/fake-clock.ts';
import { MemoryCall } from '../../support/memory-transport.ts';

/** The recorded sentence ends with so much silence: the caller pauses already, ms. */
const PAUSED_MS = 240;
const pause = (ms: number) => ({ kind: 'audio', audio: new Uint8Array(ms * 8).fill(0xff) }) as const;

/** A recognizer whose stream says what the test says. */
class ScriptedStream implements Recognizer {
  /** What the engine has done with the stream. */
  readonly did: string[] = [];
  readonly spoken: number[] = [];
  /** What the utterance is in the end. */
  text: string | Error | undefined = 'I see.';
  isLost = false;
  /** Times that a whole utterance was recognized. */
  wholes = 0;
  #onWords: (words: HeardWords) => void = () => undefined;

  recognize(): Promise<string> {
    this.wholes += 1;
    return Promise.resolve('the whole');
  }

  open(onWords: (words: HeardWords) => void): RecognitionStream {
    this.#onWords = onWords;
    const isLost = (): boolean => this.isLost;
    return {
      begin: () => this.did.push('begin'),
      push: (mulaw) => this.spoken.push(mulaw.length),
      pause: () => this.did.push('pause'),
      resume: () => this.did.push('resume'),
      text: () => (this.text instanceof Error ? Promise.reject(this.text) : Promise.resolve(this.text)),
      drop: () => this.did.push('drop'),
      get isLost() {
        return isLost();
      },
      close: () => this.did.push('close'),
    };
  }

  /** Understands so much by now. */
  hears(text: string, isWhole = true): void {
    this.#onWords({ text, stable: isWhole ? text : '', isWhole });
  }
}

/** The sentence again, without the silence before it. */
const MORE = { kind: 'audio', audio: SENTENCE.kind === 'audio' ? SENTENCE.audio.subarray(300 * 8) : new Uint8Array(0) } as const;

type Definition = Partial<
  Pick<BotDefinition<number, undefined, string>, 'hearing' | 'prepare' | 'speech_input' | 'speech' | 'session_start'>
>;

async function listening(definition: Definition = {}) {
  const stream = new ScriptedStream();
  const echo = bot<number, undefined, string>({
    id: 'echo',
    name: 'Echo',
    version: 1,
    session_start: () => go(1, say('Hi.').listen()),
    speech_input: (count, { text, prepared }) => go(count + 1, say(`${text ?? 'nothing'} ${prepared ?? '-'}`).listen()),
    otherwise: (count) => go(count, say('What?').listen()),
    ...definition,
  });
  const words = { pauseMs: 200, finishedMs: 400, unfinishedMs: 1500 };
  const engine = await testEngine([echo], { recognizer: stream, settings: { ...TEST_SETTINGS, words } });
  const call = new MemoryCall(engine.sessions);
  await call.start();
  await flushMicrotasks();
  engine.clock.advance(5000);
  const { turn, sink } = await call.open(LINE_SILENCE, SENTENCE);
  return { ...engine, stream, call, turn, sink };
}

describe('words that are known while the caller speaks', () => {
  it('are asked for at the first pause, and are the text of the input', async () => {
    const { stream, turn, sink } = await listening();
    expect(stream.did.slice(0, 1)).toEqual(['begin']);
    expect(stream.did.at(-1)).toBe('pause');
    turn.push(pause(700));
    await sink.ended();
    expect(sink.texts).toEqual(['I see. -']);
    // The whole utterance with what came before its first sound, in frames of 20 ms after that.
    expect(stream.spoken[0]).toBeGreaterThan(160);
    expect(new Set(stream.spoken.slice(1))).toEqual(new Set([160]));
  });

  it.each([
    ['after a whole sentence the utterance ends sooner', 'That is all.', 440, true],
    ['after words that may go on it ends as ever', 'That is all', 700, false],
    ['after a word that asks for more it waits', 'That is all and', 1400, false],
  ])('%s', async (_what, text, silenceMs, isOver) => {
    const { stream, turn, sink } = await listening();
    stream.hears(text);
    turn.push(pause(silenceMs - PAUSED_MS));
    expect(sink.kinds.includes('input_ended')).toBe(isOver);
    turn.push(pause(1600));
    await sink.ended();
    expect(sink.kinds).toContain('input_ended');
  });

  it('weigh only the pause behind them: one who goes on and pauses again is waited for as ever', async () => {
    const { stream, turn, sink } = await listening();
    stream.hears('That is all.');
    turn.push(MORE);
    expect(stream.did).toContain('resume');
    turn.push(pause(400));
    expect(sink.kinds).not.toContain('input_ended');
  });

  it('decide nothing while some are missing', async () => {
    const { stream, turn, sink } = await listening();
    stream.hears('That is all.', false);
    turn.push(pause(400));
    expect(sink.kinds).not.toContain('input_ended');
  });

  it('are taken from the whole utterance when the stream has lost them', async () => {
    const { stream, turn, sink } = await listening();
    stream.text = new Error('lost');
    turn.push(pause(1000));
    await sink.ended();
    expect(sink.texts).toEqual(['the whole -']);
  });

  it('are asked of the whole utterance at a pause when the stream has lost it already', async () => {
    const { stream, turn, sink } = await listening();
    stream.isLost = true;
    stream.text = new Error('lost');
    turn.push(MORE);
    const atPause = stream.wholes;
    expect(atPause).toBeGreaterThan(0);
    turn.push(pause(1000));
    await sink.ended();
    // The end asks no more.
    expect([sink.texts, stream.wholes]).toEqual([['the whole -'], atPause]);
  });

  it('reach the bot at most five times a second, and always when the caller pauses', async () => {
    const heard: string[] = [];
    const { stream, clock } = await listening({ hearing: ({ text }) => void heard.push(text) });
    stream.hears('one', false);
    stream.hears('one two', false);
    clock.advance(200);
    stream.hears('one two three', false);
    stream.hears('one two three.');
    expect(heard).toEqual(['one', 'one two three', 'one two three.']);
  });

  it('do not shorten a silence that the bot has asked for itself', async () => {
    const { stream, turn, sink } = await listening({ speech: { endSilenceMs: 1000 } });
    turn.push(pause(800));
    stream.hears('That is all.');
    turn.push(pause(100));
    expect(sink.kinds).not.toContain('input_ended');
  });

  it('do no harm when the bot fails on them', async () => {
    const failing = (): never => {
      throw new Error('no');
    };
    const { stream, turn, sink, seen } = await listening({ hearing: failing, prepare: failing });
    stream.hears('I see.');
    turn.push(pause(800));
    await sink.ended();
    expect(sink.texts).toEqual(['I see. -']);
    expect(seen.filter((event) => event.startsWith('bot_failed'))).toHaveLength(2);
  });

  it('close the stream with the call', async () => {
    const { stream, sessions, turn } = await listening();
    turn.push({ kind: 'session_end' });
    await sessions.close(0);
    expect(stream.did.filter((what) => what === 'close')).toHaveLength(1);
  });
});

describe('an answer that is prepared while the caller pauses', () => {
  /** Prepares for words; the signals of all times. */
  function preparing() {
    const made: { readonly text: string; readonly signal: AbortSignal }[] = [];
    const prepare: NonNullable<Definition['prepare']> = (_, { text }, { signal }) => {
      made.push({ text, signal });
      return `for "${text}"`;
    };
    return { made, prepare };
  }

  it('comes to the handler when these were all words, marks aside', async () => {
    const { made, prepare } = preparing();
    const { stream, turn, sink } = await listening({ prepare });
    stream.hears('i see');
    turn.push(pause(800));
    await sink.ended();
    expect(sink.texts).toEqual(['I see. for "i see"']);
    expect(made).toHaveLength(1);
  });

  it('is stopped when there were more, and made again', async () => {
    const { made, prepare } = preparing();
    const { stream, turn, sink } = await listening({ prepare });
    stream.hears('I');
    turn.push(MORE);
    stream.hears('I see.');
    expect(made.map(({ text, signal }) => [text, signal.aborted])).toEqual([
      ['I', true],
      ['I see.', false],
    ]);
    turn.push(pause(800));
    await sink.ended();
    expect(sink.texts).toEqual(['I see. for "I see."']);
    // The turn is over: nothing of it goes on.
    expect(made.every(({ signal }) => signal.aborted)).toBe(true);
  });

  it('is not given for other words than those that were said', async () => {
    const { made, prepare } = preparing();
    const { stream, turn, sink } = await listening({ prepare });
    stream.hears('I sea');
    turn.push(pause(800));
    await sink.ended();
    expect(sink.texts).toEqual(['I see. -']);
    expect(made[0]?.signal.aborted).toBe(true);
  });

  it('is not made word by word while a service writes what was said before a pause', async () => {
    const { made, prepare } = preparing();
    const { stream } = await listening({ prepare });
    for (const text of ['I', 'I would', 'I would like']) stream.hears(text, false);
    stream.hears('I would like two.');
    expect(made.map(({ text }) => text)).toEqual(['I would like two.']);
  });

  it('is made at the pause itself where a service writes while the caller speaks', async () => {
    const { made, prepare } = preparing();
    const { stream, turn } = await listening({ prepare });
    turn.push({ ...MORE, audio: MORE.audio.subarray(0, 8000) });
    stream.hears('I would like two.', false);
    expect(made).toHaveLength(0);
    turn.push(pause(400));
    expect(made.map(({ text }) => text)).toEqual(['I would like two.']);
  });

  it('is not made after a word that asks for more', async () => {
    const { made, prepare } = preparing();
    const { stream } = await listening({ prepare });
    stream.hears('I would like two and');
    expect(made).toHaveLength(0);
  });

  it('is stopped when the words are digits that were asked for', async () => {
    const { made, prepare } = preparing();
    const { stream, turn, sink } = await listening({ prepare, session_start: () => go(1, say('Two digits?').listen({ digits: 2 })) });
    stream.text = 'four two';
    stream.hears('four two');
    turn.push(pause(2000));
    await sink.ended();
    expect(sink.texts).toEqual(['What?']);
    expect(made.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it('is made three times for one utterance at most', async () => {
    const { made, prepare } = preparing();
    const { stream, turn } = await listening({ prepare });
    for (const text of ['one', 'one two', 'one two three', 'one two three four']) {
      stream.hears(text);
      turn.push(MORE);
    }
    expect(made).toHaveLength(3);
  });

  it('is stopped with a caller who hangs up', async () => {
    const { made, prepare } = preparing();
    const { stream, turn } = await listening({ prepare });
    stream.hears('I see.');
    turn.push({ kind: 'session_end' });
    await flushMicrotasks();
    expect(made[0]?.signal.aborted).toBe(true);
  });
});
