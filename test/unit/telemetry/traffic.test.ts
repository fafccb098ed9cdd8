import { describe, expect, it } from 'vitest';
import { quantile } from '../../../src/telemetry/quantiles.ts';
import { joinedTraffic, latencyIn, SLOT_MS, Traffic } from '../../../src/telemetry/traffic.ts';
import { callFacts, notifyAll } from '../../support/call-events.ts';
import { FakeClock } from '../../support/fake-clock.ts';

describe('the traffic of the last hour', () => {
  it('counts what happened in each half minute', () => {
    const clock = new FakeClock(10 * SLOT_MS);
    const traffic = new Traffic(clock);
    notifyAll(traffic, callFacts());
    clock.advance(2 * SLOT_MS);
    traffic.sessionStarted({});
    // Neither is a new call, nor one that ended.
    traffic.sessionStarted({}, true);
    traffic.sessionEnded({}, 'moved');
    expect(traffic.slots).toMatchObject([
      { atMs: 10 * SLOT_MS, started: 1, ended: 1, refused: 1, turns: 1, failed: 1 },
      { atMs: 12 * SLOT_MS, started: 1, ended: 0, refused: 0, turns: 0, failed: 0 },
    ]);
  });

  it('forgets what is more than an hour ago', () => {
    const clock = new FakeClock();
    const traffic = new Traffic(clock);
    traffic.turnEnded();
    clock.advance(3_600_000 - SLOT_MS);
    expect(traffic.slots).toHaveLength(1);
    clock.advance(SLOT_MS);
    expect(traffic.slots).toEqual([]);
    for (let slot = 0; slot < 500; slot += 1) {
      traffic.turnEnded();
      clock.advance(SLOT_MS);
    }
    expect(traffic.slots.length).toBeLessThanOrEqual(120);
  });

  it('is the sum of all processes, with the latency of all replies', () => {
    const clock = new FakeClock(0);
    const [one, other] = [new Traffic(clock), new Traffic(clock)];
    for (let reply = 0; reply < 98; reply += 1) one.replyStarted({}, 't', 40);
    other.replyStarted({}, 't', 400);
    other.replyStarted({}, 't', 99_000);
    clock.advance(SLOT_MS);
    other.callRefused();
    const joined = joinedTraffic([one.slots, other.slots]);
    expect(joined.map(({ atMs, refused }) => [atMs, refused])).toEqual([
      [0, 0],
      [SLOT_MS, 1],
    ]);
    const { count, p50Ms, p95Ms, p99Ms } = latencyIn(joined);
    expect(count).toBe(100);
    expect(p50Ms).toBeGreaterThan(25);
    expect(p95Ms).toBeLessThanOrEqual(50);
    expect(p99Ms).toBe(500);
    expect(latencyIn([])).toEqual({ count: 0 });
  });
});

describe('a quantile', () => {
  it.each([
    [0.5, [0, 0, 0], undefined],
    [0.5, [2, 0, 0], 5],
    [1, [2, 0, 0], 10],
    [0.5, [1, 1, 0], 10],
    [0.75, [1, 1, 0], 15],
    [0.99, [0, 0, 1], 20],
  ])('%s of %j is %s', (part, counts, expected) => {
    expect(quantile(part, [10, 20], counts)).toBe(expected);
  });
});
