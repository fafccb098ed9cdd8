import { executionAsyncId } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { keepTicksFast } from '../../../src/base/fast-ticks.ts';

describe('fast ticks', () => {
  it('keep one tick, again and again', () => {
    expect([keepTicksFast(), keepTicksFast()]).toEqual([true, true]);
  });

  it('leave no hook behind, which would make every promise dearer', async () => {
    const idOfPromise = async (): Promise<number> => {
      await Promise.resolve();
      return executionAsyncId();
    };
    // Promises have ids of their own only while somebody asks for them.
    const before = await idOfPromise();
    keepTicksFast();
    expect(await idOfPromise()).toBe(before);
  });
});
