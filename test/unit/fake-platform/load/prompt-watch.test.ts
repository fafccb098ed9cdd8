// Replies beside the first that said the same: what is missing or wrong is found, and what a caller cut is left alone.
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../src/fake-platform/answer.ts';
import type { Line, LineTurn, TurnListener } from '../../../../src/fake-platform/line.ts';
import { KnownSounds, PromptWatch } from '../../../../src/fake-platform/load/prompt-watch.ts';

const NOBODY: TurnListener = { answered: () => undefined, ended: () => undefined };

/** A line whose turns a test answers. */
function watchedLine(known: KnownSounds) {
  const listeners: TurnListener[] = [];
  const turn: LineTurn = { send: () => undefined, halfClose: () => undefined, cancel: () => undefined };
  const line: Line = {
    open: (listener) => {
      listeners.push(listener);
      return turn;
    },
    close: () => undefined,
  };
  return { watch: new PromptWatch(line, known), listeners };
}

function said(audio: readonly number[], text = '', event?: Answer['event']): Answer {
  const prompts = audio.length === 0 ? [] : [{ text, uri: '', audio: Uint8Array.from(audio), bargeIn: false }];
  return { type: 'chunk', prompts, event, mode: undefined, config: undefined, sensitive: false };
}

/** One call with one reply, in the pieces given. */
function reply(known: KnownSounds, pieces: readonly (readonly number[])[], text: string, trailing: readonly string[] = []) {
  const { watch, listeners } = watchedLine(known);
  watch.line.open(NOBODY);
  for (const [index, piece] of pieces.entries()) listeners[0]?.answered(said(piece, index === 0 ? text : ''));
  listeners[0]?.ended({ kind: 'completed', promptTexts: trailing });
  return watch.counts;
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
    const { watch, listeners } = watchedLine(known);
    watch.line.open(NOBODY);
    const next = watch.line.open(NOBODY);
    listeners[0]?.answered(said([1, 2], 'Hello.'));
    cut(next, listeners[1]);
    listeners[0]?.ended({ kind: 'completed', promptTexts: [] });
    expect(watch.counts).toEqual({ compared: 0, wrong: 0, short: 0, unknown: 0 });
  });

  it('does not compare what broke: that is a failure of its own', () => {
    const known = new KnownSounds();
    reply(known, [[1, 2, 3, 4]], 'Hello.');
    const { watch, listeners } = watchedLine(known);
    watch.line.open(NOBODY);
    listeners[0]?.answered(said([1], 'Hello.'));
    listeners[0]?.ended({ kind: 'broken', failure: { code: 'closed_early', message: 'gone' } });
    expect(watch.counts.compared).toBe(0);
  });
});
