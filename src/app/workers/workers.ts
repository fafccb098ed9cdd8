// The workers of one server: starts them, starts those again that end, kills those that hang, asks them what they know, and
// stops them. What a worker does, how a process is started and who asks, it does not know.
import { pause, waitAtMost } from '../../base/abort.ts';
import { every, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { DRAINING, type Readiness, type ReadinessState } from '../../ops/readiness.ts';
import type { WorkerCounts, WorkersMetrics } from '../../telemetry/workers-metrics.ts';
import type { ReadySummary } from '../ready-summary.ts';
import type { Answer, FromWorker, Question } from './messages.ts';
import type { StartWorker, WorkerProcess } from './worker-process.ts';

/** How often a worker says how it is, ms. */
export const STATE_PERIOD_MS = 1000;
/** So many periods without a word, and its event loop stands still, and with it all its calls. */
const SILENT_PERIODS = 10;
/** Longest wait for the answers to one question, ms. Who asks over HTTP has some seconds. */
const ANSWER_MS = 2000;
/** The pause before a worker is replaced doubles with each end within the window, ms. */
const [WINDOW_MS, FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [60_000, 100, 5000];

export interface WorkersOptions {
  /** How many there are when all is well. */
  readonly size: number;
  readonly startWorker: StartWorker;
  readonly metrics: Pick<WorkersMetrics, 'read' | 'ended'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Workers end again and again, and none takes calls. Whoever is called stops them. */
  readonly onHopeless: () => void;
}

interface Worker {
  readonly process: WorkerProcess;
  /** Undefined: it starts. */
  readiness?: ReadinessState;
  /** Counted, not timed: when this process itself stood still, nobody else is silent. What a start waits for has its own limits. */
  silentPeriods: number;
  /** What it was asked and has not answered. */
  readonly asked: Map<number, (answer: Answer) => void>;
}

/** Whoever makes it starts it once and stops it. */
export class Workers implements Pick<Readiness, 'current'> {
  readonly #options: WorkersOptions;
  readonly #running = new Set<Worker>();
  readonly #stop = new AbortController();
  #slots: readonly Promise<void>[] = [];
  /** Undefined: they do not start, or all of them have taken calls. */
  #starting: { readonly done: (ready: ReadySummary) => void; readonly fail: (error: AppError) => void } | undefined;
  /** When workers ended, monotonic ms, the oldest first. */
  #endsMs: readonly number[] = [];
  #lastQuestion = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /**
   * Starts the workers, and says what one of them says of itself as soon as all of them take calls.
   *
   * @param signal - stops them, too.
   * @throws AppError what a worker could not start for, `internal` when they end without a word, `shutting_down` when they stop.
   */
  start(signal: AbortSignal): Promise<ReadySummary> {
    const { size, clock } = this.#options;
    const started = new Promise<ReadySummary>((done, fail) => (this.#starting = { done, fail }));
    signal.addEventListener('abort', () => void this.stop(), { once: true, signal: this.#stop.signal });
    if (signal.aborted) void this.stop();
    this.#slots = Array.from({ length: size }, () => this.#keepOne());
    const cancelWatch = every(clock, STATE_PERIOD_MS, this.#killSilent.bind(this));
    void Promise.all(this.#slots).then(cancelWatch);
    return started;
  }

  /** May this server be given new calls? Yes while one worker may. */
  get current(): ReadinessState {
    if (this.#stop.signal.aborted) return { ready: false, reasons: [DRAINING] };
    if (this.#starting === undefined && this.counts.ready > 0) return { ready: true, reasons: [] };
    const reasons = [...this.#running].flatMap(({ readiness }) => readiness?.reasons ?? []);
    return { ready: false, reasons: reasons.length === 0 ? ['starting'] : [...new Set(reasons)] };
  }

  /** Workers by what they do now. */
  get counts(): WorkerCounts {
    const among = (is?: boolean): number => [...this.#running].filter(({ readiness }) => readiness?.ready === is).length;
    return { ready: among(true), starting: among() };
  }

  /** Asks all workers that take calls or finish some. @returns what came in time. Never rejects. */
  async ask(question: Question): Promise<readonly Answer[]> {
    const id = ++this.#lastQuestion;
    const answers = [...this.#running].map(async ({ process, readiness, asked }) => {
      if (readiness === undefined) return [];
      const answer = new Promise<Answer>((resolve) => asked.set(id, resolve));
      process.send({ kind: 'ask', id, question });
      const waited = await waitAtMost(answer, ANSWER_MS, this.#options.clock);
      asked.delete(id);
      return waited.kind === 'value' ? waited.value : [];
    });
    return (await Promise.all(answers)).flat();
  }

  /** Has every worker read anew what may change. */
  reload(): void {
    for (const { process } of this.#running) process.send({ kind: 'reload' });
  }

  /** Has every worker finish its calls within its own limits, and waits for it. Idempotent; never throws. */
  async stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#stop.abort();
      this.#starting?.fail(new AppError('shutting_down', 'the start was given up'));
      for (const worker of this.#running) {
        worker.silentPeriods = 0;
        worker.process.send({ kind: 'all_stop' });
        worker.process.kill('SIGTERM');
      }
    }
    await Promise.allSettled(this.#slots);
  }

  /** Runs one worker after the other, until they are stopped or there is no hope. */
  async #keepOne(): Promise<void> {
    const { startWorker, clock, log } = this.#options;
    while (!this.#stop.signal.aborted) {
      const process = startWorker((message) => {
        this.#onMessage(worker, message);
      });
      const worker: Worker = { process, silentPeriods: -Infinity, asked: new Map() };
      this.#running.add(worker);
      log.info({ worker: process.id, pid: process.pid }, 'a worker starts');
      const pauseMs = this.#pauseAfter(worker, await process.exited);
      if (pauseMs === undefined) return;
      await pause(pauseMs, clock, this.#stop.signal);
    }
  }

  /** How long to wait before it is replaced, ms: workers that cannot live must not take the machine from those that can. */
  #pauseAfter(worker: Worker, exit: Awaited<WorkerProcess['exited']>): number | undefined {
    const { size, metrics, clock, log, onHopeless } = this.#options;
    const { id, pid } = worker.process;
    this.#running.delete(worker);
    metrics.ended(id, this.#stop.signal.aborted);
    if (this.#stop.signal.aborted) return undefined;
    const limit = Math.max(10, 3 * size);
    const nowMs = clock.monotonicMs();
    this.#endsMs = [...this.#endsMs.filter((endMs) => nowMs - endMs < WINDOW_MS), nowMs].slice(-limit - 1);
    const recentEnds = this.#endsMs.length;
    // While others take calls, ending them would help nobody. During the start nobody counts on them yet, and it would never end.
    if (recentEnds > limit && (this.#starting !== undefined || this.counts.ready === 0)) {
      log.error({ worker: id, pid, ...exit, recentEnds }, 'workers end again and again: the server gives up');
      this.#starting?.fail(new AppError('internal', 'workers end before they take calls; the log says how'));
      onHopeless();
      return undefined;
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (recentEnds - 1), LONGEST_PAUSE_MS);
    log.warn({ worker: id, pid, ...exit, recentEnds, pauseMs }, 'a worker ended; another one takes its place');
    return pauseMs;
  }

  #onMessage(worker: Worker, message: FromWorker): void {
    const { size, metrics, log } = this.#options;
    const { id, pid } = worker.process;
    worker.silentPeriods = 0;
    if (message.kind === 'state') {
      if (worker.readiness === undefined) log.info({ worker: id, pid, address: message.ready.address }, 'a worker takes calls');
      worker.readiness = message.readiness;
      if (this.#running.size === size && this.counts.starting === 0) {
        this.#starting?.done(message.ready);
        this.#starting = undefined;
      }
    } else if (message.kind === 'answer') {
      if (message.answer.metrics !== undefined) metrics.read(id, message.answer.metrics);
      worker.asked.get(message.id)?.(message.answer);
    } else {
      const error = new AppError(message.code, message.message, { details: message.details });
      // What keeps one from starting keeps all of them, until a person has mended it.
      if (this.#starting === undefined) log.error({ worker: id, err: error }, 'a worker could not start');
      this.#starting?.fail(error);
    }
  }

  #killSilent(): void {
    for (const worker of this.#running) {
      if (++worker.silentPeriods !== SILENT_PERIODS) continue;
      this.#options.log.warn({ worker: worker.process.id, pid: worker.process.pid }, 'a worker does not answer and is killed');
      worker.process.kill('SIGKILL');
    }
  }
}
