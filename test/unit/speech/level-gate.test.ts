import { describe, expect, it } from 'vitest';
import { LevelGate, meanSquare } from '../../../src/speech/level-gate.ts';

const power = (dbfs: number): number => 32_768 ** 2 * 10 ** (dbfs / 10);

/** Feeds `frames` frames of one level and returns the last decision. */
function feed(gate: LevelGate, frames: number, dbfs: number, isVoice: boolean): boolean {
  let open = false;
  for (let frame = 0; frame < frames; frame += 1) open = gate.passes(power(dbfs), isVoice);
  return open;
}

/** A gate that knows the floor of its line. */
function settled(floorDbfs: number): LevelGate {
  const gate = new LevelGate();
  feed(gate, 200, floorDbfs, false);
  return gate;
}

describe('the level gate', () => {
  it('lets a voice through that stands 7 dB above the floor', () => {
    expect(feed(settled(-45), 1, -37.9, true)).toBe(true);
    expect(feed(settled(-45), 1, -38.2, true)).toBe(false);
  });

  it('keeps a voice down to 4 dB above the floor once it is open', () => {
    const gate = settled(-45);
    feed(gate, 1, -30, true);
    expect(feed(gate, 1, -40.7, true)).toBe(true);
    expect(feed(gate, 1, -41.3, true)).toBe(false);
    expect(feed(gate, 1, -40.7, true)).toBe(false);
  });

  it('lets nothing through that is no voice', () => {
    expect(feed(settled(-60), 3, -10, false)).toBe(false);
  });

  it('lets nothing through below -50 dBFS, however quiet the line', () => {
    expect(feed(settled(-90), 1, -51, true)).toBe(false);
    expect(feed(settled(-90), 1, -49, true)).toBe(true);
  });

  it('stays shut for the first five frames of a line', () => {
    const gate = new LevelGate();
    expect(feed(gate, 5, -15, true)).toBe(false);
    expect(feed(gate, 1, -15, true)).toBe(true);
  });

  it('takes a steady noise that the detector mistakes for a voice as the floor from its first frame', () => {
    expect(feed(new LevelGate(), 300, -30, true)).toBe(false);
  });

  it('follows a new noise within seconds', () => {
    const gate = settled(-60);
    feed(gate, 250, -40, false);
    expect(feed(gate, 1, -35, true)).toBe(false);
    expect(feed(gate, 1, -32, true)).toBe(true);
  });

  it('hardly follows a long sentence', () => {
    const gate = settled(-50);
    expect(feed(gate, 500, -30, true)).toBe(true);
  });

  it('follows the line down within a few frames', () => {
    const gate = settled(-30);
    expect(feed(gate, 1, -40, true)).toBe(false);
    feed(gate, 20, -55, false);
    expect(feed(gate, 1, -40, true)).toBe(true);
  });

  it('forgets the line on reset', () => {
    const gate = settled(-60);
    feed(gate, 1, -30, true);
    gate.reset();
    expect(feed(gate, 5, -15, true)).toBe(false);
  });
});

describe('the mean square', () => {
  it('is the mean of the squares', () => {
    expect(meanSquare(Int16Array.of(3, -4, 0, 5))).toBe(12.5);
    expect(meanSquare(new Int16Array(160).fill(-32_768))).toBe(32_768 ** 2);
  });
});
