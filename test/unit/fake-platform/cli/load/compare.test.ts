// Two loads side by side: what got worse beyond noise is reported, and what only looks worse is not.
import { describe, expect, it } from 'vitest';
import type { LoadResult } from '../../../../../src/fake-platform/load/load-result.ts';
import { compareLoads, differenceRow, shareRange, worseThan } from '../../../../../src/fake-platform/cli/load/compare.ts';
import { madeUpResult, timesOf } from '../../../../support/load-result.ts';

const slowed = (by: number, count = 1000) => timesOf(Array.from({ length: count }, (_, index) => ((index % 100) + 1) * by));
const names = (differences: readonly { readonly name: string }[]) => differences.map(({ name }) => name);

describe('the comparison of two loads', () => {
  it('finds nothing between a run and itself', () => {
    const { differences, doubts } = compareLoads(madeUpResult(), madeUpResult());
    expect(differences.every(({ ratio, isWorse }) => ratio === 1 && !isWorse)).toBe(true);
    expect(doubts).toEqual([]);
  });

  it('finds what got worse by more than is granted', () => {
    const comparison = compareLoads(madeUpResult(), madeUpResult({ firstAudio: slowed(1.3) }));
    expect(names(worseThan(comparison, 10))).toEqual(['first audio p50', 'first audio p90', 'first audio p99']);
    expect(worseThan(comparison, 50)).toEqual([]);
    expect(comparison.differences.find(({ name }) => name === 'first audio p50')?.ratio).toBeCloseTo(1.3, 2);
    // The other way round it got better.
    expect(worseThan(compareLoads(madeUpResult({ firstAudio: slowed(1.3) }), madeUpResult()), 0)).toEqual([]);
  });

  it('takes what a few calls show for noise', () => {
    const [few, fewSlower] = [slowed(1, 20), slowed(1.3, 20)];
    expect(worseThan(compareLoads(madeUpResult({ firstAudio: few }), madeUpResult({ firstAudio: fewSlower })), 10)).toEqual([]);
  });

  it('finds more failures, and takes one of a thousand for noise', () => {
    const failing = (failed: number) => madeUpResult({ calls: { ...madeUpResult().calls, failed } });
    expect(names(worseThan(compareLoads(madeUpResult(), failing(20)), 10))).toEqual(['failed calls']);
    expect(worseThan(compareLoads(madeUpResult(), failing(1)), 10)).toEqual([]);
  });

  it('doubts what can hardly be compared', () => {
    const other = madeUpResult({
      saturated: true,
      scenarios: [{ name: 'keys', weight: 1, meanMs: 1 }],
      calls: { ...madeUpResult().calls, perSecond: 20 },
      machine: { node: 'v20', processor: 'Another', cores: 4 },
    });
    const { doubts } = compareLoads(madeUpResult(), other);
    expect(doubts.map((doubt) => doubt.split(' ').slice(0, 3).join(' '))).toEqual([
      'the second run',
      'other scenarios: speak:1',
      'other loads: 10.00',
      'the loads ran',
    ]);
  });

  it.each<[string, Partial<LoadResult>]>([
    ['refused calls', { calls: { ...madeUpResult().calls, refused: 50 } }],
    ['calls without a sound', { calls: { ...madeUpResult().calls, unheard: 50 } }],
    ['broken rules', { breaches: { 'G-13': 4000, 'G-14': 10 } }],
  ])('finds more %s', (name, more) => {
    expect(names(worseThan(compareLoads(madeUpResult(), madeUpResult(more)), 10))).toEqual([name]);
  });

  it('does not take a figure that is there no more for one that did not change', () => {
    const silent = madeUpResult({ speechReply: timesOf([]), sound: { compared: 0, wrong: 0, short: 0, unknown: 3000 } });
    const vanished = compareLoads(madeUpResult(), silent);
    expect(vanished.isVoid).toBe(true);
    const figures = ['to speech p50', 'to speech p90', 'to speech p99', 'to speech p99.9', 'wrong or short sound'];
    expect(vanished.doubts).toEqual([`only the first run has ${figures.join(', ')}`]);
    const row = vanished.differences.find(({ name }) => name === 'wrong or short sound');
    expect(row === undefined ? [] : differenceRow(row)).toEqual(['wrong or short sound', '0.00 %', '-', '-', '']);
    // New figures can only be shown.
    const appeared = compareLoads(madeUpResult({ server: null }), madeUpResult());
    expect(appeared).toMatchObject({ isVoid: false, doubts: ['only the second run has server CPU, server memory'] });
  });

  it('concludes nothing from a run in which no call was over, and doubts one that was broken off', () => {
    const none = madeUpResult({ calls: { ...madeUpResult().calls, finished: 0 } });
    expect(compareLoads(none, madeUpResult()).isVoid).toBe(true);
    const { isVoid, doubts } = compareLoads(madeUpResult(), madeUpResult({ interrupted: true }));
    expect([isVoid, doubts]).toEqual([false, ['the second run was broken off']]);
  });

  it('knows how sure a share is', () => {
    expect(shareRange(0, 0)).toEqual([0, 100]);
    const [low, high] = shareRange(0, 1000);
    expect([low, high].map((value) => Number(value.toFixed(2)))).toEqual([0, 0.38]);
    expect(shareRange(50, 100).map(Math.round)).toEqual([40, 60]);
  });
});
