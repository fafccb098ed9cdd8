import { describe, expect, it } from 'vitest';
import { Crew } from '../../../../src/app/workers/crew.ts';
import type { Answer } from '../../../../src/app/workers/messages.ts';
import type { Logger } from '../../../../src/base/log.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { FakeWorkers, READY, WELL } from '../../../support/fake-workers.ts';

interface World {
  readonly clock: FakeClock;
  readonly workers: FakeWorkers;
  readonly crew: Crew;
  /** Lines of the log: message and fields. */
  readonly log: string[];
  /** What was reported: that all is lost, and which workers are gone. */
  readonly told: string[];
  readonly starting: Promise<unknown>;
  readonly giveUp: () => void;
}

/** A crew of two that has begun to start. */
function begin(size = 2): World {
  const clock = new FakeClock();
  const workers = new FakeWorkers();
  const log: string[] = [];
  const told: string[] = [];
  const note = (fields: object, message: string): void => {
    log.push(`${message} ${JSON.stringify(fields)}`);
  };
  const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger };
  const crew = new Crew({
    ...{ size, clock, log: logger, stopLimitMs: 20_000 },
    startWorker: workers.start,
    onHopeless: () => told.push('hopeless'),
    onGone: (worker, isExpected) => told.push(`${String(worker)} is gone${isExpected ? ' as it should' : ''}`),
  });
  const abort = new AbortController();
  const starting = crew.start(abort.signal);
  // A test that is about something else does not wait for it.
  starting.catch(() => undefined);
  const giveUp = (): void => {
    abort.abort();
  };
  return { clock, workers, crew, log, told, starting, giveUp };
}

/** A crew of two that takes calls. */
async function running(): Promise<World> {
  const world = begin();
  world.workers.get(1).isReady();
  world.workers.get(2).isReady();
  await world.starting;
  return world;
}

/** Time in which these workers say each second that all is well. */
function passing({ clock, workers }: World, seconds: number, ...alive: readonly number[]): void {
  for (let second = 0; second < seconds; second += 1) {
    for (const id of alive) workers.get(id).says({ kind: 'state', state: WELL });
    clock.advance(1000);
  }
}

describe('a crew that starts', () => {
  it('is ready when all workers take calls, and not before', async () => {
    const { crew, workers, starting } = begin();
    expect(crew.readiness).toEqual({ ready: false, reasons: ['starting'] });
    workers.get(1).isReady();
    expect(crew.readiness).toEqual({ ready: false, reasons: ['starting'] });
    workers.get(2).isReady();
    expect(await starting).toEqual(READY);
    expect(crew.readiness).toEqual({ ready: true, reasons: [] });
    expect(workers.all).toHaveLength(2);
  });

  it('fails with what one of them could not start for', async () => {
    const { workers, starting } = begin();
    workers.get(1).isReady();
    workers.get(2).says({ kind: 'failed', failure: { code: 'listen_failed', message: 'the port is taken', details: { port: 8086 } } });
    await expect(starting).rejects.toMatchObject({ code: 'listen_failed', message: 'the port is taken', details: { port: 8086 } });
  });

  it('replaces one that ends without a word', async () => {
    const { clock, workers, starting } = begin();
    workers.get(1).isReady();
    workers.get(2).ends();
    clock.advance(100);
    workers.get(3).isReady();
    await expect(starting).resolves.toEqual(READY);
  });

  it('fails when all of them end again and again', async () => {
    const { clock, workers, starting, told } = begin();
    for (let id = 1; id <= 11; id += 1) {
      workers.get(id).ends();
      clock.advance(5000);
      if (id === 1) expect(workers.all).toHaveLength(3);
    }
    await expect(starting).rejects.toMatchObject({ code: 'internal' });
    expect(told).not.toContain('hopeless');
  });

  it('fails when one of them ends again and again, although another one takes calls: nobody counts on them yet', async () => {
    const world = begin();
    const { workers, starting, told } = world;
    workers.get(1).isReady();
    for (let id = 2; id <= 12; id += 1) {
      workers.get(id).ends();
      passing(world, 5, 1);
    }
    await expect(starting).rejects.toMatchObject({ code: 'internal' });
    expect(workers.all).toHaveLength(12);
    expect(told).not.toContain('hopeless');
  });

  it('is given up when somebody asks for it', async () => {
    const { crew, workers, starting, giveUp } = begin();
    giveUp();
    await expect(starting).rejects.toMatchObject({ code: 'shutting_down' });
    const stopped = crew.stop();
    expect(workers.all.map(({ told }) => told)).toEqual([['stop'], ['stop']]);
    for (const worker of workers.all) worker.ends({ code: 0, signal: null });
    await stopped;
  });
});

describe('a worker that ends', () => {
  it('is replaced after a pause that grows with each end up to five seconds, and at once again after a quiet minute', async () => {
    const world = await running();
    const { clock, workers, told, log } = world;
    const pauses: number[] = [];
    const replaced = (): void => {
      const before = workers.all.length;
      workers.get(before).ends();
      let pauseMs = 0;
      for (; workers.all.length === before; pauseMs += 100) clock.advance(100);
      pauses.push(pauseMs);
      workers.get(workers.all.length).isReady();
      workers.get(1).says({ kind: 'state', state: WELL });
    };
    for (let round = 0; round < 8; round += 1) replaced();
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    passing(world, 60, 1, workers.all.length);
    replaced();
    expect(pauses.at(-1)).toBe(100);
    expect(told).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) => `${String(id)} is gone`));
    expect(log).toContain(
      'a worker ended; another one takes its place {"worker":2,"pid":1002,"code":null,"signal":"SIGKILL","recentEnds":1,"pauseMs":100}',
    );
  });

  it('leaves the server ready while another one takes calls, however often it ends', async () => {
    const world = await running();
    const { crew, workers, told } = world;
    for (let round = 0; round < 15; round += 1) {
      workers.get(workers.all.length).ends();
      expect(crew.readiness.ready).toBe(true);
      passing(world, 5, 1);
    }
    expect(workers.all).toHaveLength(17);
    expect(told).not.toContain('hopeless');
    // The last one that takes calls goes as well.
    workers.get(1).ends();
    expect(told.at(-1)).toBe('hopeless');
    expect(crew.readiness).toEqual({ ready: false, reasons: ['starting'] });
  });

  it('that could not start anew is told in the log, and is tried again', async () => {
    const { clock, workers, log, crew } = await running();
    workers.get(2).ends();
    clock.advance(100);
    workers.get(3).says({ kind: 'failed', failure: { code: 'certificate_invalid', message: 'no PEM', details: {} } });
    workers.get(3).ends({ code: 1, signal: null });
    clock.advance(200);
    expect(workers.all).toHaveLength(4);
    expect(log.filter((line) => line.startsWith('a worker could not start'))).toHaveLength(1);
    expect(crew.counts).toEqual({ ready: 1, starting: 1, silent: 0 });
  });
});

describe('a worker that drains by itself', () => {
  const draining = { ...WELL, readiness: { ready: false, reasons: ['draining'] } };

  it('is told once to leave new connections to those that take calls', async () => {
    const { workers } = await running();
    workers.get(2).says({ kind: 'state', state: draining });
    workers.get(2).says({ kind: 'state', state: draining });
    expect(workers.all.map(({ heard }) => heard)).toEqual([[], [{ kind: 'step_aside' }]]);
  });

  it('goes on taking connections while nobody else takes calls', async () => {
    const world = await running();
    const { clock, workers } = world;
    workers.get(1).ends();
    workers.get(2).says({ kind: 'state', state: draining });
    expect(workers.get(2).heard).toEqual([]);
    clock.advance(100);
    workers.get(3).isReady();
    workers.get(2).says({ kind: 'state', state: draining });
    expect(workers.get(2).heard).toEqual([{ kind: 'step_aside' }]);
  });

  it('is told nothing when all of them are stopped: whoever stands before them has not noticed yet', async () => {
    const { crew, workers } = await running();
    const stopped = crew.stop();
    workers.get(2).says({ kind: 'state', state: draining });
    expect(workers.get(2).heard).toEqual([]);
    for (const worker of workers.all) worker.ends({ code: 0, signal: null });
    await stopped;
  });
});

describe('a worker that says nothing', () => {
  it('does not count after ten seconds, is killed after thirty, and its last sign of life counts', async () => {
    const world = await running();
    const { crew, workers } = world;
    passing(world, 9, 1);
    expect(crew.counts).toEqual({ ready: 2, starting: 0, silent: 0 });
    passing(world, 1, 1);
    expect(crew.counts).toEqual({ ready: 1, starting: 0, silent: 1 });
    workers.get(2).says({ kind: 'state', state: WELL });
    expect(crew.counts.ready).toBe(2);
    passing(world, 29, 1);
    expect(workers.get(2).told).toEqual([]);
    passing(world, 2, 1);
    expect(workers.all.map(({ told }) => told)).toEqual([[], ['kill']]);
  });

  it('is not blamed when this process itself stood still', async () => {
    const world = await running();
    const { crew, workers, clock } = world;
    // One timer is late by an hour: what the workers said meanwhile has not been read yet.
    clock.stepWall(3_600_000);
    passing(world, 1);
    expect(crew.readiness.ready).toBe(true);
    expect(workers.all.flatMap(({ told }) => told)).toEqual([]);
  });

  it('has ten minutes for its start', () => {
    const world = begin();
    passing(world, 599);
    expect(world.workers.get(1).told).toEqual([]);
    passing(world, 1);
    expect(world.workers.get(1).told).toEqual(['kill']);
  });

  it('is the reason when nobody else takes calls', async () => {
    const world = await running();
    world.workers.get(1).says({ kind: 'state', state: { ...WELL, readiness: { ready: false, reasons: ['the store is away'] } } });
    expect(world.crew.readiness).toEqual({ ready: true, reasons: [] });
    for (let second = 0; second < 10; second += 1) {
      world.workers.get(1).says({ kind: 'state', state: { ...WELL, readiness: { ready: false, reasons: ['the store is away'] } } });
      world.clock.advance(1000);
    }
    expect(world.crew.readiness).toEqual({ ready: false, reasons: ['the store is away', 'a worker does not answer'] });
  });
});

describe('a question to the workers', () => {
  const calls: Answer = { kind: 'calls', calls: [], refused: [] };

  it('is answered by those that answer in time', async () => {
    const { crew, workers, clock } = await running();
    const asked = crew.ask({ kind: 'calls' });
    expect(workers.get(1).heard).toEqual([{ kind: 'ask', id: 1, question: { kind: 'calls' } }]);
    workers.get(1).says({ kind: 'answer', id: 1, answer: calls });
    await clock.advanceAsync(2000);
    expect([...(await asked)]).toEqual([[1, calls]]);
    // Late, twice, and to nothing that was asked.
    workers.get(2).says({ kind: 'answer', id: 1, answer: calls });
    workers.get(1).says({ kind: 'answer', id: 7, answer: calls });
  });

  it('does not wait for one that ends, for one that cannot answer, nor for one that starts', async () => {
    const { crew, workers, clock } = await running();
    workers.get(2).ends();
    clock.advance(100);
    workers.get(3).isReady();
    const first = crew.ask({ kind: 'calls' });
    workers.get(1).says({ kind: 'answer', id: 1, answer: calls });
    workers.get(3).ends();
    expect([...(await first).keys()]).toEqual([1]);
    clock.advance(200);
    const second = crew.ask({ kind: 'calls' });
    expect(workers.get(4).heard).toEqual([]);
    workers.get(1).says({ kind: 'answer', id: 2, answer: undefined });
    expect([...(await second)]).toEqual([]);
  });
});

describe('a crew that stops', () => {
  it('asks every worker to finish, waits for the last one, and replaces none', async () => {
    const { crew, workers, clock, told } = await running();
    let isOver = false;
    const stopped = crew.stop().then(() => (isOver = true));
    expect(crew.stop()).toBe(crew.stop());
    expect(crew.readiness).toEqual({ ready: false, reasons: ['draining'] });
    expect(workers.all.map((worker) => worker.told)).toEqual([['stop'], ['stop']]);
    workers.get(1).ends({ code: 0, signal: null });
    await clock.advanceAsync(19_000);
    expect(isOver).toBe(false);
    workers.get(2).ends({ code: 0, signal: null });
    await stopped;
    expect(told).toEqual(['1 is gone as it should', '2 is gone as it should']);
    expect(workers.all).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('kills those that do not end in time, and does not wait for ever for what cannot be killed', async () => {
    const { crew, workers, clock } = await running();
    workers.get(2).ends();
    const stopped = crew.stop();
    await clock.advanceAsync(20_000);
    expect(workers.all.map(({ told }) => told)).toEqual([['stop', 'kill'], []]);
    await clock.advanceAsync(5000);
    await stopped;
    expect(clock.pendingTimers).toBe(0);
    await flushMicrotasks();
  });

  it('counts what is open in all workers', async () => {
    const { crew, workers } = await running();
    workers.get(1).says({ kind: 'state', state: { ...WELL, openSessions: 3, openTurns: 2 } });
    workers.get(2).says({ kind: 'state', state: { ...WELL, openSessions: 4, openTurns: 1 } });
    expect([crew.openSessions, crew.openTurns]).toEqual([7, 3]);
  });
});
