// When calls are due and which scenario each runs, decided before any call is placed: an open model, in which a slow
// server does not slow its callers down. Pure: knows no clock and no call.
import { seededNumbers } from '../../base/seeded-numbers.ts';

/** A time in which the rate of arrivals changes linearly. Rates are calls per second. */
export interface LoadPhase {
  readonly durationMs: number;
  readonly fromPerSecond: number;
  readonly toPerSecond: number;
}

/** How arrivals are spread: `poisson` like independent callers, `fixed` evenly. */
export type ArrivalKind = 'poisson' | 'fixed';

/** Everything that determines the arrivals of a run. */
export interface ArrivalPlan {
  readonly kind: ArrivalKind;
  readonly phases: readonly LoadPhase[];
  readonly seed: number;
  /** How often each scenario runs in proportion to the others. */
  readonly weights: readonly number[];
}

export interface Arrival {
  /** Counted from 0. */
  readonly number: number;
  /** ms since the run began. */
  readonly dueMs: number;
  /** The index of its scenario in the weights. */
  readonly scenario: number;
}

/**
 * All arrivals of a plan in order. Both kinds follow the expected number of arrivals up to each time: in even steps, or in
 * exponentially distributed steps, which makes a Poisson process for any changing rate.
 */
export function* arrivalsOf({ kind, phases, seed, weights }: ArrivalPlan): Generator<Arrival, undefined> {
  const draw = seededNumbers(seed);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let phaseStartMs = 0;
  let expectedBefore = 0;
  let number = 0;
  let expected = 0;
  const step = (): number => (kind === 'fixed' ? 1 : -Math.log(1 - draw()));
  // Half a step before the first even arrival, so that each is in the middle of its share of time.
  expected += kind === 'fixed' ? 0.5 : step();
  for (const phase of phases) {
    const inPhase = expectedCalls(phase);
    while (expected < expectedBefore + inPhase) {
      const dueMs = phaseStartMs + timeOf(expected - expectedBefore, phase);
      yield { number, dueMs, scenario: pick(weights, draw() * total) };
      number += 1;
      expected += step();
    }
    expectedBefore += inPhase;
    phaseStartMs += phase.durationMs;
  }
  return undefined;
}

export function expectedCalls({ durationMs, fromPerSecond, toPerSecond }: LoadPhase): number {
  return (((fromPerSecond + toPerSecond) / 2) * durationMs) / 1000;
}

/** The rate at a time, calls per second; 0 after the end. */
export function rateAt(phases: readonly LoadPhase[], atMs: number): number {
  let startMs = 0;
  for (const { durationMs, fromPerSecond, toPerSecond } of phases) {
    if (atMs < startMs + durationMs) return fromPerSecond + ((toPerSecond - fromPerSecond) * (atMs - startMs)) / durationMs;
    startMs += durationMs;
  }
  return 0;
}

/** Length of all phases, ms. */
export function lengthOf(phases: readonly LoadPhase[]): number {
  return phases.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

// When this number of calls of a phase has arrived, ms since its start: the positive root of from·t + slope/2·t² = calls.
function timeOf(calls: number, { durationMs, fromPerSecond, toPerSecond }: LoadPhase): number {
  const from = fromPerSecond / 1000;
  const slope = (toPerSecond - fromPerSecond) / 1000 / durationMs;
  return (2 * calls) / (from + Math.sqrt(Math.max(0, from * from + 2 * slope * calls)));
}

function pick(weights: readonly number[], drawn: number): number {
  let upTo = 0;
  const index = weights.findIndex((weight) => (upTo += weight) > drawn);
  return Math.max(0, index);
}
