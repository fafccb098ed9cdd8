import { describe, expect, it } from 'vitest';
import { soundFault } from '../../../../src/fake-platform/caller/known-sound.ts';
import { SoundMeter } from '../../../../src/fake-platform/caller/sound-meter.ts';
import type { Reply } from '../../../../src/fake-platform/caller/turn.ts';
import { decodeMulaw, encodeMulaw } from '../../../../src/speech/g711.ts';

/** A prompt of which no part sounds like another. */
const KNOWN = Int16Array.from({ length: 8000 }, (_, index) => Math.round(9000 * Math.sin((index * index) / 9000)));

function reply(turn: number, ...pieces: readonly Int16Array[]): Reply {
  return {
    turn,
    kind: 'dtmf',
    latencyMs: 10,
    atMs: 0,
    prompts: 1,
    audioMs: 1000,
    maxGapMs: 0,
    texts: [],
    isInterrupted: false,
    wasHeard: true,
    sound: { facts: new SoundMeter().facts, pieces },
  };
}

describe('a known prompt', () => {
  it('is heard when one reply has all of it, in any pieces, between others, in 16 bit or µ-law', () => {
    const pieces = [new Int16Array(400), KNOWN.subarray(0, 3001), KNOWN.subarray(3001), new Int16Array(400).fill(3000)];
    expect(soundFault([reply(1, new Int16Array(800)), reply(2, ...pieces)], KNOWN)).toBeUndefined();
    expect(soundFault([reply(1, decodeMulaw(encodeMulaw(KNOWN)))], KNOWN)).toBeUndefined();
  });

  it('is not when a piece of it is lost: the first difference is named', () => {
    expect(soundFault([reply(3, KNOWN.subarray(0, 4000), KNOWN.subarray(4160))], KNOWN)).toEqual({
      found: 'the reply to dtmf (#3) begins with it and differs from 500 ms into it on',
      turn: 3,
    });
  });

  it('is heard when it looks like itself a little later', () => {
    const stutter = [KNOWN.subarray(0, 60), KNOWN.subarray(0, 60), KNOWN.subarray(60)];
    const whole = Int16Array.from(stutter.flatMap((piece) => [...piece]));
    expect(soundFault([reply(1, KNOWN.subarray(0, 60), whole)], whole)).toBeUndefined();
  });

  it('is not when it breaks off', () => {
    expect(soundFault([reply(1, KNOWN.subarray(0, 4000))], KNOWN)?.found).toContain('differs from 500 ms into it on');
  });

  it('is not when nothing sounds like it, or no sound was kept', () => {
    const nothing = { found: 'no reply begins to sound like it' };
    expect(soundFault([reply(1, new Int16Array(8000).fill(5000))], KNOWN)).toEqual(nothing);
    expect(soundFault([reply(1)], KNOWN)).toEqual(nothing);
  });
});
