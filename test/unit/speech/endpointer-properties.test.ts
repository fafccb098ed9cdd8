import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Endpointer, type SpeechEvent, type SpeechPatience } from '../../../src/speech/endpointer.ts';
import { run } from '../../support/drawn-speech.ts';

const patience: fc.Arbitrary<SpeechPatience> = fc.record({
  startMs: fc.integer({ min: 20, max: 200 }),
  interruptMs: fc.integer({ min: 20, max: 600 }),
  endSilenceMs: fc.integer({ min: 100, max: 400 }),
  resumeGraceMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 })),
  maxUtteranceMs: fc.integer({ min: 1000, max: 3000 }),
  preRollMs: fc.constant(0),
});

/** Runs of speech and silence, as talking is made of, some of it over a prompt. */
const picture = fc
  .array(fc.tuple(fc.constantFrom('#', '.', 'P', 'o'), fc.integer({ min: 1, max: 30 })), { maxLength: 40 })
  .map((runs) => runs.map(([frame, length]) => frame.repeat(length)).join(''));

/** Which events may follow which. */
const FOLLOWERS: Record<SpeechEvent, readonly SpeechEvent[]> = {
  speech_ended: ['speech_started'],
  speech_started: ['speech_paused', 'speech_ended'],
  speech_paused: ['speech_resumed', 'speech_ended'],
  speech_resumed: ['speech_paused', 'speech_ended'],
};

const inFrames = (ms: number): number => Math.round(ms / 20);

/** Every frame with what it brought about. */
function* played(endpointer: Endpointer, frames: string): Generator<SpeechEvent | undefined> {
  for (const frame of frames) yield endpointer.push(frame === '#' || frame === 'P', frame === 'P' || frame === 'o');
}

describe('for every patience and every sequence of frames', () => {
  it('events come in their order, and no utterance is longer than allowed', () => {
    fc.assert(
      fc.property(patience, picture, (chosen, frames) => {
        const endpointer = new Endpointer(chosen);
        let last: SpeechEvent = 'speech_ended';
        let before = 0;
        for (const event of played(endpointer, frames)) {
          if (event !== undefined) {
            expect(FOLLOWERS[last]).toContain(event);
            last = event;
          }
          expect(endpointer.isHearing).toBe(last !== 'speech_ended');
          if (event === 'speech_started') expect(endpointer.utteranceFrames).toBeLessThanOrEqual(endpointer.windowFrames);
          else if (endpointer.isHearing || event !== undefined) expect(endpointer.utteranceFrames).toBe(before + 1);
          if (endpointer.isHearing && event !== 'speech_started') expect(endpointer.utteranceFrames).toBeLessThan(endpointer.maxFrames);
          expect(endpointer.quietFrames).toBeLessThanOrEqual(endpointer.utteranceFrames);
          before = endpointer.utteranceFrames;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('without a grace nothing is suspected, and with one no end comes unsuspected before its time', () => {
    fc.assert(
      fc.property(patience, picture, (chosen, frames) => {
        const endpointer = new Endpointer(chosen);
        for (const event of played(endpointer, frames)) {
          if (inFrames(chosen.resumeGraceMs) === 0) expect(['speech_paused', 'speech_resumed']).not.toContain(event);
          if (event === 'speech_paused') expect(endpointer.quietFrames).toBeGreaterThanOrEqual(inFrames(chosen.endSilenceMs));
          if (event === 'speech_resumed') expect(endpointer.quietFrames).toBe(0);
          const isCut = endpointer.utteranceFrames >= endpointer.maxFrames;
          if (event === 'speech_ended' && !isCut) {
            const wholeSilence = inFrames(chosen.endSilenceMs) + inFrames(chosen.resumeGraceMs);
            expect(endpointer.quietFrames).toBeGreaterThanOrEqual(wholeSilence);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('silence never starts but for a word held over a prompt, and long enough silence always ends', () => {
    fc.assert(
      fc.property(patience, picture, (chosen, frames) => {
        const endpointer = new Endpointer(chosen);
        run(endpointer, frames);
        const after = run(endpointer, '.'.repeat(60));
        expect(endpointer.isHearing).toBe(false);
        const isHeldPossible = frames.endsWith('P') || frames.endsWith('o');
        expect(after.filter((event) => event.startsWith('started') && !(isHeldPossible && event === 'started 0'))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('speech shorter than the interruption time never cuts a prompt that goes on', () => {
    const backchannels = fc.array(fc.tuple(fc.integer({ min: 1, max: 19 }), fc.integer({ min: 12, max: 30 })), { maxLength: 30 });
    fc.assert(
      fc.property(backchannels, (sounds) => {
        const frames = sounds.map(([speech, silence]) => 'P'.repeat(speech) + 'o'.repeat(silence)).join('');
        expect(run(new Endpointer(), frames)).toEqual([]);
      }),
    );
  });

  it('a patience that is set later works as if it had been there from the start', () => {
    fc.assert(
      fc.property(patience, patience, picture, picture, (first, second, before, frames) => {
        const changed = new Endpointer({ ...first, startMs: 1000, interruptMs: 4000 });
        const quiet = before.replaceAll(/[P#]/gu, '.').replaceAll('o', '.');
        run(changed, quiet);
        changed.expect(second);
        expect(run(changed, frames)).toEqual(run(new Endpointer(second), frames));
      }),
    );
  });

  it('any frames weigh the same when the patience comes after them as long as none of them was a start', () => {
    const few = fc.array(fc.constantFrom('.', '.', '.', '#', 'P', 'o'), { maxLength: 49 }).map((frames) => frames.join(''));
    fc.assert(
      fc.property(patience, few, picture, (chosen, before, frames) => {
        const changed = new Endpointer({ ...chosen, startMs: 1000, interruptMs: 4000 });
        run(changed, before);
        const fresh = new Endpointer(chosen);
        fc.pre(run(fresh, before).length === 0 && !before.includes('P'));
        changed.expect(chosen);
        expect(run(changed, frames)).toEqual(run(fresh, frames));
      }),
    );
  });
});
