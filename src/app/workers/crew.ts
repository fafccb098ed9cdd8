// The workers of one server: starts them, replaces those that end or hang, asks them what they know, and stops them. What a
// worker does, how a process is started and who asks, it does not know.
import { waitAtMost } from '../../base/abort.ts';
import { every, type CancelTimer, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { DRAINING, type ReadinessState } from '../../ops/readiness.ts';
import type { ReadySummary } from '../app.ts';
import type { Answer, FromWorker, Question, WorkerState } from './messages.ts';
import { Questions } from './questions.ts';
import { Restarts } from './restarts.ts';
import type { StartWorker, WorkerExit, WorkerProcess } from './worker-process.ts';

/** What a crew is made of. */
export interface CrewOptions {
  /** How many workers there are when all is well. */
  readonly size: number;
  readonly startWorker: StartWorker;
  readonly clock: Clock;
  readonly log: Logger;
  /** Longest time from being asked to stop to the end of a worker, ms; then it is killed. */
  readonly stopLimitMs: number;
  /** Workers end again and again, and none takes calls. Whoever hears it stops the crew. */
  readonly onHopeless: () => void;
  /** A worker has ended. */
  readonly onGone: (worker: number, isExpected: boolean) => void;
}

/** How often each worker says how it is, ms. */
export const STATE_PERIOD_MS = 1000;
/** So many looks without a word, one a second: it does not count as one that takes calls. */
const SILENT_LOOKS = 10;
/** So many: its event loop stands still, and with it all its calls. */
const STUCK_LOOKS = 30;
/** Longest start of a worker, in looks: the platform may be asked, and not answer, for as long. */
const START_LOOKS = 600;
/** Longest wait for the end of processes that were killed, ms. */
const KILLED_MS = 5000;

interface Member {
  readonly process: WorkerProcess;
  /** Undefined: it starts. */
  state?: WorkerState;
  /** Looks since it last said something. Counted, not timed: when this process itself stood still, nobody else is silent. */
  silentLooks: number;
  isKilled: boolean;
  /** It drains by itself, and was told to leave new connections to the others. */
  isAside: boolean;
}

type Phase = 'starting' | 'running' | 'stopping';

/** Whoever makes it starts it once and stops it. */
export class Crew {
  readonly #options: CrewOptions;
  readonly #restarts: Restarts;
  readonly #questions: Questions;
  readonly #members = new Map<number, Member>();
  readonly #pauses = new Set<CancelTimer>();
  #phase: Phase = 'starting';
  #began: (ready: ReadySummary) => void = () => undefined;
  #failed: (error: AppError) => void = () => undefined;
  #lastGone: () => void = () => undefined;
  #cancelLooks: CancelTimer = () => undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.#restarts = new Restarts({ clock: options.clock, workers: options.size });
    this.#questions = new Questions(options.clock);
  }

  /**
   * Starts the workers. Resolves with what the first one says of itself as soon as all of them take calls.
   *
   * @throws AppError what a worker could not start for, `internal` when they end without a word, `shutting_down` when `signal`
   *   aborts. The crew is to be stopped then.
   */
  async start(signal: AbortSignal): Promise<ReadySummary> {
    const ready = new Promise<ReadySummary>((resolve, reject) => {
      this.#began = resolve;
      this.#failed = reject;
    });
    const giveUp = (): void => {
      this.#failed(new AppError('shutting_down', 'the start was given up'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    else for (let started = 0; started < this.#options.size; started += 1) this.#start();
    this.#cancelLooks = every(this.#options.clock, STATE_PERIOD_MS, () => {
      this.#look();
    });
    try {
      return await ready;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** May this server be given new calls? Yes while one worker may. */
  get readiness(): ReadinessState {
    if (this.#phase === 'stopping') return { ready: false, reasons: [DRAINING] };
    if (this.#phase === 'starting') return { ready: false, reasons: ['starting'] };
    if (this.#takers > 0) return { ready: true, reasons: [] };
    const reasons = [...this.#members.values()].flatMap((member) => {
      if (member.state === undefined) return ['starting'];
      return isHeard(member) ? member.state.readiness.reasons : ['a worker does not answer'];
    });
    return { ready: false, reasons: reasons.length === 0 ? ['no worker runs'] : [...new Set(reasons)] };
  }

  /** Whether this worker has not ended. */
  has(worker: number): boolean {
    return this.#members.has(worker);
  }

  /** Workers by what they do now. */
  get counts(): { readonly ready: number; readonly starting: number; readonly silent: number } {
    const members = [...this.#members.values()];
    const starting = members.filter(({ state }) => state === undefined).length;
    const silent = members.filter((member) => member.state !== undefined && !isHeard(member)).length;
    return { ready: this.#takers, starting, silent };
  }

  get openSessions(): number {
    return this.#sum(({ openSessions }) => openSessions);
  }

  get openTurns(): number {
    return this.#sum(({ openTurns }) => openTurns);
  }

  /** Asks all workers that take calls or finish some. @returns what came in time, by worker. */
  ask(question: Question): Promise<ReadonlyMap<number, Answer>> {
    const members = [...this.#members.values()].filter((member) => member.state !== undefined && isHeard(member));
    return this.#questions.ask(
      question,
      members.map(({ process }) => process),
    );
  }

  /** Has every worker read anew what may change. */
  reload(): void {
    for (const { process } of this.#members.values()) process.send({ kind: 'reload' });
  }

  /** Asks every worker to finish its calls, and kills those that do not end in time. Idempotent; never throws. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const { clock, log, stopLimitMs } = this.#options;
    this.#phase = 'stopping';
    this.#cancelLooks();
    for (const cancel of this.#pauses) cancel();
    this.#pauses.clear();
    const gone = new Promise<void>((resolve) => (this.#lastGone = resolve));
    for (const { process } of this.#members.values()) process.stop();
    this.#tellWhenGone();
    if ((await waitAtMost(gone, stopLimitMs, clock)).kind !== 'value') {
      log.warn({ workers: [...this.#members.keys()], limitMs: stopLimitMs }, 'workers did not end in time and are killed');
      for (const { process } of this.#members.values()) process.kill();
      await waitAtMost(gone, KILLED_MS, clock);
    }
    this.#questions.close();
  }

  get #takers(): number {
    return [...this.#members.values()].filter((member) => member.state?.readiness.ready === true && isHeard(member)).length;
  }

  #sum(of: (state: WorkerState) => number): number {
    return [...this.#members.values()].reduce((sum, { state }) => sum + (state === undefined ? 0 : of(state)), 0);
  }

  #start(): void {
    const process = this.#options.startWorker({
      onMessage: (message) => {
        const member = this.#members.get(process.id);
        if (member !== undefined) this.#heard(member, message);
      },
      onExit: (exit) => {
        this.#ended(process, exit);
      },
    });
    this.#members.set(process.id, { process, silentLooks: 0, isKilled: false, isAside: false });
    this.#options.log.info({ worker: process.id, pid: process.pid }, 'a worker starts');
  }

  #heard(member: Member, message: FromWorker): void {
    const { id } = member.process;
    switch (message.kind) {
      case 'ready':
        this.#options.log.info({ worker: id, pid: member.process.pid, address: message.ready.address }, 'a worker takes calls');
        this.#listen(member, message.state);
        if (this.#phase === 'starting' && [...this.#members.values()].every(({ state }) => state !== undefined))
          this.#allReady(message.ready);
        return;
      case 'failed': {
        const { code, message: text, details } = message.failure;
        const error = new AppError(code, text, { details });
        // What keeps one from starting keeps all of them, until a person has mended it.
        if (this.#phase === 'starting') this.#failed(error);
        else this.#options.log.error({ worker: id, err: error }, 'a worker could not start');
        return;
      }
      case 'state':
        this.#listen(member, message.state);
        return;
      case 'answer':
        this.#questions.answered(message.id, id, message.answer);
    }
  }

  #listen(member: Member, state: WorkerState): void {
    member.state = state;
    member.silentLooks = 0;
    // Connections would go on being dealt out to one that drains, and meet refusals there which the others would not give.
    if (this.#phase !== 'running' || member.isAside || !state.readiness.reasons.includes(DRAINING) || this.#takers === 0) return;
    member.isAside = true;
    member.process.send({ kind: 'step_aside' });
  }

  #allReady(ready: ReadySummary): void {
    if (this.#members.size < this.#options.size) return;
    this.#phase = 'running';
    this.#began(ready);
  }

  #ended({ id, pid }: WorkerProcess, exit: WorkerExit): void {
    this.#members.delete(id);
    this.#questions.gone(id);
    this.#options.onGone(id, this.#phase === 'stopping');
    if (this.#phase === 'stopping') {
      this.#tellWhenGone();
      return;
    }
    const { recentEnds, pauseMs, isTooOften } = this.#restarts.next();
    const { log, clock } = this.#options;
    // While others take calls, ending them would help nobody. During the start nobody counts on them yet, and it would never end.
    if (isTooOften && (this.#takers === 0 || this.#phase === 'starting')) {
      log.error({ worker: id, pid, ...exit, recentEnds }, 'workers end again and again: the server gives up');
      this.#hopeless();
      return;
    }
    log.warn({ worker: id, pid, ...exit, recentEnds, pauseMs }, 'a worker ended; another one takes its place');
    const cancel = clock.after(pauseMs, () => {
      this.#pauses.delete(cancel);
      this.#start();
    });
    this.#pauses.add(cancel);
  }

  #hopeless(): void {
    if (this.#phase === 'starting') this.#failed(new AppError('internal', 'workers end before they take calls; the log says how'));
    else this.#options.onHopeless();
  }

  #look(): void {
    for (const member of this.#members.values()) {
      member.silentLooks += 1;
      if (member.isKilled || member.silentLooks < (member.state === undefined ? START_LOOKS : STUCK_LOOKS)) continue;
      member.isKilled = true;
      const { id: worker, pid } = member.process;
      this.#options.log.warn({ worker, pid, silentSeconds: member.silentLooks }, 'a worker does not answer and is killed');
      member.process.kill();
    }
  }

  #tellWhenGone(): void {
    if (this.#members.size === 0) this.#lastGone();
  }
}

function isHeard({ silentLooks }: Member): boolean {
  return silentLooks < SILENT_LOOKS;
}
