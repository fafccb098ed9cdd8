// File descriptors: what the kernel says, and from when on they are kept for what runs already.
import { closeSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Descriptors, descriptorSource } from '../../../src/base/descriptors.ts';

const ofMany = (limit: number | undefined, used: number): Descriptors =>
  new Descriptors({ limit: () => limit, used: () => used, counted: () => used });

/** A failure of the system. */
const failing = (code: string) => (): never => {
  throw Object.assign(new Error(code), { code });
};

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

  it('on a kernel that does not count them are as many as are open without a gap, and ample only when all were counted', () => {
    const source = descriptorSource({ size: () => 0, next: () => 17, count: () => 960 });
    const descriptors = new Descriptors({ ...source, limit: () => 1000 });
    expect(descriptors).toMatchObject({ used: 17, isShort: false, isAmple: false });
  });

  it.each(['EMFILE', 'ENFILE'])('are short where the system has none left for looking (%s)', (code) => {
    const source = descriptorSource({ size: () => 0, next: failing(code), count: failing(code) });
    expect(new Descriptors({ ...source, limit: () => 1000 })).toMatchObject({ isShort: true, isAmple: false });
  });

  it.each(['EACCES', 'ENOENT'])('are not short for any other failure of looking (%s)', (code) => {
    for (const source of [
      descriptorSource({ size: () => 0, next: failing(code), count: failing(code) }),
      descriptorSource({ size: failing(code), next: () => 17, count: () => 17 }),
    ]) {
      expect(new Descriptors({ ...source, limit: () => 1000 })).toMatchObject({ isShort: false, isAmple: true });
    }
  });

  it('are counted as the kernel does', () => {
    const own = new Descriptors();
    const before = own.used;
    const opened = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'));
    expect(own.used).toBeGreaterThanOrEqual(before + 15);
    for (const each of opened) closeSync(each);
    expect(own.limit).toBeGreaterThan(before);
  });

  it('are counted one by one where the kernel does not count them', () => {
    const source = descriptorSource({ size: () => 0 });
    const before = source.counted();
    const opened = Array.from({ length: 20 }, () => openSync('/dev/null', 'r'));
    expect(source.counted()).toBe(before + 20);
    for (const each of opened) closeSync(each);
  });
});
