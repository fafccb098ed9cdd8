import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../../src/app/console/questions.ts';
import type { Command } from '../../../../src/app/control/commands.ts';
import { Workers } from '../../../../src/app/workers/workers.ts';
import type { Logger } from '../../../../src/base/log.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { FakeWorkers, READY, REPORT } from '../../../support/fake-workers.ts';

interface World {
  readonly clock: FakeClock;
  readonly fakes: FakeWorkers;
  readonly workers: Workers;
  /** Lines of the log: message and fields. */
  readonly log: string[];
  /** What was reported: that all is lost, which workers were read, and which are gone. */
  readonly told: string[];
  readonly starting: Promise<unknown>;
  readonly giveUp: () => void;
}

/** Workers that have begun to start. */
function begin(size = 2, standing: readonly Command[] = []): World {
  const clock = new FakeClock();
  const fakes = new FakeWorkers();
  const log: string[] = [];
  const told: string[] = [];
  const note = (fields: object, message: string): void => {
    log.push(`${message} ${JSON.stringify(fields)}`);
  };
  const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger };
  const workers = new Workers({
    ...{ size, clock, log: logger, startWorker: fakes.start },
    metrics: {
      read: (worker) => told.push(`${String(worker)} was read`),
      ended: (worker, isExpected) => told.push(`${String(worker)} is gone${isExpected ? ' as it should' : ''}`),
    },
    standing: () => standing,
    onHopeless: () => told.push('hopeless'),
  });
  const abort = new AbortController();
  const starting = workers.start(abort.signal);
  // A test that is about something else does not wait for it.
  starting.catch(() => undefined);
  const giveUp = (): void => {
    abort.abort();
  };
  return { clock, fakes, workers, log, told, starting, giveUp };
}

/** Two workers that take calls. */
async function running(): Promise<World> {
  const world = begin();
  for (const worker of world.fakes.all) worker.isReady();
  await world.starting;
  return world;
}

/** Time in which these workers say each second that all is well. */
async function passing({ clock, fakes }: World, seconds: number, ...alive: readonly number[]): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    for (const id of alive) fakes.get(id).isReady();
    await clock.advanceAsync(1000);
  }
}

describe('a question to any worker', () => {
  it('goes to another one when the first does not answer in time, and to no third one', async () => {
    const { clock, fakes, workers } = await running();
    const asked = workers.askAny('report');
    expect(fakes.get(1).heard.at(-1)).toMatchObject({ kind: 'ask', question: 'report' });
    await clock.advanceAsync(2000);
    const question = fakes.get(2).heard.at(-1);
    if (question?.kind !== 'ask') throw new Error('the second one is not asked');
    const answer = { found: [] };
    fakes.get(2).says({ kind: 'answer', id: question.id, answer });
    expect(await asked).toBe(answer);
    const again = workers.askAny('report');
    await clock.advanceAsync(4000);
    expect(await again).toBeUndefined();
  });
});

describe('workers that start', () => {
  it('are ready when all of them take calls, and not before', async () => {
    const { workers, fakes, starting } = begin();
    expect(workers.current).toEqual({ ready: false, reasons: ['starting'] });
    fakes.get(1).isReady();
    expect(workers.current).toEqual({ ready: false, reasons: ['starting'] });
    expect(workers.counts).toEqual({ ready: 1, starting: 1 });
    fakes.get(2).isReady();
    expect(await starting).toEqual(READY);
    expect(workers.current).toEqual({ ready: true, reasons: [] });
    expect(fakes.all).toHaveLength(2);
  });

  it('fail with what one of them could not start for', async () => {
    const { fakes, starting } = begin();
    fakes.get(1).isReady();
    fakes.get(2).says({ kind: 'failed', code: 'listen_failed', message: 'the port is taken', details: { port: 8086 } });
    await expect(starting).rejects.toMatchObject({ code: 'listen_failed', message: 'the port is taken', details: { port: 8086 } });
  });

  it('begin once more when one ends without a word', async () => {
    const { clock, fakes, starting } = begin();
    fakes.get(1).isReady();
    await fakes.get(2).ends();
    await clock.advanceAsync(100);
    fakes.get(3).isReady();
    await expect(starting).resolves.toEqual(READY);
  });

  it('fail when all of them end again and again', async () => {
    const { clock, fakes, starting } = begin();
    for (let id = 1; id <= 11; id += 1) {
      await fakes.get(id).ends();
      await clock.advanceAsync(5000);
      if (id === 1) expect(fakes.all).toHaveLength(3);
    }
    await expect(starting).rejects.toMatchObject({ code: 'internal' });
  });

  it('fail when one of them ends again and again, although another one takes calls: nobody counts on them yet', async () => {
    const world = begin();
    const { fakes, starting } = world;
    fakes.get(1).isReady();
    for (let id = 2; id <= 12; id += 1) {
      await fakes.get(id).ends();
      await passing(world, 5, 1);
    }
    await expect(starting).rejects.toMatchObject({ code: 'internal' });
    expect(fakes.all).toHaveLength(12);
  });

  it('have as long as they need', async () => {
    const world = begin();
    await passing(world, 3600);
    expect(world.fakes.all.map(({ told }) => told)).toEqual([[], []]);
  });

  it('are stopped when the start is given up', async () => {
    const { workers, fakes, starting, giveUp } = begin();
    giveUp();
    await expect(starting).rejects.toMatchObject({ code: 'shutting_down' });
    const stopped = workers.stop();
    expect(fakes.all.map(({ told }) => told)).toEqual([['SIGTERM'], ['SIGTERM']]);
    for (const worker of fakes.all) await worker.ends({ code: 0, signal: null });
    await stopped;
  });
});

describe('a worker that ends', () => {
  it('is replaced after a pause that grows with each end up to five seconds, and at once again after a quiet minute', async () => {
    const world = await running();
    const { clock, fakes, told, log } = world;
    const pauses: number[] = [];
    const replaced = async (): Promise<void> => {
      const before = fakes.all.length;
      await fakes.get(before).ends();
      let pauseMs = 0;
      for (; fakes.all.length === before; pauseMs += 100) await clock.advanceAsync(100);
      pauses.push(pauseMs);
      fakes.get(fakes.all.length).isReady();
      fakes.get(1).isReady();
    };
    for (let round = 0; round < 8; round += 1) await replaced();
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    await passing(world, 60, 1, fakes.all.length);
    await replaced();
    expect(pauses.at(-1)).toBe(100);
    expect(told).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) => `${String(id)} is gone`));
    expect(log).toContain(
      'a worker ended; another one takes its place {"worker":2,"pid":1002,"code":null,"signal":"SIGKILL","recentEnds":1,"pauseMs":100}',
    );
  });

  it('leaves the server ready while another one takes calls, however often it ends', async () => {
    const world = await running();
    const { workers, fakes, told } = world;
    for (let round = 0; round < 15; round += 1) {
      await fakes.get(fakes.all.length).ends();
      expect(workers.current.ready).toBe(true);
      await passing(world, 5, 1);
    }
    expect(fakes.all).toHaveLength(17);
    expect(told).not.toContain('hopeless');
    // The last one that takes calls goes as well.
    await fakes.get(1).ends();
    expect(told.at(-1)).toBe('hopeless');
    expect(workers.current).toEqual({ ready: false, reasons: ['starting'] });
  });

  it('that could not start anew is logged, and is tried again', async () => {
    const { clock, fakes, log, workers } = await running();
    await fakes.get(2).ends();
    await clock.advanceAsync(100);
    fakes.get(3).says({ kind: 'failed', code: 'certificate_invalid', message: 'no PEM', details: {} });
    await fakes.get(3).ends({ code: 1, signal: null });
    await clock.advanceAsync(200);
    expect(fakes.all).toHaveLength(4);
    expect(log.filter((line) => line.startsWith('a worker could not start'))).toHaveLength(1);
    expect(workers.counts).toEqual({ ready: 1, starting: 1 });
  });
});

describe('a worker that says nothing', () => {
  it('is killed after ten seconds, and its last sign of life counts', async () => {
    const world = await running();
    const { fakes } = world;
    await passing(world, 9, 1);
    fakes.get(2).isReady();
    await passing(world, 9, 1);
    expect(fakes.get(2).told).toEqual([]);
    await passing(world, 2, 1);
    expect(fakes.all.map(({ told }) => told)).toEqual([[], ['SIGKILL']]);
  });

  it('is not blamed when this process itself stood still', async () => {
    const world = await running();
    const { workers, fakes, clock } = world;
    // One timer is late by an hour: what the workers said meanwhile has not been read yet.
    clock.stepWall(3_600_000);
    await passing(world, 1);
    expect(workers.current.ready).toBe(true);
    expect(fakes.all.flatMap(({ told }) => told)).toEqual([]);
  });

  it('does not hide why the others take no calls', async () => {
    const { workers, fakes } = await running();
    fakes.get(1).isReady({ ready: false, reasons: ['the store is away'] });
    expect(workers.current).toEqual({ ready: true, reasons: [] });
    fakes.get(2).isReady({ ready: false, reasons: ['the store is away', 'draining'] });
    expect(workers.current).toEqual({ ready: false, reasons: ['the store is away', 'draining'] });
  });
});

describe('a question to the workers', () => {
  const answer: Answer = { calls: [], refused: [] };

  it('is answered by those that answer in time', async () => {
    const { workers, fakes, clock } = await running();
    const asked = workers.ask('calls');
    expect(fakes.get(1).heard).toEqual([{ kind: 'ask', id: 1, question: 'calls' }]);
    fakes.get(1).says({ kind: 'answer', id: 1, answer });
    await clock.advanceAsync(2000);
    expect(await asked).toEqual([answer]);
    // Late, twice, and to nothing that was asked.
    fakes.get(2).says({ kind: 'answer', id: 1, answer });
    fakes.get(1).says({ kind: 'answer', id: 7, answer });
  });

  it('is not put to one that starts', async () => {
    const { workers, fakes, clock } = await running();
    await fakes.get(2).ends();
    await clock.advanceAsync(100);
    const asked = workers.ask('calls');
    expect(fakes.get(3).heard).toEqual([]);
    fakes.get(1).says({ kind: 'answer', id: 1, answer });
    expect(await asked).toEqual([answer]);
  });

  it('about metrics also counts when the answer is late', async () => {
    const { workers, fakes, clock, told } = await running();
    const asked = workers.ask('metrics');
    fakes.get(1).says({ kind: 'answer', id: 1, answer: { metrics: [] } });
    await clock.advanceAsync(2000);
    await asked;
    fakes.get(2).says({ kind: 'answer', id: 1, answer: { metrics: [] } });
    expect(told).toEqual(['1 was read', '2 was read']);
  });

  it('all carry out a command, and those that do not answer in time are counted', async () => {
    const { clock, fakes, workers } = await running();
    const commanded = workers.command({ kind: 'reload' });
    const [message] = fakes.get(1).heard;
    expect(message).toEqual({ kind: 'command', id: 1, command: { kind: 'reload' } });
    // Reading files may take this long.
    await clock.advanceAsync(9000);
    fakes.get(1).says({ kind: 'answer', id: 1, answer: { controlled: REPORT } });
    fakes.get(2).isReady();
    await clock.advanceAsync(4000);
    expect(await commanded).toEqual({ processes: [REPORT], silent: 1 });
  });

  it('is waited for two seconds when nothing is read, and not at all from one that ends', async () => {
    const { clock, fakes, workers } = await running();
    const silent = workers.command({ kind: 'status' });
    await clock.advanceAsync(2000);
    expect(await silent).toEqual({ processes: [], silent: 2 });
    const commanded = workers.command({ kind: 'reload' });
    fakes.get(1).says({ kind: 'answer', id: 3, answer: { controlled: REPORT } });
    await fakes.get(2).ends();
    expect(await commanded).toEqual({ processes: [REPORT], silent: 1 });
  });

  it('are told when they begin to take calls what the others were told before, once', () => {
    const { fakes } = begin(1, [{ kind: 'drain' }]);
    fakes.get(1).isReady();
    fakes.get(1).isReady();
    expect(fakes.get(1).heard).toEqual([{ kind: 'command', id: 1, command: { kind: 'drain' } }]);
  });

  it('start drained where the others are, and are told when that is over before they take calls', () => {
    const standing: Command[] = [{ kind: 'drain' }];
    const { fakes } = begin(1, standing);
    standing.length = 0;
    fakes.get(1).isReady({ ready: false, reasons: ['drained'] });
    expect(fakes.get(1).startsDrained).toBe(true);
    expect(fakes.get(1).heard).toEqual([{ kind: 'command', id: 1, command: { kind: 'undrain' } }]);
    expect(begin(1).fakes.get(1).startsDrained).toBe(false);
  });
});

describe('workers that stop', () => {
  it('are all asked to finish, are waited for as long as they live, and are not replaced', async () => {
    const world = await running();
    const { workers, fakes, clock, told } = world;
    let isOver = false;
    const stopped = workers.stop().then(() => (isOver = true));
    expect(workers.current).toEqual({ ready: false, reasons: ['draining'] });
    void workers.stop();
    expect(fakes.all.map((worker) => worker.told)).toEqual([['SIGTERM'], ['SIGTERM']]);
    await fakes.get(1).ends({ code: 0, signal: null });
    await passing(world, 600, 2);
    expect([isOver, fakes.get(2).told]).toEqual([false, ['SIGTERM']]);
    await fakes.get(2).ends({ code: 0, signal: null });
    await stopped;
    expect(told).toEqual(['1 is gone as it should', '2 is gone as it should']);
    expect(fakes.all).toHaveLength(2);
    expect(clock.pendingTimers).toBe(0);
  });

  it('are killed when they hang, also one that starts', async () => {
    const { workers, fakes, clock } = await running();
    await fakes.get(2).ends();
    await clock.advanceAsync(100);
    const stopped = workers.stop();
    await clock.advanceAsync(10_000);
    expect(fakes.all.map(({ told }) => told)).toEqual([['SIGTERM', 'SIGKILL'], [], ['SIGTERM', 'SIGKILL']]);
    for (const worker of fakes.all) await worker.ends();
    await stopped;
    expect(clock.pendingTimers).toBe(0);
    await flushMicrotasks();
  });

  it('do not wait for one that was to be started again', async () => {
    const { workers, fakes, clock } = await running();
    await fakes.get(2).ends();
    const stopped = workers.stop();
    await fakes.get(1).ends({ code: 0, signal: null });
    await stopped;
    expect([fakes.all.length, clock.pendingTimers]).toEqual([2, 0]);
  });
});
