// The queue of a session: one piece of work after the other, and how many are waiting.
import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../../src/session/answer/work-queue.ts';

describe('a work queue', () => {
  it('counts the work that is not done, the present piece and failed ones included', async () => {
    const failed: unknown[] = [];
    const queue = new WorkQueue((error) => failed.push(error));
    const sizes: number[] = [];
    const error = new Error('no');
    for (const work of [() => Promise.resolve(), () => Promise.reject(error)]) {
      queue.add(() => {
        sizes.push(queue.size);
        return work();
      });
    }
    expect(queue.size).toBe(2);
    await queue.done();
    expect([sizes, queue.size, failed]).toEqual([[2, 1], 0, [error]]);
  });

  it('goes on when not even a failure can be told', async () => {
    const queue = new WorkQueue(() => {
      throw new Error('nobody can be told');
    });
    queue.add(() => Promise.reject(new Error('no')));
    let isReached = false;
    queue.add(() => {
      isReached = true;
      return Promise.resolve();
    });
    await queue.done();
    expect([isReached, queue.size]).toEqual([true, 0]);
  });
});
