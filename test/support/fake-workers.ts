// Workers that are no processes: a test says what they tell and when they end, and reads what they were told.
import type { ReadySummary } from '../../src/app/app.ts';
import type { FromWorker, ToWorker, WorkerState } from '../../src/app/workers/messages.ts';
import type { StartWorker, WorkerEvents, WorkerExit, WorkerProcess } from '../../src/app/workers/worker-process.ts';

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
  },
};

/** Says that all is well. */
export const WELL: WorkerState = { readiness: { ready: true, reasons: [] }, openSessions: 0, openTurns: 0 };

/** One of them. */
export class FakeWorker implements WorkerProcess {
  readonly id: number;
  readonly pid: number;
  /** What it was sent. */
  readonly heard: ToWorker[] = [];
  /** What was done to it, in order. */
  readonly told: ('stop' | 'kill')[] = [];
  readonly #events: WorkerEvents;

  constructor(id: number, events: WorkerEvents) {
    this.id = id;
    this.pid = 1000 + id;
    this.#events = events;
  }

  send(message: ToWorker): void {
    this.heard.push(message);
  }

  stop(): void {
    this.told.push('stop');
  }

  kill(): void {
    this.told.push('kill');
  }

  says(message: FromWorker): void {
    this.#events.onMessage(message);
  }

  /** It takes calls. */
  isReady(state = WELL): void {
    this.says({ kind: 'ready', ready: READY, state });
  }

  ends(exit: WorkerExit = { code: null, signal: 'SIGKILL' }): void {
    this.#events.onExit(exit);
  }
}

/** All that were started, the first one first. */
export class FakeWorkers {
  readonly all: FakeWorker[] = [];

  readonly start: StartWorker = (events) => {
    const worker = new FakeWorker(this.all.length + 1, events);
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
