// The search for the capacity, against servers that are a formula with noise.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCapacity, type Trial } from '../../../../src/fake-platform/load/capacity.ts';
import { seededNumbers } from '../../../../src/base/seeded-numbers.ts';

const OPTIONS = { start: 10, max: 5000, precision: 0.05 };

/** A server that holds so many calls, give or take a part by chance. */
function server(capacity: number, noise = 0, seed = 1): (calls: number) => Promise<Trial> {
  const draw = seededNumbers(seed);
  return (calls) => Promise.resolve({ holds: calls <= capacity * (1 + noise * (2 * draw() - 1)), isSaturated: false });
}

describe('the search for the capacity', () => {
  it('finds what a steady server holds within the precision, in few tries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4900 }), async (capacity) => {
        const { calls, failedAt, limit, tried } = await findCapacity(server(capacity), OPTIONS);
        expect(calls).toBeLessThanOrEqual(capacity);
        expect(failedAt).toBeGreaterThan(capacity);
        expect(capacity - calls).toBeLessThanOrEqual(Math.max(1, 0.05 * capacity));
        expect(limit).toBe('server');
        expect(tried.length).toBeLessThanOrEqual(25);
        // The border was looked at twice on both sides.
        for (const border of [calls, failedAt])
          expect(tried.filter((each) => each.calls === border).length).toBeGreaterThanOrEqual(border === 0 ? 0 : 2);
      }),
      { numRuns: 60 },
    );
  });

  it('finds the same within 10 % when chance moves the border by 3 %', async () => {
    const found: number[] = [];
    for (let seed = 1; seed <= 40; seed += 1) found.push((await findCapacity(server(420, 0.03, seed), OPTIONS)).calls);
    expect(Math.max(...found) / Math.min(...found)).toBeLessThan(1.1);
  });

  it('finds the same when exactly one try fails by chance, whichever', async () => {
    for (const capacity of [7, 45, 90, 160, 319, 2000, 9999]) {
      for (let unlucky = 1; unlucky <= 20; unlucky += 1) {
        let tries = 0;
        const { calls, failedAt, limit } = await findCapacity((tried) => {
          tries += 1;
          return Promise.resolve({ holds: tried <= capacity && tries !== unlucky, isSaturated: false });
        }, OPTIONS);
        const what = `${String(capacity)}, try ${String(unlucky)}`;
        const reached = Math.min(capacity, OPTIONS.max);
        expect(calls, what).toBeLessThanOrEqual(reached);
        expect(calls, what).toBeGreaterThanOrEqual(reached - Math.max(1, 0.05 * reached));
        expect(limit, what).toBe(capacity > OPTIONS.max ? 'maximum' : 'server');
        if (capacity <= OPTIONS.max) expect(failedAt, what).toBeGreaterThan(capacity);
      }
    }
  });

  it('tries no more calls than it may', async () => {
    const draw = seededNumbers(3);
    const { tried } = await findCapacity(() => Promise.resolve({ holds: draw() < 0.7, isSaturated: false }), { ...OPTIONS, max: 100 });
    expect(Math.max(...tried.map(({ calls }) => calls))).toBeLessThanOrEqual(100);
  });

  it('ends, whatever the answers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.record({ holds: fc.boolean(), isSaturated: fc.boolean() })), async (answers) => {
        const { calls, failedAt, tried } = await findCapacity(() => Promise.resolve(answers.next().value), OPTIONS);
        expect(tried.length).toBeLessThanOrEqual(60);
        if (failedAt !== undefined) expect(failedAt).toBeGreaterThan(calls);
      }),
      { numRuns: 60 },
    );
  });

  it('makes no claim about the server where the load itself was too slow', async () => {
    const { calls, failedAt, limit } = await findCapacity(
      (tried) => Promise.resolve({ holds: tried <= 300, isSaturated: tried > 150 }),
      OPTIONS,
    );
    expect(limit).toBe('load');
    expect(calls).toBeLessThanOrEqual(150);
    expect(calls).toBeGreaterThan(140);
    expect(failedAt).toBeGreaterThan(150);
  });

  it('repeats a try in which the load was too slow by chance', async () => {
    let tries = 0;
    const { calls, limit } = await findCapacity((tried) => {
      tries += 1;
      return Promise.resolve({ holds: tried <= 300, isSaturated: tries % 3 === 0 });
    }, OPTIONS);
    expect(limit).toBe('server');
    expect(calls).toBeLessThanOrEqual(300);
    expect(calls).toBeGreaterThan(280);
  });

  it('says when more was not tried, and when nothing holds', async () => {
    expect(await findCapacity(server(10_000), { ...OPTIONS, max: 100 })).toMatchObject({
      calls: 100,
      failedAt: undefined,
      limit: 'maximum',
    });
    expect(await findCapacity(server(0), OPTIONS)).toMatchObject({ calls: 0, failedAt: 1, limit: 'server' });
  });

  it('ends with what a try throws', async () => {
    await expect(findCapacity(() => Promise.reject(new Error('gone')), OPTIONS)).rejects.toThrow('gone');
  });
});
