// The workers of a load as one: all are prepared, begin a run together, and are over when the last one is. Whatever a worker
// does, a run ends in bounded time.
import { linkAbort, waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { lengthOf, type ArrivalPlan } from './arrivals.ts';
import type { LoadWorker } from './worker-process.ts';
import type { WorkerOrder, WorkerReport, WorkerSecond } from './worker-messages.ts';

/** Until a worker is ready, ms: it loads its code on a machine that may be busy. */
const READY_LIMIT_MS = 30_000;
/** From now to the beginning of a run, ms: the order must have reached everybody. */
export const HEAD_START_MS = 200;
/** A call that is hung up is over within 5 s (its last RPC may take so long); a little more for the way. */
const HANG_UP_LIMIT_MS = 8000;

/** What a run needs. */
export interface FleetRun {
  readonly arrivals: ArrivalPlan;
  /** Calls at once that are expected. */
  readonly expectedCalls: number;
  /** Longest that calls may go on after the last one began, ms; then they are hung up. */
  readonly drainMs: number;
  /** Hangs all calls up: the run is over soon after. */
  readonly signal: AbortSignal;
  readonly onSecond: (worker: number, second: WorkerSecond) => void;
}

/** How a run ended: `whole`, or because of the signal. */
export type FleetRunEnd = 'whole' | 'interrupted';

/** The workers. `close` must be called. */
export class Fleet {
  readonly #clock: Clock;
  readonly #workers: readonly LoadWorker[];
  #heard: (worker: number, report: WorkerReport | { readonly kind: 'gone'; readonly why: string }) => void = () => undefined;

  /** @param start - starts one worker. */
  constructor(clock: Clock, count: number, start: () => LoadWorker) {
    this.#clock = clock;
    this.#workers = Array.from({ length: count }, (_, index) => {
      const worker = start();
      worker.listen(
        (report) => {
          this.#heard(index, report);
        },
        (why) => {
          this.#heard(index, { kind: 'gone', why });
        },
      );
      return worker;
    });
  }

  get size(): number {
    return this.#workers.length;
  }

  /** @throws AppError `internal` when a worker fails or is not ready in time. */
  async prepare(order: Extract<WorkerOrder, { kind: 'prepare' }>): Promise<void> {
    const ready = this.#all('ready', () => undefined);
    for (const worker of this.#workers) worker.send(order);
    if ((await waitAtMost(ready, READY_LIMIT_MS, this.#clock)).kind === 'timeout') {
      throw new AppError('internal', `a worker of the load was not ready within ${String(READY_LIMIT_MS / 1000)} s`);
    }
  }

  /**
   * Runs the arrivals to their end. Their clock begins a moment later.
   *
   * @throws AppError `internal` when a worker fails.
   */
  async run({ arrivals, expectedCalls, drainMs, signal, onSecond }: FleetRun): Promise<FleetRunEnd> {
    const over = this.#all('done', onSecond);
    const startAtMs = this.#clock.nowMs() + HEAD_START_MS;
    const { length: workers } = this.#workers;
    const plan = { ...arrivals, phases: [...arrivals.phases], weights: [...arrivals.weights] };
    for (const [worker, each] of this.#workers.entries()) {
      each.send({ kind: 'run', startAtMs, arrivals: plan, worker, workers, expectedCalls: Math.ceil(expectedCalls / workers) });
    }
    const waiting = linkAbort(signal);
    try {
      const waited = await waitAtMost(over, HEAD_START_MS + lengthOf(arrivals.phases) + drainMs, this.#clock, waiting.signal);
      if (waited.kind === 'value') return 'whole';
      for (const worker of this.#workers) worker.send({ kind: 'stop', hangUp: true });
      await waitAtMost(over, HANG_UP_LIMIT_MS, this.#clock);
      return waited.kind === 'aborted' ? 'interrupted' : 'whole';
    } finally {
      waiting.dispose();
      this.#heard = () => undefined;
    }
  }

  /** Ends all workers at once. */
  close(): void {
    for (const worker of this.#workers) worker.kill();
  }

  /** Resolves when every worker has said `word`; rejects when one fails. */
  #all(word: 'ready' | 'done', onSecond: FleetRun['onSecond']): Promise<void> {
    const left = new Set(this.#workers.keys());
    return new Promise((resolve, reject) => {
      this.#heard = (worker, report) => {
        if (report.kind === 'second') onSecond(worker, report);
        else if (report.kind === 'gone') reject(lost(worker, report.why));
        else if (report.kind === 'failed') reject(lost(worker, report.message));
        else if (report.kind === word && left.delete(worker) && left.size === 0) resolve();
      };
    });
  }
}

function lost(worker: number, why: string): AppError {
  return new AppError('internal', `worker ${String(worker + 1)} of the load failed: ${why}`);
}
