// Workers as one: a run ends in bounded time whatever they do.
import { describe, expect, it } from 'vitest';
import { Fleet } from '../../../../src/fake-platform/load/fleet.ts';
import { Histogram } from '../../../../src/fake-platform/load/histogram.ts';
import { readLoadResult } from '../../../../src/fake-platform/load/load-result.ts';
import { runLoad, type LoadProgress } from '../../../../src/fake-platform/load/load-run.ts';
import type { PrepareOrder, WorkerOrder, WorkerReport } from '../../../../src/fake-platform/load/worker-messages.ts';
import type { LoadWorker } from '../../../../src/fake-platform/load/worker-process.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { madeUpResult } from '../../../support/load-result.ts';

const PREPARE: PrepareOrder = {
  kind: 'prepare',
  target: 'grpc://127.0.0.1:1',
  profile: 'fake',
  bearer: false,
  callsPerConnection: 100,
  sounds: [],
  scenarios: [{ name: 'keys', organizationId: 'o', agentId: '', repeatsLostTurns: false, noInputMs: 5000 }],
};

const NEVER = new AbortController().signal;

/** A worker that a test plays. */
class HeldWorker implements LoadWorker {
  readonly orders: WorkerOrder[] = [];
  isKilled = false;
  say: (report: WorkerReport) => void = () => undefined;
  leave: (why: string) => void = () => undefined;
  readonly #obeys: boolean;

  /** @param obeys - gets ready, and stops when ordered to. */
  constructor(obeys = true) {
    this.#obeys = obeys;
  }

  send(order: WorkerOrder): void {
    this.orders.push(structuredClone(order));
    if (this.#obeys && order.kind === 'prepare') this.say({ kind: 'ready' });
    if (this.#obeys && order.kind === 'stop') this.say({ kind: 'done' });
  }

  listen(onReport: (report: WorkerReport) => void, onGone: (why: string) => void): void {
    this.say = onReport;
    this.leave = onGone;
  }

  kill(): void {
    this.isKilled = true;
  }
}

function second(more: Partial<Extract<WorkerReport, { kind: 'second' }>> = {}): WorkerReport {
  const nothing = Histogram.empty().encoded;
  const counts = { live: 2, started: 3, missed: 0, cpu: 0.5, loopDelayMaxMs: 2, residentBytes: 3 };
  return {
    kind: 'second',
    fromMs: 0,
    toMs: 1000,
    ...counts,
    waits: [],
    calls: [],
    startLateness: nothing,
    timerLateness: nothing,
    ...more,
  };
}

function fleetOf(workers: readonly HeldWorker[], clock = new FakeClock()): Fleet {
  const left = [...workers];
  return new Fleet(clock, workers.length, () => left.shift() ?? new HeldWorker());
}

const RUN = {
  target: 't',
  asked: 'a',
  scenarios: [{ name: 'keys', weight: 1, meanMs: 1000 }],
  kind: 'fixed',
  phases: [{ durationMs: 2000, fromPerSecond: 5, toPerSecond: 5 }],
  seed: 1,
  warmUpMs: 0,
  drainMs: 5000,
} as const;

describe('a fleet of workers', () => {
  it('gives each its share of one run, and adds up what they heard', async () => {
    const clock = new FakeClock();
    const workers = [new HeldWorker(), new HeldWorker()];
    const fleet = fleetOf(workers, clock);
    await fleet.prepare(PREPARE, NEVER);
    const progress: LoadProgress[] = [];
    const running = runLoad({ ...RUN, clock, fleet, signal: new AbortController().signal, onProgress: (each) => progress.push(each) });
    await clock.advanceAsync(0);
    const orders = workers.map(({ orders: given }) => given.at(-1));
    expect(orders).toMatchObject([
      { kind: 'run', worker: 0, workers: 2, expectedCalls: 3 },
      { kind: 'run', worker: 1, workers: 2, expectedCalls: 3 },
    ]);
    await clock.advanceAsync(1300);
    for (const [index, worker] of workers.entries()) {
      worker.say(
        second({
          waits: [
            { kind: 'first_audio', fromMs: 500, waitedMs: 10 + index },
            { kind: 'key_reply', fromMs: 9999, waitedMs: 1 },
          ],
        }),
      );
    }
    await clock.advanceAsync(1000);
    expect(progress.at(-1)).toMatchObject({ live: 4, perSecond: 5, elapsedMs: 1800, lengthMs: 2000 });
    for (const worker of workers) worker.say({ kind: 'done' });
    const result = await running;
    expect(result).toMatchObject({
      saturated: false,
      interrupted: false,
      calls: { maxLive: 4 },
      firstAudio: { count: 2 },
      reply: { count: 0 },
    });
    expect(result.firstAudio.max).toBeCloseTo(11, 1);
    // What was measured can be written down and read again.
    expect(readLoadResult(JSON.stringify(result), 'it')).toEqual(result);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps an account of every level that was reached', async () => {
    const clock = new FakeClock();
    const worker = new HeldWorker();
    const stop = new AbortController();
    const levels = [
      { name: '5.00/s', fromMs: 0, toMs: 1000 },
      { name: '50.00/s', fromMs: 1000, toMs: 2000 },
      { name: '500.00/s', fromMs: 2000, toMs: 3000 },
    ];
    const running = runLoad({ ...RUN, levels, clock, fleet: fleetOf([worker], clock), signal: stop.signal });
    await clock.advanceAsync(200 + 1500);
    const waits = [100, 1200, 1300].map((fromMs) => ({ kind: 'first_audio' as const, fromMs, waitedMs: fromMs / 10 }));
    worker.say(second({ waits }));
    stop.abort();
    const { levels: found, firstAudio } = await running;
    expect(firstAudio.count).toBe(3);
    expect(found.map(({ name, fromS, toS, firstAudio: { count, max } }) => [name, fromS, toS, count, Math.round(max)])).toEqual([
      ['5.00/s', 0, 1, 1, 10],
      ['50.00/s', 1, 1.5, 2, 130],
    ]);
  });

  it('hangs up when it is stopped, and says what was measured', async () => {
    const clock = new FakeClock();
    const workers = [new HeldWorker(), new HeldWorker(false)];
    const fleet = fleetOf(workers, clock);
    const stop = new AbortController();
    const running = runLoad({ ...RUN, clock, fleet, signal: stop.signal });
    await clock.advanceAsync(700);
    workers[0]?.say(second({ waits: [{ kind: 'first_audio', fromMs: 100, waitedMs: 10 }] }));
    stop.abort();
    await clock.advanceAsync(0);
    expect(workers.map(({ orders }) => orders.at(-1))).toEqual([{ kind: 'stop' }, { kind: 'stop' }]);
    // The second worker never answers: the run is over all the same.
    await clock.advanceAsync(8000);
    expect(await running).toMatchObject({ interrupted: true, firstAudio: { count: 1 }, countedToS: expect.closeTo(2, 0) as number });
    fleet.close();
    expect(workers.every(({ isKilled }) => isKilled)).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends calls that outlast the run', async () => {
    const clock = new FakeClock();
    const worker = new HeldWorker();
    const running = runLoad({ ...RUN, clock, fleet: fleetOf([worker], clock), signal: new AbortController().signal });
    await clock.advanceAsync(200 + 2000 + 5000);
    expect(worker.orders.at(-1)).toEqual({ kind: 'stop' });
    expect(await running).toMatchObject({ interrupted: false });
  });

  it.each<[string, (worker: HeldWorker) => void]>([
    [
      'it ended with SIGKILL',
      (worker) => {
        worker.leave('it ended with SIGKILL');
      },
    ],
    [
      'no such scenario',
      (worker) => {
        worker.say({ kind: 'failed', message: 'no such scenario' });
      },
    ],
  ])('says what was measured, and that it is no result, when a worker fails: %s', async (why, fail) => {
    const clock = new FakeClock();
    const workers = [new HeldWorker(), new HeldWorker()];
    const running = runLoad({ ...RUN, clock, fleet: fleetOf(workers, clock), signal: NEVER });
    const [first = new HeldWorker(), worker = new HeldWorker()] = workers;
    await clock.advanceAsync(700);
    first.say(second({ waits: [{ kind: 'first_audio', fromMs: 100, waitedMs: 10 }] }));
    fail(worker);
    expect(await running).toMatchObject({
      saturated: true,
      saturation: [`worker 2 of the load failed: ${why}`],
      interrupted: false,
      firstAudio: { count: 1 },
      countedToS: expect.closeTo(0.5, 0) as number,
    });
    expect(first.orders.at(-1)).toEqual({ kind: 'stop' });
    expect(worker.isKilled).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('lets another take the place of a worker that does not hang up, and does not listen to it any more', async () => {
    const clock = new FakeClock();
    const workers = [new HeldWorker(false), new HeldWorker()];
    const [slow = new HeldWorker(), other = new HeldWorker()] = workers;
    const fleet = new Fleet(clock, 1, () => workers.shift() ?? new HeldWorker());
    const preparing = fleet.prepare(PREPARE, NEVER);
    slow.say({ kind: 'ready' });
    await preparing;
    const running = runLoad({ ...RUN, clock, fleet, signal: NEVER });
    await clock.advanceAsync(200 + 2000 + 5000 + 8000);
    const saturation = ['worker 1 of the load did not hang up within 8 s'];
    expect(await running).toMatchObject({ saturated: true, saturation, interrupted: false });
    expect(slow.isKilled).toBe(true);
    const next = runLoad({ ...RUN, clock, fleet, signal: NEVER });
    await clock.advanceAsync(0);
    expect(other.orders.map(({ kind }) => kind)).toEqual(['prepare', 'run']);
    slow.say({ kind: 'done' });
    slow.leave('it ended with SIGKILL');
    await clock.advanceAsync(700);
    other.say(second());
    other.say({ kind: 'done' });
    expect(await next).toMatchObject({ saturated: false, calls: { maxLive: 2 } });
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not run where nobody could take the place of a lost worker', async () => {
    const clock = new FakeClock();
    const workers = [new HeldWorker(), new HeldWorker(false)];
    const [gone = new HeldWorker()] = workers;
    const fleet = new Fleet(clock, 1, () => workers.shift() ?? new HeldWorker(false));
    await fleet.prepare(PREPARE, NEVER);
    gone.leave('it ended with SIGKILL');
    const running = runLoad({ ...RUN, clock, fleet, signal: NEVER });
    await clock.advanceAsync(30_000);
    expect(await running).toMatchObject({ saturated: true, saturation: ['worker 1 of the load was not ready within 30 s'] });
  });

  it('does not wait for ever until a worker is ready', async () => {
    const clock = new FakeClock();
    const preparing = fleetOf([new HeldWorker(false)], clock).prepare(PREPARE, NEVER);
    const failed = expect(preparing).rejects.toThrow('was not ready within 30 s');
    await clock.advanceAsync(30_000);
    await failed;
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not wait for a worker at all once it is stopped', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const preparing = fleetOf([new HeldWorker(false)], clock).prepare(PREPARE, stop.signal);
    stop.abort();
    expect(await preparing).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });
});

it('the result of a load is read with a sentence for what is none', () => {
  expect(() => readLoadResult('{', 'a.json')).toThrow('a.json is no JSON');
  expect(() => readLoadResult('{"version":2}', 'a.json')).toThrow('a.json is no result of a load: version');
  expect(readLoadResult(JSON.stringify(madeUpResult()), 'a.json').calls.finished).toBe(1000);
});
