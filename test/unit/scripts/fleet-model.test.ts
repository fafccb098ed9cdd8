// The fleet on paper of docs/capacity.md.
import { describe, expect, it } from 'vitest';
import { playFleet, steadyFleet, type FleetPlan } from '../../../scripts/bench/fleet-model.ts';

const HOUR_MS = 3_600_000;
const phase = (hours: number, from: number, to = from) => ({ durationMs: hours * HOUR_MS, fromPerSecond: from, toPerSecond: to });
/** 900 calls at once. */
const PLAN: FleetPlan = { phases: [phase(1, 5)], seed: 1, targetCalls: 300, msPerCall: 1.5, fullCalls: 500, startS: 60 };
const RUSH = [phase(0.5, 5), phase(1 / 60, 5, 15), phase(0.5, 15)];

describe('a fleet that is played', () => {
  it('is the same for the same seed, and another one for another', () => {
    expect(playFleet(PLAN)).toEqual(playFleet(PLAN));
    expect(playFleet({ ...PLAN, seed: 2 })).not.toEqual(playFleet(PLAN));
  });

  it('turns nobody away while calls arrive evenly, and has the servers that its target asks for', () => {
    const { calls, turnedAwayPercent, mostServers } = playFleet(PLAN);
    expect(Math.abs(calls - 18_000)).toBeLessThan(5 * Math.sqrt(18_000));
    expect(turnedAwayPercent).toBe(0);
    expect(mostServers).toBeGreaterThanOrEqual(3);
    expect(mostServers).toBeLessThanOrEqual(4);
  });

  it('turns more away in a rush the higher its target is and the later its servers are there', () => {
    const away = (more: Partial<FleetPlan>): number => playFleet({ ...PLAN, phases: RUSH, ...more }).turnedAwayPercent;
    expect(away({ targetCalls: 150 })).toBe(0);
    expect(away({ targetCalls: 400 })).toBeGreaterThan(away({ targetCalls: 300 }));
    expect(away({ startS: 240 })).toBeGreaterThan(away({ startS: 60 }));
  });

  it('adds servers for the CPU when calls are dearer than their target assumes', () => {
    // 60 % of a core is 200 of these calls.
    expect(playFleet({ ...PLAN, msPerCall: 3 }).mostServers).toBeGreaterThan(playFleet(PLAN).mostServers);
    expect(playFleet({ ...PLAN, msPerCall: 3, phases: [phase(1 / 60, 5)] }).mostServers).toBe(5);
  });

  it('cuts calls when it shrinks only where they cannot move, and fewer the longer it waits for them', () => {
    const phases = [phase(0.5, 10), phase(2, 1)];
    const cut = (drainS?: number): number => playFleet({ ...PLAN, phases, ...(drainS === undefined ? {} : { drainS }) }).cutPercent;
    expect(cut()).toBe(0);
    expect(cut(10)).toBeGreaterThan(cut(400));
    expect(cut(400)).toBeGreaterThan(0);
  });
});

it('a fleet that forwards holds as many calls fewer as forwarding costs, and asks Redis for each', () => {
  const costs = { homeMs: 1, forwardedMs: 1, scriptsPerSecond: 0.2, usPerScript: 50 };
  expect(steadyFleet(4, 0, 0.7, costs)).toMatchObject({ calls: 2800, scriptsPerSecond: 571 });
  expect(steadyFleet(4, 0.75, 0.7, costs).calls).toBe(1600);
});
