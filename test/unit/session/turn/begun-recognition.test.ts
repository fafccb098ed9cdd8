// One recognition that began on suspicion: begun once, stopped by whoever waits for it, and nothing left of the wait.
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Recognizer } from '../../../../src/session/ports.ts';
import { earlyRecognition } from '../../../../src/session/turn/early-recognition.ts';

const UTTERANCE = { mulaw: new Uint8Array(8), durationMs: 1 };

/** A recognizer that never answers, or at once with `answer`. */
function recognizing(answer?: string) {
  const signals: AbortSignal[] = [];
  const recognizer: Recognizer = {
    recognize: (_, signal) => {
      signals.push(signal);
      if (answer !== undefined) return Promise.resolve(answer);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('stopped'));
        });
      });
    },
  };
  const early = earlyRecognition(recognizer, () => undefined);
  early.begin({});
  early.pause(() => UTTERANCE, {});
  return { early, signals };
}

describe('a recognition that began on suspicion', () => {
  it('is begun once while it runs', () => {
    const { early, signals } = recognizing();
    early.pause(() => UTTERANCE, {});
    expect(signals).toHaveLength(1);
  });

  it('is superseded when the caller goes on', () => {
    const { early, signals } = recognizing();
    early.drop();
    expect(signals.map(({ reason }) => reason as unknown)).toEqual(['superseded']);
    expect(early.take(UTTERANCE, {})).toBeUndefined();
  });

  it.each(['before', 'while'])('is stopped by a turn that ended %s its text was waited for', async (when) => {
    const { early, signals } = recognizing();
    const turn = new AbortController();
    if (when === 'before') turn.abort();
    const text = early.take(UTTERANCE, {})?.text(turn.signal);
    turn.abort();
    await expect(text).rejects.toThrow('stopped');
    expect(signals.map(({ reason }) => reason as unknown)).toEqual(['superseded']);
  });

  it('leaves nothing on the signal of a turn that goes on', async () => {
    const { early } = recognizing('hello');
    const turn = new AbortController();
    expect(await early.take(UTTERANCE, {})?.text(turn.signal)).toBe('hello');
    expect(getEventListeners(turn.signal, 'abort')).toEqual([]);
  });
});
