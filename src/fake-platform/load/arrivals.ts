// When calls are due and which scenario each one runs. Both are decided before any call is placed: an open model, in which a slow server
// does not slow its callers down. Pure: knows no clock and no call.
import { seededNumbers } from '../../base/seeded-numbers.ts';

/** A part of the run in which the rate of arrivals changes linearly. Rates are calls per second. */
export interface LoadPhase {
  readonly durationMs: number;
  readonly fromPerSecond: number;
  readonly toPerSecond: number;
}

/** How arrivals are spread: `poisson` as from independent callers, `fixed` evenly. */
export type ArrivalKind = 'poisson' | 'fixed';

/** Everything that determines the arrivals of a run. */
export interface ArrivalPlan {
  readonly kind: ArrivalKind;
  readonly phases: readonly LoadPhase[];
  readonly seed: number;
  /** Relative frequency of each scenario. */
  readonly weights: readonly number[];
}

export interface Arrival {
  /** Number of the arrival, from 0. */
  readonly number: number;
  /** When the call is due, ms since the run began. */
  readonly dueMs: number;
  /** Index of the call's scenario in `weights`. */
  readonly scenario: number;
}

/**
 * All arrivals of a plan in order. Each is due when the expected number of arrivals has grown by one step. `fixed` has even steps;
 * `poisson` has exponentially distributed steps, which make a Poisson process even when the rate changes.
 */
export function* arrivalsOf({ kind, phases, seed, weights }: ArrivalPlan): Generator<Arrival, undefined> {
  const draw = seededNumbers(seed);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let phaseStartMs = 0;
  let expectedBefore = 0;
  let number = 0;
  let expected = 0;
  const step = (): number => (kind === 'fixed' ? 1 : -Math.log(1 - draw()));
  // The first even arrival comes after half a step: each arrival is then in the middle of its share of the time.
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

/** The rate at a time of the run, calls per second; 0 after the end. */
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

// Time after which this number of calls of a phase has arrived, ms since the phase began: the positive root of from·t + slope/2·t² = calls.
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
