// The workers of one server: starts them, replaces ended ones, kills hung ones, queries all of them, and stops them. Knows neither the work
// of a worker nor how a process is started.
import { pause, waitAtMost } from '../../base/abort.ts';
import { every, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { DRAINING, type Readiness, type ReadinessState } from '../../ops/readiness.ts';
import type { WorkerCounts, WorkersMetrics } from '../../telemetry/workers-metrics.ts';
import type { ReadySummary } from '../ready-summary.ts';
import type { Question } from '../console/questions.ts';
import type { Command, Controlled } from '../control/commands.ts';
import { RELOAD_LIMIT_MS } from '../control/reloading.ts';
import type { FromWorker, ToWorker, WorkerAnswer } from './messages.ts';
import type { StartWorker, WorkerProcess } from './worker-process.ts';

/** Interval of a worker's state reports, ms. */
export const STATE_PERIOD_MS = 1000;
/** Number of missed reports after which a worker, with all its calls, counts as hung. */
const SILENT_PERIODS = 10;
/** Limit for the answers to one question, ms: shorter than HTTP clients usually wait. */
const ANSWER_MS = 2000;
/** Limit for the answers to a reload, ms. */
const RELOAD_MS = RELOAD_LIMIT_MS + ANSWER_MS;
/** The pause before a worker is replaced doubles with each worker that ended within the window, ms. */
const [WINDOW_MS, FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [60_000, 100, 5000];

export interface WorkersOptions {
  /** The number of workers to run. */
  readonly size: number;
  readonly startWorker: StartWorker;
  readonly metrics: Pick<WorkersMetrics, 'read' | 'ended'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Commands to send to a worker when it begins to take calls. */
  readonly standing: () => readonly Command[];
  /** Called when workers keep ending and none takes calls. The callee stops the workers. */
  readonly onHopeless: () => void;
}

interface Worker {
  readonly process: WorkerProcess;
  readonly startsDrained: boolean;
  /** Undefined while the worker is starting. */
  readiness?: ReadinessState;
  /** Number of missed reports. No time, because this process itself may stand still. A starting worker has other limits. */
  silentPeriods: number;
  /** Unanswered questions. When a worker ends, its questions are answered with undefined. */
  readonly asked: Map<number, (answer: WorkerAnswer | undefined) => void>;
}

/** The workers. Call `start` once, and `stop`. */
export class Workers implements Pick<Readiness, 'current'> {
  readonly #options: WorkersOptions;
  readonly #running = new Set<Worker>();
  readonly #stop = new AbortController();
  #slots: readonly Promise<void>[] = [];
  /** Set while the workers are starting. */
  #starting: { readonly done: (ready: ReadySummary) => void; readonly fail: (error: AppError) => void } | undefined;
  /** When workers ended, monotonic ms, oldest first. */
  #endsMs: readonly number[] = [];
  #lastQuestion = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /**
   * Starts the workers. Resolves with the report of one of them as soon as all take calls.
   *
   * @param signal - aborting it stops the workers.
   * @throws AppError the error of a worker's start, `internal` when workers end without a message, `shutting_down` when they are stopped.
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

  /** Whether this server may get new calls: yes while at least one worker may. */
  get current(): ReadinessState {
    if (this.#stop.signal.aborted) return { ready: false, reasons: [DRAINING] };
    if (this.#starting === undefined && this.counts.ready > 0) return { ready: true, reasons: [] };
    const reasons = [...this.#running].flatMap(({ readiness }) => readiness?.reasons ?? []);
    return { ready: false, reasons: reasons.length === 0 ? ['starting'] : [...new Set(reasons)] };
  }

  /** The number of workers in each state. */
  get counts(): WorkerCounts {
    const among = (is?: boolean): number => [...this.#running].filter(({ readiness }) => readiness?.ready === is).length;
    return { ready: among(true), starting: among() };
  }

  /** Asks all workers that have started, including draining ones. @returns the answers that came in time. Never rejects. */
  async ask(question: Question): Promise<readonly WorkerAnswer[]> {
    return this.#askAll((id) => ({ kind: 'ask', id, question }), ANSWER_MS);
  }

  /** Passes a command to all workers that have started. Never rejects. */
  async command(command: Command): Promise<Pick<Controlled, 'processes' | 'silent'>> {
    const asked = [...this.#running].filter(({ readiness }) => readiness !== undefined).length;
    const answers = await this.#askAll((id) => ({ kind: 'command', id, command }), command.kind === 'reload' ? RELOAD_MS : ANSWER_MS);
    const processes = answers.flatMap(({ controlled }) => controlled ?? []);
    return { processes, silent: asked - processes.length };
  }

  async #askAll(message: (id: number) => ToWorker, limitMs: number): Promise<readonly WorkerAnswer[]> {
    return (await Promise.all([...this.#running].map((worker) => this.#askOne(worker, message, limitMs)))).flat();
  }

  /** Asks one worker, and another one when the first does not answer in time. Undefined when neither answers. Never rejects. */
  async askAny(question: Question): Promise<WorkerAnswer | undefined> {
    const serving = [...this.#running].filter(({ readiness }) => readiness !== undefined);
    for (const worker of serving.slice(0, 2)) {
      const [answer] = await this.#askOne(worker, (id) => ({ kind: 'ask', id, question }), ANSWER_MS);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  async #askOne(
    { process, readiness, asked }: Worker,
    message: (id: number) => ToWorker,
    limitMs: number,
  ): Promise<readonly WorkerAnswer[]> {
    if (readiness === undefined) return [];
    const id = ++this.#lastQuestion;
    const answer = new Promise<WorkerAnswer | undefined>((resolve) => asked.set(id, resolve));
    process.send(message(id));
    const waited = await waitAtMost(answer, limitMs, this.#options.clock);
    asked.delete(id);
    return waited.kind === 'value' && waited.value !== undefined ? [waited.value] : [];
  }

  /** Stops every worker, and waits until it has finished its calls within its own limits. Idempotent; never throws. */
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

  /** Keeps one worker running by replacing it, until the workers are stopped or restarting is pointless. */
  async #keepOne(): Promise<void> {
    const { startWorker, standing, clock, log } = this.#options;
    while (!this.#stop.signal.aborted) {
      const startsDrained = standing().some(isDrain);
      const process = startWorker((message) => {
        this.#onMessage(worker, message);
      }, startsDrained);
      const worker: Worker = { process, startsDrained, silentPeriods: -Infinity, asked: new Map() };
      this.#running.add(worker);
      log.info({ worker: process.id, pid: process.pid }, 'a worker starts');
      const pauseMs = this.#pauseAfter(worker, await process.exited);
      if (pauseMs === undefined) return;
      await pause(pauseMs, clock, this.#stop.signal);
    }
  }

  /** The pause before a replacement, ms, so that workers that fail at once do not take all the CPU; undefined: no replacement. */
  #pauseAfter(worker: Worker, exit: Awaited<WorkerProcess['exited']>): number | undefined {
    const { size, metrics, clock, log, onHopeless } = this.#options;
    const { id, pid } = worker.process;
    this.#running.delete(worker);
    for (const settle of worker.asked.values()) settle(undefined);
    metrics.ended(id, this.#stop.signal.aborted);
    if (this.#stop.signal.aborted) return undefined;
    const limit = Math.max(10, 3 * size);
    const nowMs = clock.monotonicMs();
    this.#endsMs = [...this.#endsMs.filter((endMs) => nowMs - endMs < WINDOW_MS), nowMs].slice(-limit - 1);
    const recentEnds = this.#endsMs.length;
    // While other workers take calls, ending those would help nobody. A start that cannot succeed would otherwise never finish.
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
    const { size, metrics, standing, log } = this.#options;
    const { id, pid } = worker.process;
    worker.silentPeriods = 0;
    if (message.kind === 'state') {
      if (worker.readiness === undefined) {
        log.info({ worker: id, pid, address: message.ready.address }, 'a worker takes calls');
        const commands = standing();
        const undrain: readonly Command[] = worker.startsDrained && !commands.some(isDrain) ? [{ kind: 'undrain' }] : [];
        for (const command of [...undrain, ...commands]) worker.process.send({ kind: 'command', id: ++this.#lastQuestion, command });
      }
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
      // The same error would stop every worker until a person fixes it, so it fails the start as a whole.
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

const isDrain = ({ kind }: Command): boolean => kind === 'drain';
