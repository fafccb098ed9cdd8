// Limits of an organization over several processes that hear of each other with beats alone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Admission, type OrganizationLimits } from '../../../src/session/admission.ts';
import { MAX_ORGANIZATIONS_SAID, type OrganizationUse, type ProcessUse } from '../../../src/session/others-use.ts';
import { CALM } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const BEAT_MS = 750;

class Process {
  readonly admission: Admission;
  readonly calls: string[] = [];

  constructor(perOrganization: OrganizationLimits, clock: FakeClock) {
    const off = { maxStreams: Infinity, maxLoopDelayMs: 0, maxRssBytes: 0, maxHeapPercent: 0 };
    const limits = { maxSessions: 1e6, perOrganization, organizations: new Map(), ...off };
    this.admission = new Admission({ limits, load: CALM, clock });
  }

  /** @returns whether the call is taken. */
  call(organizationId = 'a'): boolean {
    if (this.admission.refusal(organizationId) !== undefined) return false;
    this.admission.callBegan(organizationId);
    this.admission.sessionStarted(organizationId);
    this.calls.push(organizationId);
    return true;
  }

  end(): void {
    const organizationId = this.calls.pop();
    if (organizationId !== undefined) this.admission.sessionEnded(organizationId);
  }
}

/** Processes with one table, in which each is read as it was written last. */
function fleet(size: number, limits: Partial<OrganizationLimits>) {
  const clock = new FakeClock();
  const processes = Array.from({ length: size }, () => new Process({ maxSessions: 0, maxNewPerSecond: 0, ...limits }, clock));
  const table = new Map<number, ProcessUse>();
  const beat = (index: number, wasAway = false): void => {
    const process = processes[index];
    if (process === undefined) return;
    table.set(index, { id: String(index), organizations: process.admission.use });
    process.admission.hear(
      [...table].flatMap(([other, said]) => (other === index ? [] : [said])),
      wasAway,
    );
  };
  const beatAll = (): void => {
    for (const index of processes.keys()) beat(index);
  };
  return { clock, processes, beat, beatAll };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

describe('most calls of an organization, over several processes', () => {
  it('is counted together once they have heard of each other, and one more fits when one ends anywhere', () => {
    const { processes, beatAll } = fleet(3, { maxSessions: 5 });
    const [one, two, three] = processes;
    expect([one?.call(), one?.call(), two?.call(), three?.call()]).toEqual([true, true, true, true]);
    beatAll();
    beatAll();
    expect([two?.call(), two?.call()]).toEqual([true, false]);
    expect(one?.call('b')).toBe(true);
    beatAll();
    beatAll();
    expect(processes.map((process) => process.call())).toEqual([false, false, false]);
    one?.end();
    one?.end();
    beatAll();
    expect(three?.call()).toBe(true);
  });

  it('is exceeded by no more calls than began elsewhere since they were last heard of', () => {
    const act = fc.record({ at: fc.nat(2), what: fc.constantFrom('call', 'call', 'call', 'end', 'beat', 'beat') });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 200 }), fc.integer({ min: 1, max: 12 }), (acts, maxSessions) => {
        const { processes, beat } = fleet(3, { maxSessions });
        /** By reader and writer, the calls that began and of which the reader does not know: not written, or written and not read. */
        const unknown = processes.map(() => processes.map(() => ({ unsaid: 0, unread: 0 })));
        for (const { at, what } of acts) {
          const process = processes[at];
          if (what === 'end') process?.end();
          if (what === 'beat') {
            beat(at);
            for (const row of unknown) {
              const said = row[at];
              if (said !== undefined) Object.assign(said, { unread: said.unread + said.unsaid, unsaid: 0 });
            }
            for (const read of unknown[at] ?? []) read.unread = 0;
          }
          if (what !== 'call' || process?.call() !== true) continue;
          const begunElsewhere = sum((unknown[at] ?? []).map(({ unsaid, unread }, other) => (other === at ? 0 : unsaid + unread)));
          expect(sum(processes.map(({ calls }) => calls.length))).toBeLessThanOrEqual(maxSessions + begunElsewhere);
          for (const [reader, row] of unknown.entries()) {
            const written = row[at];
            if (reader !== at && written !== undefined) written.unsaid += 1;
          }
        }
      }),
    );
  });

  it('is counted as it was last heard for ten seconds without a word of the others, and alone after that', () => {
    const { processes, beatAll, beat, clock } = fleet(2, { maxSessions: 2 });
    const [one, two] = processes;
    two?.call();
    two?.call();
    beatAll();
    beat(0);
    clock.advance(10_000);
    expect(one?.call()).toBe(false);
    clock.advance(1);
    expect([one?.call(), one?.call(), one?.call()]).toEqual([true, true, false]);
  });

  it('forgets a process with its beat', () => {
    const { processes } = fleet(1, { maxSessions: 1 });
    const admission = processes[0]?.admission;
    admission?.hear([{ id: 'dead soon', organizations: [['a', 1, 0]] }], false);
    expect(processes[0]?.call()).toBe(false);
    admission?.hear([], false);
    expect(processes[0]?.call()).toBe(true);
  });
});

describe('most new calls of an organization in a second, over several processes', () => {
  it('holds over time, and at once for each of them', () => {
    const { processes, beatAll, clock } = fleet(4, { maxNewPerSecond: 2 });
    const flood = (): number => {
      let begun = 0;
      for (const process of processes) while (process.call()) begun += 1;
      return begun;
    };
    beatAll();
    beatAll();
    expect(flood()).toBe(4 * 10);
    let begun = 0;
    const seconds = 120;
    for (let beat = 0; beat < (seconds * 1000) / BEAT_MS; beat += 1) {
      clock.advance(BEAT_MS);
      beatAll();
      begun += flood();
    }
    // What was too much at the beginning is paid back before anything more is taken.
    expect(begun).toBeLessThanOrEqual(2 * seconds);
    expect(begun).toBeGreaterThan(2 * seconds - 45);
  });

  it('is not used up by calls from before a process knew the others, or while it heard nothing of them', () => {
    const { processes, beat, clock } = fleet(2, { maxNewPerSecond: 1 });
    const [one, two] = processes;
    for (let call = 0; call < 5; call += 1) two?.call();
    beat(1);
    beat(0);
    expect(one?.call()).toBe(true);
    clock.advance(60_000);
    for (let call = 0; call < 5; call += 1) two?.call();
    beat(1);
    beat(0, true);
    expect([one?.call(), one?.call(), one?.call(), one?.call(), one?.call(), one?.call()]).toEqual([true, true, true, true, true, false]);
  });

  it('is charged once for a call, and for a counter that has begun again', () => {
    const { processes, clock } = fleet(1, { maxNewPerSecond: 1 });
    const [one] = processes;
    const hear = (begun: number): void => one?.admission.hear([{ id: 'other', organizations: [['a', 0, begun]] }], false);
    for (const begun of [100, 102, 102, 1]) hear(begun);
    expect([one?.call(), one?.call(), one?.call()]).toEqual([true, true, false]);
    // However many are said to have begun, the organization waits for one bucket.
    hear(1_000_000);
    clock.advance(4000);
    expect(one?.call()).toBe(false);
    clock.advance(2000);
    expect(one?.call()).toBe(true);
  });
});

describe('an organization that is not always among the busiest of another process', () => {
  it.each([
    ['is charged what began since it was said last', [100], 4],
    ['is charged all of its counter when the process has begun it again', [99], 0],
    ['is charged all of its counter once it is long forgotten', Array.from({ length: 11 }, () => 100), 0],
  ])('%s', (_, saidOfOthers, left) => {
    const { processes } = fleet(1, { maxNewPerSecond: 1 });
    const [one] = processes;
    const hear = (organizations: readonly OrganizationUse[]): void => one?.admission.hear([{ id: 'other', organizations }], false);
    hear([['a', 0, 100]]);
    for (const [nth, size] of saidOfOthers.entries()) {
      hear(Array.from({ length: size }, (__, other) => [`${String(nth)} ${String(other)}`, 0, 1]));
    }
    hear([['a', 0, 101]]);
    let taken = 0;
    while (one?.call() === true) taken += 1;
    expect(taken).toBe(left);
  });
});

describe('what a process says of its organizations', () => {
  it('is how many calls they have, and how many began', () => {
    const [process] = fleet(1, { maxNewPerSecond: 100 }).processes;
    process?.call();
    process?.call();
    process?.call('b');
    process?.end();
    expect(process?.admission.use).toEqual([
      ['a', 2, 2],
      ['b', 0, 1],
    ]);
  });

  it('is about the busiest ones alone', () => {
    const [process] = fleet(1, {}).processes;
    for (let organization = 0; organization < 500; organization += 1) {
      for (let call = 0; call <= organization % 7; call += 1) process?.call(String(organization));
    }
    const said = process?.admission.use ?? [];
    expect(said).toHaveLength(MAX_ORGANIZATIONS_SAID);
    expect(Math.min(...said.map(([, calls]) => calls))).toBe(6);
  });
});
