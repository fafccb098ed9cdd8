// Replies beside the first that said the same: what is missing or wrong is found, and what a caller cut is left alone.
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../src/fake-platform/caller/answer.ts';
import { CallClock } from '../../../../src/fake-platform/caller/call-clock.ts';
import type { Line, LineTurn, TurnListener } from '../../../../src/fake-platform/lines/line.ts';
import { KnownSounds, PromptWatch } from '../../../../src/fake-platform/load/prompt-watch.ts';
import { repeatingLine } from '../../../../src/fake-platform/lines/repeating-line.ts';
import { mulawWav, mulawWavHeader } from '../../../../src/speech/wav.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const NOBODY: TurnListener = { answered: () => undefined, ended: () => undefined };

/** A line whose turns a test answers, and a watch that is not over it yet. */
function unwatchedLine(known: KnownSounds) {
  const listeners: TurnListener[] = [];
  const turn: LineTurn = { send: () => undefined, halfClose: () => undefined, cancel: () => undefined };
  const inner: Line = {
    open: (listener) => {
      listeners.push(listener);
      return turn;
    },
    close: () => undefined,
  };
  return { watch: new PromptWatch(known), inner, listeners };
}

function watchedLine(known: KnownSounds) {
  const { watch, inner, listeners } = unwatchedLine(known);
  return { watch, line: watch.over(inner), listeners };
}

function said(audio: readonly number[], text = '', event?: Answer['event']): Answer {
  const prompts = audio.length === 0 ? [] : [{ text, uri: '', audio: Uint8Array.from(audio), bargeIn: false }];
  return { type: 'chunk', prompts, event, mode: undefined, config: undefined, sensitive: false };
}

/** One call with one reply, in the pieces given. */
function reply(known: KnownSounds, pieces: readonly (readonly number[])[], text: string, trailing: readonly string[] = []) {
  const { watch, line, listeners } = watchedLine(known);
  line.open(NOBODY);
  for (const [index, piece] of pieces.entries()) listeners[0]?.answered(said(piece, index === 0 ? text : ''));
  listeners[0]?.ended({ kind: 'completed', promptTexts: trailing });
  return watch.compare();
}

describe('the watch over prompts', () => {
  it('compares replies of the same text, whatever pieces they come in', () => {
    const known = new KnownSounds();
    expect(reply(known, [[1, 2, 3, 4]], 'Hello.')).toMatchObject({ unknown: 1, compared: 0 });
    expect(reply(known, [[1], [2, 3], [4]], 'Hello.')).toMatchObject({ compared: 1, wrong: 0, short: 0 });
    expect(reply(known, [[1, 2, 3, 5]], 'Hello.')).toMatchObject({ compared: 1, wrong: 1, short: 0 });
    expect(reply(known, [[1, 2, 3]], 'Hello.')).toMatchObject({ compared: 1, wrong: 0, short: 1 });
    expect(reply(known, [[1, 2, 3, 4, 4]], 'Hello.')).toMatchObject({ compared: 1, wrong: 1 });
    // A text that comes in the trailers is as good.
    expect(reply(known, [[1, 2, 3, 4]], '', ['Hello.'])).toMatchObject({ compared: 1, wrong: 0 });
    expect(reply(known, [[9]], '')).toMatchObject({ unknown: 1, compared: 0 });
  });

  it.each<[string, (turn: LineTurn, listener: TurnListener | undefined) => void]>([
    ['speech', (_, listener) => listener?.answered(said([], '', { kind: 'start_of_input', name: '', metadata: {} }))],
    [
      'keys',
      (turn) => {
        turn.send({ kind: 'dtmf', keys: ['1'] });
      },
    ],
    [
      'a hang-up',
      (turn) => {
        turn.send({ kind: 'session_end' });
      },
    ],
  ])('leaves alone what was cut by %s', (_, cut) => {
    const known = new KnownSounds();
    reply(known, [[1, 2, 3, 4]], 'Hello.');
    const { watch, line, listeners } = watchedLine(known);
    line.open(NOBODY);
    const next = line.open(NOBODY);
    listeners[0]?.answered(said([1, 2], 'Hello.'));
    cut(next, listeners[1]);
    listeners[0]?.ended({ kind: 'completed', promptTexts: [] });
    expect(watch.compare()).toEqual({ compared: 0, wrong: 0, short: 0, unknown: 0 });
  });

  it('leaves alone what the server cut and completed before it reported speech', () => {
    const known = new KnownSounds();
    reply(known, [[1, 2, 3, 4]], 'Hello.');
    const { watch, line, listeners } = watchedLine(known);
    line.open(NOBODY);
    line.open(NOBODY);
    listeners[0]?.answered(said([1, 2], 'Hello.'));
    listeners[0]?.ended({ kind: 'completed', promptTexts: [] });
    listeners[1]?.answered(said([], '', { kind: 'start_of_input', name: '', metadata: {} }));
    expect(watch.compare()).toEqual({ compared: 0, wrong: 0, short: 0, unknown: 0 });
  });

  it('compares what was over before the caller came in between', () => {
    const known = new KnownSounds();
    reply(known, [[1, 2, 3, 4]], 'Hello.');
    const { watch, line, listeners } = watchedLine(known);
    line.open(NOBODY);
    listeners[0]?.answered(said([1, 2], 'Hello.'));
    listeners[0]?.ended({ kind: 'completed', promptTexts: [] });
    line.open(NOBODY);
    listeners[1]?.answered(said([], '', { kind: 'start_of_input', name: '', metadata: {} }));
    expect(watch.compare()).toMatchObject({ compared: 1, short: 1 });
  });

  it.each<[string, Answer['type'], readonly string[]]>([
    ['beside it', 'final', []],
    ['in the trailers', 'final', ['You said']],
    ['in the trailers of a stream', 'chunk', ['You said', '']],
  ])('does not compare a reply of which one sound has no text: %s', (_, type, trailing) => {
    const known = new KnownSounds();
    for (const recording of [5, 6]) {
      const { watch, line, listeners } = watchedLine(known);
      line.open(NOBODY);
      const prompt = { uri: '', bargeIn: false };
      const prompts = [
        { ...prompt, text: trailing.length === 0 ? 'You said' : '', audio: Uint8Array.of(1, 2) },
        { ...prompt, text: '', audio: Uint8Array.of(recording) },
      ];
      listeners[0]?.answered({ ...said([]), type, prompts });
      listeners[0]?.ended({ kind: 'completed', promptTexts: trailing });
      expect(watch.compare()).toEqual({ compared: 0, wrong: 0, short: 0, unknown: 1 });
    }
  });

  it('compares the samples and not what a WAV says of itself, with what was heard before', () => {
    const samples = Uint8Array.from({ length: 40 }, (_, index) => index);
    const rehearsed = new KnownSounds();
    reply(rehearsed, [[...mulawWav(samples)]], 'Hello.');
    expect(rehearsed.all).toEqual([{ text: '["Hello."]', checksum: expect.any(Number) as number, bytes: 40 }]);
    const known = new KnownSounds(rehearsed.all);
    const streamed = mulawWavHeader(40);
    // A server that writes before it knows how long the sound is.
    new DataView(streamed.buffer).setUint32(4, 0xff_ff_ff_ff, true);
    expect(reply(known, [[...streamed, ...samples]], 'Hello.')).toMatchObject({ compared: 1, wrong: 0, short: 0 });
    expect(reply(known, [[...samples]], 'Hello.')).toMatchObject({ compared: 1, wrong: 0, short: 0 });
    expect(reply(known, [[...mulawWav(samples.subarray(1))]], 'Hello.')).toMatchObject({ compared: 1, short: 1 });
  });

  it.each([
    ['cannot compare a reply whose texts were lost with the status of its RPC', '', { compared: 0, unknown: 1 }],
    ['compares a reply whose texts had come before the status was lost', 'Hello.', { compared: 1, unknown: 0 }],
  ])('%s', (_, text, counts) => {
    const known = new KnownSounds();
    reply(known, [[1, 2, 3, 4]], 'Hello.');
    const { watch, inner, listeners } = unwatchedLine(known);
    const repetition = { clock: new CallClock(new FakeClock()), repeatsLostTurns: true, pace: 1 };
    watch.over(repeatingLine(inner, repetition)).open(NOBODY);
    listeners[0]?.answered({ ...said([1, 2, 3, 4], text), type: 'chunk' });
    listeners[0]?.answered({ ...said([]), type: 'final' });
    listeners[0]?.ended({ kind: 'broken', failure: { code: 'closed_early', message: 'gone', loss: 'cut' } });
    expect(watch.compare()).toEqual({ wrong: 0, short: 0, ...counts });
  });

  it('does not compare what broke: that is a failure of its own', () => {
    const known = new KnownSounds();
    reply(known, [[1, 2, 3, 4]], 'Hello.');
    const { watch, line, listeners } = watchedLine(known);
    line.open(NOBODY);
    listeners[0]?.answered(said([1], 'Hello.'));
    listeners[0]?.ended({ kind: 'broken', failure: { code: 'closed_early', message: 'gone' } });
    expect(watch.compare().compared).toBe(0);
  });
});
