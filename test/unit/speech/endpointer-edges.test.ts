// What lies just at the edge of how far the endpointer looks back, and what it takes for granted.
import { describe, expect, it } from 'vitest';
import { Endpointer, type SpeechPatience } from '../../../src/speech/endpointer.ts';
import { run } from '../../support/drawn-speech.ts';

/** A start needs 3 frames of 6, an interruption 6 of 9. */
const SMALL: SpeechPatience = { startMs: 60, interruptMs: 120, endSilenceMs: 200, resumeGraceMs: 0, maxUtteranceMs: 1000, preRollMs: 0 };

describe('the oldest frame that is looked at', () => {
  it('belongs to an utterance that somebody else starts', () => {
    const endpointer = new Endpointer(SMALL);
    run(endpointer, '#........');
    endpointer.start();
    expect([endpointer.utteranceFrames, endpointer.quietFrames]).toEqual([9, 8]);
    const late = new Endpointer(SMALL);
    run(late, '#.........');
    late.start();
    expect([late.utteranceFrames, late.quietFrames]).toEqual([0, 0]);
  });

  it('is counted when the patience changes, and forgotten with the next frame', () => {
    const endpointer = new Endpointer({ ...SMALL, startMs: 1000 });
    run(endpointer, '#.....');
    endpointer.expect(SMALL);
    expect(run(endpointer, '.###')).toEqual(['started 3']);
  });
});

describe('a frame', () => {
  it('is heard over silence unless a prompt is named', () => {
    const endpointer = new Endpointer(SMALL);
    expect([true, true, true].map((isSpeech) => endpointer.push(isSpeech))).toEqual([undefined, undefined, 'speech_started']);
  });
});
