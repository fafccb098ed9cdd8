// Workers that are no processes: a test says what they tell and when they end, and reads what they were told.
import type { ProcessReport } from '../../src/app/control/commands.ts';
import type { ReadySummary } from '../../src/app/ready-summary.ts';
import type { FromWorker, ToWorker } from '../../src/app/workers/messages.ts';
import type { StartWorker, WorkerProcess } from '../../src/app/workers/worker-process.ts';
import type { ReadinessState } from '../../src/ops/readiness.ts';
import { flushMicrotasks } from './fake-clock.ts';

/** What a worker says of itself when it takes calls. */
export const READY: ReadySummary = {
  ...{
    address: '127.0.0.1:8086',
    port: 8086,
    security: 'TLS',
    bots: ['echo'],
    dataSources: 1,
    isRegistering: false,
    hasTokenCheck: true,
    opsPort: 0,
    opsAddress: '',
  },
};

type WorkerExit = Awaited<WorkerProcess['exited']>;

/** What it answers to a command. */
export const REPORT: ProcessReport = {
  ...{ process: 'worker 1', server: 'a', version: '1', pid: 1001, startedAtMs: 0, calls: 0, turns: 0, logLevel: 'info', traced: [] },
  readiness: { ready: true, reasons: [] },
};

/** All is well. */
export const WELL: ReadinessState = { ready: true, reasons: [] };

/** One of them. */
export class FakeWorker implements WorkerProcess {
  readonly id: number;
  readonly pid: number;
  readonly startsDrained: boolean;
  readonly exited: Promise<WorkerExit>;
  /** What it was sent. */
  readonly heard: ToWorker[] = [];
  /** What was done to it, in order. */
  readonly told: ('SIGTERM' | 'SIGKILL')[] = [];
  readonly says: (message: FromWorker) => void;
  #exit: (exit: WorkerExit) => void = () => undefined;

  constructor(id: number, onMessage: (message: FromWorker) => void, startsDrained: boolean) {
    this.id = id;
    this.startsDrained = startsDrained;
    this.pid = 1000 + id;
    this.says = onMessage;
    this.exited = new Promise((resolve) => (this.#exit = resolve));
  }

  send(message: ToWorker): void {
    this.heard.push(message);
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.told.push(signal);
  }

  /** It takes calls, or says how it is. */
  isReady(readiness = WELL): void {
    this.says({ kind: 'state', ready: READY, readiness });
  }

  /** Resolves when everybody knows. */
  async ends(exit: WorkerExit = { code: null, signal: 'SIGKILL' }): Promise<void> {
    this.#exit(exit);
    await flushMicrotasks();
  }
}

/** All that were started, the first one first. */
export class FakeWorkers {
  readonly all: FakeWorker[] = [];

  readonly start: StartWorker = (onMessage, startsDrained) => {
    const worker = new FakeWorker(this.all.length + 1, onMessage, startsDrained);
    this.all.push(worker);
    return worker;
  };

  /** The one with this id. */
  get(id: number): FakeWorker {
    const worker = this.all[id - 1];
    if (worker === undefined) throw new RangeError(`no worker ${String(id)} was started`);
    return worker;
  }
}
