// The last places of a process: against a reference that deals places out, and in traffic in which one organization floods.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededNumbers } from '../../../src/base/seeded-numbers.ts';
import { Admission, type OrganizationLimits } from '../../../src/session/admission.ts';
import { FairShare } from '../../../src/session/fair-share.ts';
import { CALM } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const FREE = { maxSessions: 0, maxNewPerSecond: 0 };

function admissionOf(maxSessions: number, reservedPercent: number, weights: Readonly<Record<string, number>> = {}) {
  const clock = new FakeClock();
  const organizations = new Map(Object.entries(weights).map(([id, weight]): [string, OrganizationLimits] => [id, { ...FREE, weight }]));
  const limits = { maxSessions, reservedPercent, perOrganization: FREE, organizations, maxStreams: Infinity };
  const off = { maxLoopDelayMs: 0, maxRssBytes: 0, maxHeapPercent: 0 };
  return { admission: new Admission({ limits: { ...limits, ...off }, load: CALM, clock }), clock };
}

/** Lets an organization take as many places as it gets. */
function fill(admission: Admission, organizationId: string, most = Infinity): number {
  let taken = 0;
  for (; taken < most && admission.refusal(organizationId) === undefined; taken += 1) admission.sessionStarted(organizationId);
  return taken;
}

/** Deals places out until none is left or nobody wants one: each round as much by weight as the one that wants least needs. */
function dealt(places: number, wants: ReadonlyMap<string, number>, weightOf: (id: string) => number): ReadonlyMap<string, number> {
  const got = new Map([...wants.keys()].map((id) => [id, 0]));
  let left = places;
  for (;;) {
    const hungry = [...wants].filter(([id, want]) => want - (got.get(id) ?? 0) > 1e-9);
    if (hungry.length === 0 || left <= 1e-9) return got;
    const weights = hungry.reduce((sum, [id]) => sum + weightOf(id), 0);
    const round = Math.min(left / weights, ...hungry.map(([id, want]) => (want - (got.get(id) ?? 0)) / weightOf(id)));
    for (const [id] of hungry) got.set(id, (got.get(id) ?? 0) + round * weightOf(id));
    left -= round * weights;
  }
}

describe('the last places of a process', () => {
  it('are for everybody while one organization calls alone', () => {
    const { admission } = admissionOf(100, 10);
    expect(fill(admission, 'alone')).toBe(100);
    expect(admission.refusal('alone')).toBe('total');
  });

  it('are for those below their share as soon as another one has called, and for ten minutes', () => {
    const { admission, clock } = admissionOf(100, 10);
    fill(admission, 'flood');
    expect(admission.refusal('late')).toBe('total');
    admission.sessionEnded('flood');
    expect(admission.refusal('flood')).toBe('organization_share');
    expect(fill(admission, 'late')).toBe(1);
    clock.advance(600_000);
    admission.sessionEnded('flood');
    expect(fill(admission, 'flood')).toBe(1);
  });

  it('go to whoever has less, up to the same for all, and then to newcomers', () => {
    const { admission } = admissionOf(100, 10);
    admission.refusal('small');
    expect(fill(admission, 'big')).toBe(90);
    expect(fill(admission, 'small', 5)).toBe(5);
    for (let ended = 0; ended < 50; ended += 1) admission.sessionEnded('big');
    expect([fill(admission, 'small'), fill(admission, 'big')]).toEqual([40, 5]);
    // The rest waits for others.
    expect([fill(admission, 'newcomer'), admission.refusal('newcomer')]).toEqual([10, 'total']);
  });

  it('are not taken by another one within seconds after calls have ended, and then they are', () => {
    const { admission, clock } = admissionOf(100, 10);
    fill(admission, 'steady', 30);
    clock.advance(60_000);
    expect(fill(admission, 'flood')).toBe(60);
    for (let ended = 0; ended < 30; ended += 1) admission.sessionEnded('steady');
    clock.advance(9999);
    expect(admission.refusal('flood')).toBe('organization_share');
    expect(fill(admission, 'steady', 20)).toBe(20);
    clock.advance(5000);
    expect(admission.refusal('flood')).toBe('organization_share');
    clock.advance(10_000);
    expect(fill(admission, 'flood')).toBe(10);
  });

  it('are dealt out by weight', () => {
    const { admission } = admissionOf(100, 10, { heavy: 4 });
    admission.refusal('light');
    fill(admission, 'heavy', 72);
    // 72 and 18 are the shares of 90 places.
    expect(fill(admission, 'light')).toBe(18);
    expect(admission.refusal('heavy')).toBe('organization_share');
    expect(fill(admission, 'third', 3)).toBe(3);
  });

  it('are not kept by a small process, or when that is switched off', () => {
    for (const { admission } of [admissionOf(9, 10), admissionOf(1000, 0)]) {
      admission.refusal('other');
      fill(admission, 'one');
      expect(admission.refusal('one')).toBe('total');
    }
  });

  it('go exactly to those whom a dealer of the other places could satisfy', () => {
    const ids = ['a', 'b', 'c', 'd'];
    const random = fc.record({
      calls: fc.tuple(...ids.map(() => fc.nat(40))),
      weights: fc.tuple(...ids.map(() => fc.integer({ min: 1, max: 5 }))),
      maxSessions: fc.integer({ min: 10, max: 120 }),
    });
    fc.assert(
      fc.property(random, ({ calls, weights, maxSessions }) => {
        const weightOf = (id: string): number => weights[ids.indexOf(id)] ?? 1;
        const share = new FairShare({ maxSessions, reservedPercent: 10, weightOf, clock: new FakeClock() });
        for (const id of ids) share.called(id);
        const open = new Map(ids.map((id, index) => [id, calls[index] ?? 0]));
        for (const id of ids) share.took(id, open);
        const places = maxSessions - Math.floor(maxSessions / 10);
        for (const id of ids) {
          const wants = new Map(open).set(id, (open.get(id) ?? 0) + 1);
          const isSatisfied = (dealt(places, wants, weightOf).get(id) ?? 0) > (wants.get(id) ?? 0) - 1e-6;
          expect(share.isOver(id, open), id).toBe(!isSatisfied);
        }
      }),
    );
  });
});

describe('with hundreds of organizations that make short calls', () => {
  it('nobody is refused for its share while places for everybody are left', () => {
    const { admission, clock } = admissionOf(100, 10);
    const random = seededNumbers(1);
    const open: { readonly endMs: number; readonly id: string }[] = [];
    const openAtRefusal: number[] = [];
    let taken = 0;
    for (let elapsedMs = 0; elapsedMs < 600_000; elapsedMs += 125) {
      clock.advance(125);
      for (; (open[0]?.endMs ?? Infinity) <= elapsedMs; open.shift()) admission.sessionEnded(open[0]?.id ?? '');
      const id = String(Math.floor(random() * 300));
      if (admission.refusal(id) === undefined) {
        admission.sessionStarted(id);
        open.push({ endMs: elapsedMs + 5000, id });
        taken += 1;
      } else openAtRefusal.push(admission.sessions);
    }
    expect([openAtRefusal, taken]).toEqual([[], 4800]);
  });
});

describe('when one organization calls ten times as often as it should', () => {
  const PLACES = 100;
  const CALL_S = 60;
  /** Calls that each wants at once: two as usual, and the flood. A third of the shared places is 30. */
  const WANTED = { flood: 300, one: 22, other: 22 };

  /** An hour of calls that begin at random; the flood alone for the first ten minutes. @returns what became of the calls of the others. */
  function hour(reservedPercent: number, seed: number) {
    const { admission, clock } = admissionOf(PLACES, reservedPercent);
    const random = seededNumbers(seed);
    const open: string[] = [];
    const seen = { taken: 0, refused: 0, callSeconds: 0, most: 0 };
    for (let second = 0; second < 3600; second += 1) {
      clock.advance(1000);
      for (let at = open.length - 1; at >= 0; at -= 1) {
        if (random() < 1 / CALL_S) admission.sessionEnded(open.splice(at, 1)[0] ?? '');
      }
      for (const [id, wanted] of Object.entries(WANTED)) {
        if (id !== 'flood' && second < 600) continue;
        for (let due = wanted / CALL_S; due > 0; due -= 1) {
          if (random() >= due) continue;
          const isTaken = admission.refusal(id) === undefined;
          if (isTaken) {
            admission.sessionStarted(id);
            open.push(id);
          }
          // The calls of the flood have to end first.
          if (id !== 'flood' && second > 900) seen[isTaken ? 'taken' : 'refused'] += 1;
        }
      }
      seen.most = Math.max(seen.most, admission.sessions);
      if (second > 900) seen.callSeconds += open.filter((id) => id !== 'flood').length;
    }
    return { ...seen, meanCalls: seen.callSeconds / (3600 - 901) };
  }

  it('the others get all that they want, because that is less than their share', () => {
    for (const seed of [1, 2, 3]) {
      const { taken, refused, meanCalls, most } = hour(10, seed);
      expect(refused / (taken + refused)).toBeLessThan(0.01);
      expect(meanCalls).toBeGreaterThan(0.85 * (WANTED.one + WANTED.other));
      expect(most).toBeLessThanOrEqual(PLACES);
    }
  });

  it('and would be starved if no places were kept', () => {
    const { taken, refused } = hour(0, 1);
    expect(refused / (taken + refused)).toBeGreaterThan(0.5);
  });
});
