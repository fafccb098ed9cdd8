import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FRAME_SAMPLES } from '../../../src/speech/audio-format.ts';
import { FrameLoop, Tape } from '../../../src/speech/tape.ts';

const frame = (value: number): Uint8Array => new Uint8Array(FRAME_SAMPLES).fill(value);
/** The value of each frame on the tape, first to last. */
const frames = (bytes: Uint8Array): number[] =>
  Array.from({ length: bytes.length / FRAME_SAMPLES }, (_, n) => bytes[n * FRAME_SAMPLES] ?? -1);

describe('the loop of last frames', () => {
  it('returns the last frames it was asked for, oldest first, and forgets all', () => {
    const loop = new FrameLoop(4);
    for (const value of [1, 2, 3, 4, 5, 6]) loop.push(frame(value));
    const tape = new Tape(10_000);
    loop.spill(3, tape);
    loop.spill(3, tape);
    expect(frames(tape.take(10_000))).toEqual([4, 5, 6]);
  });

  it('keeps what a list of the last frames would keep, however often it goes round', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 }),
        fc.nat(10),
        (capacity, values, wanted) => {
          const loop = new FrameLoop(capacity);
          for (const value of values) loop.push(frame(value));
          const tape = new Tape(100_000);
          loop.spill(wanted, tape);
          const kept = Math.min(wanted, capacity, values.length);
          expect(frames(tape.take(100_000))).toEqual(values.slice(values.length - kept));
        },
      ),
    );
  });

  it('keeps nothing when it has no room', () => {
    const loop = new FrameLoop(0);
    loop.push(frame(1));
    const tape = new Tape(1000);
    loop.spill(5, tape);
    expect(tape.length).toBe(0);
  });
});

describe('the tape', () => {
  it('keeps bytes in order over any number of growths', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 6 }), (sizes) => {
        const tape = new Tape(1_000_000);
        const parts = sizes.map((size, index) => new Uint8Array(size).fill(index + 1));
        for (const part of parts) tape.append(part);
        expect(Buffer.compare(tape.take(1_000_000), Buffer.concat(parts))).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('drops what goes beyond its limit', () => {
    const tape = new Tape(5);
    tape.append(Uint8Array.of(1, 2, 3));
    tape.append(Uint8Array.of(4, 5, 6, 7));
    tape.append(Uint8Array.of(8));
    expect(tape.length).toBe(5);
    expect([...tape.take(100)]).toEqual([1, 2, 3, 4, 5]);
  });

  it('returns a copy that is as long as asked for, and is empty then', () => {
    const tape = new Tape(100);
    tape.append(Uint8Array.of(1, 2, 3));
    const taken = tape.take(2);
    expect([...taken]).toEqual([1, 2]);
    expect(taken.buffer.byteLength).toBe(2);
    expect(tape.length).toBe(0);
    tape.append(Uint8Array.of(9));
    expect([...taken]).toEqual([1, 2]);
    expect([...tape.take(-1)]).toEqual([]);
  });
});
