// File descriptors: what the kernel says, and from when on they are kept for what runs already.
import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Descriptors } from '../../../src/base/descriptors.ts';

const ofMany = (limit: number | undefined, used: number): Descriptors => new Descriptors({ limit: () => limit, used: () => used });

describe('file descriptors', () => {
  it('are short when no more than the reserve is left, and ample when twice as many are', () => {
    const { reserved } = ofMany(1000, 0);
    expect(reserved).toBe(50);
    expect([ofMany(1000, 950).isShort, ofMany(1000, 951).isShort]).toEqual([false, true]);
    expect([ofMany(1000, 900).isAmple, ofMany(1000, 901).isAmple]).toEqual([true, false]);
  });

  it('keep a reserve that is neither too small for a few files nor larger than anything needs', () => {
    expect([64, 1024, 1_000_000].map((limit) => ofMany(limit, 0).reserved)).toEqual([16, 51, 256]);
  });

  it('are never short where the system does not say how many there may be', () => {
    expect(ofMany(undefined, 1e6)).toMatchObject({ isShort: false, isAmple: true });
  });

  it('are counted as the kernel does', () => {
    const own = new Descriptors();
    const before = own.used;
    const opened = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'));
    expect(own.used).toBeGreaterThanOrEqual(before + 15);
    for (const each of opened) closeSync(each);
    expect(own.limit).toBeGreaterThan(before);
  });
});
