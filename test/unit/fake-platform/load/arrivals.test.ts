// When calls are due: spread, rates and seeds, against what such processes must come to.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrivalsOf, expectedCalls, lengthOf, rateAt, type Arrival, type LoadPhase } from '../../../../src/fake-platform/load/arrivals.ts';
import { levelsOf, parseCalls, parseDuration, parseRate, parseSteps, phasesOf } from '../../../../src/fake-platform/load/load-shape.ts';

const steady = (perSecond: number, durationMs: number): LoadPhase => ({ durationMs, fromPerSecond: perSecond, toPerSecond: perSecond });
const gapsOf = (arrivals: readonly Arrival[]): readonly number[] =>
  arrivals.slice(1).map(({ dueMs }, index) => dueMs - (arrivals[index]?.dueMs ?? 0));
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('arrivals', () => {
  it('come evenly at a fixed rate, the first in the middle of its share', () => {
    const due = [...arrivalsOf({ kind: 'fixed', phases: [steady(4, 2000)], seed: 1, weights: [1] })].map(({ dueMs }) => dueMs);
    expect(due).toEqual([125, 375, 625, 875, 1125, 1375, 1625, 1875]);
  });

  it('come as those of independent callers with Poisson: gaps of mean and spread 1/rate', () => {
    const gaps = gapsOf([...arrivalsOf({ kind: 'poisson', phases: [steady(50, 400_000)], seed: 7, weights: [1] })]);
    const middle = mean(gaps);
    const deviation = Math.sqrt(mean(gaps.map((gap) => (gap - middle) ** 2)));
    expect(gaps.length).toBeGreaterThan(19_500);
    expect(gaps.length).toBeLessThan(20_500);
    expect(middle).toBeCloseTo(20, 0);
    expect(deviation).toBeGreaterThan(19.3);
    expect(deviation).toBeLessThan(20.7);
    // Memoryless: of the gaps longer than the mean, as many are twice as long as of all are longer than it.
    const longer = gaps.filter((gap) => gap > 20);
    expect(longer.length / gaps.length).toBeCloseTo(Math.exp(-1), 1);
    expect(longer.filter((gap) => gap > 40).length / longer.length).toBeCloseTo(Math.exp(-1), 1);
  });

  it('are the same for the same seed and others for another', () => {
    const draw = (seed: number) => [...arrivalsOf({ kind: 'poisson', phases: [steady(10, 5000)], seed, weights: [1, 2] })];
    expect(draw(3)).toEqual(draw(3));
    expect(draw(3)).not.toEqual(draw(4));
  });

  it('follow a ramp: a quarter of its calls come in its first half', () => {
    const ramp = { durationMs: 10_000, fromPerSecond: 0, toPerSecond: 100 };
    const due = [...arrivalsOf({ kind: 'fixed', phases: [ramp], seed: 1, weights: [1] })].map(({ dueMs }) => dueMs);
    expect(due).toHaveLength(500);
    expect(due.filter((ms) => ms < 5000)).toHaveLength(125);
  });

  it('play the scenarios by their weights', () => {
    const drawn = [...arrivalsOf({ kind: 'fixed', phases: [steady(100, 100_000)], seed: 5, weights: [3, 0, 1] })];
    const share = (scenario: number) => drawn.filter((arrival) => arrival.scenario === scenario).length / drawn.length;
    expect(share(0)).toBeCloseTo(0.75, 1);
    expect(share(1)).toBe(0);
    expect(share(2)).toBeCloseTo(0.25, 1);
  });

  it('stay in order, within the run and near the number expected, whatever the phases', () => {
    const phase = fc.record({
      durationMs: fc.integer({ min: 1, max: 5000 }),
      fromPerSecond: fc.integer({ min: 0, max: 100 }),
      toPerSecond: fc.integer({ min: 0, max: 100 }),
    });
    fc.assert(
      fc.property(fc.array(phase, { maxLength: 4 }), fc.constantFrom('poisson', 'fixed'), fc.integer(), (phases, kind, seed) => {
        const arrivals = [...arrivalsOf({ kind, phases, seed, weights: [1] })];
        expect(gapsOf(arrivals).every((gap) => gap >= -1e-6)).toBe(true);
        expect(
          arrivals.every(({ dueMs }, number) => dueMs >= 0 && dueMs <= lengthOf(phases) + 1e-6 && number === arrivals[number]?.number),
        ).toBe(true);
        const expected = phases.reduce((sum, each) => sum + expectedCalls(each), 0);
        if (kind === 'fixed') expect(Math.abs(arrivals.length - expected)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the shape of a load', () => {
  const TWO_LEVELS = {
    rampMs: 1000,
    stages: [
      { level: { kind: 'calls', calls: 200 }, durationMs: 5000 },
      { level: { kind: 'rate', perSecond: 2 }, durationMs: 3000 },
    ],
  } as const;

  it('lets each level count once it is reached, and holds it so long then', () => {
    const shape = { ...TWO_LEVELS, fillMs: 4000 };
    expect(levelsOf(shape)).toEqual([
      { name: '200 calls', fromMs: 5000, toMs: 10_000 },
      { name: '2.00/s', fromMs: 11_000, toMs: 14_000 },
    ]);
    expect(lengthOf(phasesOf(shape, 20_000))).toBe(14_000);
  });

  it('turns calls at once into a rate through their mean length, and ramps between levels', () => {
    const phases = phasesOf({ ...TWO_LEVELS, fillMs: 0 }, 20_000);
    expect(phases).toEqual([
      { durationMs: 1000, fromPerSecond: 0, toPerSecond: 10 },
      { durationMs: 5000, fromPerSecond: 10, toPerSecond: 10 },
      { durationMs: 1000, fromPerSecond: 10, toPerSecond: 2 },
      { durationMs: 3000, fromPerSecond: 2, toPerSecond: 2 },
    ]);
    expect([0, 500, 3000, 6500, 99_000].map((atMs) => rateAt(phases, atMs))).toEqual([0, 5, 10, 6, 0]);
  });

  it('reads times, rates and steps', () => {
    expect(['500ms', '30s', '1.5m', '1h'].map(parseDuration)).toEqual([500, 30_000, 90_000, 3_600_000]);
    expect(['5/s', '90/m', '2.5'].map(parseRate)).toEqual([5, 1.5, 2.5]);
    expect(parseSteps('50,100:2m,5/s:30s', 1000)).toEqual([
      { level: { kind: 'calls', calls: 50 }, durationMs: 1000 },
      { level: { kind: 'calls', calls: 100 }, durationMs: 120_000 },
      { level: { kind: 'rate', perSecond: 5 }, durationMs: 30_000 },
    ]);
  });

  it.each([
    [() => parseDuration('soon'), 'is no time'],
    [() => parseDuration('9999h'), 'is no time'],
    [() => parseRate('0/s'), 'is no rate'],
    [() => parseRate('fast'), 'is no rate'],
    [() => parseCalls('1.5'), 'is no number of calls'],
    [() => parseSteps('50:1m:2', 1), 'is no step'],
    [() => parseSteps('50,', 1), 'is no number of calls'],
  ])('refuses what it cannot read: %s', (read, message) => {
    expect(read).toThrow(message);
  });
});
