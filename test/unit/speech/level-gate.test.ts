import { describe, expect, it } from 'vitest';
import { LevelGate } from '../../../src/speech/level-gate.ts';

const power = (dbfs: number): number => 32_768 ** 2 * 10 ** (dbfs / 10);

/** Feeds `frames` frames of one level, a voice or none, and returns the last decision. */
function feed(gate: LevelGate, frames: number, dbfs: number, isVoice: boolean, isHearing = false): boolean {
  let isSpeech = false;
  for (let frame = 0; frame < frames; frame += 1) {
    const isLoud = gate.admits(power(dbfs), isHearing);
    isSpeech = isLoud && isVoice;
    gate.follow(isSpeech, isHearing);
  }
  return isSpeech;
}

/** A gate that knows the noise of its line. */
function settled(dbfs: number): LevelGate {
  const gate = new LevelGate();
  feed(gate, 200, dbfs, false);
  return gate;
}

describe('the level gate above the floor', () => {
  it('lets a voice through that stands 5 dB above it', () => {
    expect(feed(settled(-45), 1, -39.9, true)).toBe(true);
    expect(feed(settled(-45), 1, -40.1, true)).toBe(false);
  });

  it('keeps a voice down to 2.5 dB above it once it is open', () => {
    const gate = settled(-45);
    feed(gate, 1, -30, true);
    expect(feed(gate, 1, -42.4, true, true)).toBe(true);
    expect(feed(gate, 1, -42.7, true, true)).toBe(false);
    expect(feed(gate, 1, -42.4, true, true)).toBe(false);
  });

  it('admits what is loud enough, whatever it is, and counts as open only what was speech', () => {
    const gate = settled(-45);
    expect(gate.admits(power(-10), false)).toBe(true);
    gate.follow(false, false);
    expect(feed(gate, 1, -42.4, true, true)).toBe(false);
  });

  it('lets nothing through below -50 dBFS, however quiet the line', () => {
    expect(feed(settled(-90), 1, -50.1, true)).toBe(false);
    expect(feed(settled(-90), 1, -49.9, true)).toBe(true);
  });

  it('stays shut for the first five frames of a line', () => {
    const gate = new LevelGate();
    expect(feed(gate, 5, -15, true)).toBe(false);
    expect(feed(gate, 1, -15, true)).toBe(true);
  });

  it('follows a new noise within seconds', () => {
    const gate = settled(-60);
    feed(gate, 250, -40, false);
    expect(feed(gate, 1, -35.5, true)).toBe(false);
    expect(feed(gate, 1, -34.5, true)).toBe(true);
  });

  it('hardly follows a long sentence', () => {
    const gate = settled(-50);
    expect(feed(gate, 500, -30, true, true)).toBe(true);
  });

  it('follows the line down within a few frames of speech', () => {
    const gate = settled(-30);
    expect(feed(gate, 1, -40, true, true)).toBe(false);
    feed(gate, 20, -55, false);
    expect(feed(gate, 1, -28, true)).toBe(true);
    expect(feed(gate, 1, -31, true, true)).toBe(true);
  });
});

describe('the level gate above the background', () => {
  /** Talk in another corner, with pauses between the words, so that the floor is that of the pauses. */
  const withTalk = (dbfs: number): LevelGate => {
    const gate = settled(-60);
    for (let round = 0; round < 30; round += 1) {
      feed(gate, 3, -60, false);
      feed(gate, 20, dbfs, true);
    }
    return gate;
  };

  it('learns how loud others talk and lets only those through who are louder', () => {
    const gate = withTalk(-40);
    expect(feed(gate, 1, -37, true)).toBe(false);
    expect(feed(gate, 1, -35, true)).toBe(true);
  });

  it('keeps the caller down to 2 dB above it while the caller speaks, and does not learn from that', () => {
    const gate = withTalk(-40);
    expect(feed(gate, 100, -26, true, true)).toBe(true);
    expect(feed(gate, 1, -38, true, true)).toBe(true);
    expect(feed(gate, 1, -39.5, true, true)).toBe(false);
    expect(feed(gate, 100, -60, false, true)).toBe(false);
    expect(feed(gate, 1, -39.5, true, true)).toBe(false);
  });

  it('forgets a talk that is over at 10 dB a second', () => {
    const gate = settled(-60);
    feed(gate, 500, -35, true);
    feed(gate, 50, -60, false);
    expect(feed(gate, 1, -42, true)).toBe(false);
    feed(gate, 50, -60, false);
    expect(feed(gate, 1, -42, true)).toBe(true);
  });

  it('hears a caller at once who talked before anybody listened', () => {
    const gate = settled(-60);
    feed(gate, 500, -20, true);
    expect(feed(gate, 1, -26.5, true)).toBe(true);
    expect(feed(gate, 1, -27.5, true)).toBe(false);
  });

  it('takes the first frames of a line for background, but not for more than -35 dBFS', () => {
    const noisy = new LevelGate();
    feed(noisy, 5, -45, true);
    feed(noisy, 20, -70, false);
    // 20 frames of silence take 4 dB off.
    expect(feed(noisy, 1, -44.4, true)).toBe(false);
    expect(feed(noisy, 1, -43, true)).toBe(true);
    const loud = new LevelGate();
    feed(loud, 5, -15, true);
    feed(loud, 1, -70, false);
    expect(feed(loud, 1, -30.6, true)).toBe(false);
    expect(feed(loud, 1, -29, true)).toBe(true);
  });

  it('takes a steady noise that the detector mistakes for a voice for background from its first frame', () => {
    expect(feed(new LevelGate(), 300, -38, true)).toBe(false);
  });

  it('forgets the line on reset', () => {
    const gate = withTalk(-35);
    gate.reset();
    expect(feed(gate, 5, -60, true)).toBe(false);
    expect(feed(gate, 1, -40, true)).toBe(true);
    gate.reset();
    expect(feed(gate, 5, -15, true)).toBe(false);
  });
});

describe('how far a frame stands above the rest of the line', () => {
  it('is its distance from the floor on a line without talk', () => {
    const gate = settled(-45);
    gate.admits(power(-25), false);
    expect(gate.headroomDb).toBeCloseTo(20, 1);
    gate.admits(power(-50), false);
    expect(gate.headroomDb).toBeCloseTo(-5, 1);
  });

  it('is its distance from the background where that is louder', () => {
    const gate = settled(-60);
    for (let round = 0; round < 30; round += 1) {
      feed(gate, 3, -60, false);
      feed(gate, 20, -40, true);
    }
    gate.admits(power(-20), false);
    expect(gate.headroomDb).toBeGreaterThan(18);
    expect(gate.headroomDb).toBeLessThan(24);
  });
});

describe('a line that opens loud', () => {
  it('takes what it opened with for the background as long as it goes on', () => {
    const gate = new LevelGate();
    feed(gate, 100, -40, false);
    expect(feed(gate, 1, -35.5, true)).toBe(false);
  });

  it('forgets that background in the first pause: it was the caller', () => {
    const gate = new LevelGate();
    feed(gate, 25, -34, false);
    expect(feed(gate, 1, -34, true)).toBe(false);
    feed(gate, 5, -62, false);
    expect(feed(gate, 1, -34, true)).toBe(true);
  });

  it('takes a pause later than three seconds after its start for a pause of others', () => {
    const gate = new LevelGate();
    feed(gate, 150, -34, false);
    feed(gate, 5, -62, false);
    expect(feed(gate, 1, -34, true)).toBe(false);
  });
});
