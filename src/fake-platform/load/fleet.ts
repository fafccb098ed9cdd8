// The workers of a load together: all are made ready, begin a run together, and the run ends when the last one is done. Whatever a worker
// does, a run ends in bounded time. A lost worker makes its run invalid, and is replaced before the next run.
import { waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { lengthOf, type ArrivalPlan } from './arrivals.ts';
import type { LoadWorker } from './worker-process.ts';
import type { PrepareOrder, WorkerReport, WorkerSecond } from './worker-messages.ts';

/** Longest wait until a worker is ready, ms: it loads its code, maybe on a busy machine. */
const READY_LIMIT_MS = 30_000;
/** Time from the order to the beginning of a run, ms: enough for the order to reach all workers. */
export const HEAD_START_MS = 200;
/** Longest wait after an order to hang up, ms: a call is over within 5 s, the limit of its last RPC; the rest is for messages. */
const HANG_UP_LIMIT_MS = 8000;

export interface FleetRun {
  readonly arrivals: ArrivalPlan;
  readonly expectedCalls: number;
  /** Longest time after the last arrival, ms; calls that still run then hang up. */
  readonly drainMs: number;
  /** Whether calls hang up earlier: as soon as all waits that began before the last arrival have ended. Default false. */
  readonly endsWhenAnswered?: boolean;
  /** Makes all calls hang up, so that the run ends soon. */
  readonly signal: AbortSignal;
  readonly onSecond: (worker: number, second: WorkerSecond) => void;
}

export interface FleetRunEnd {
  /** Whether the signal ended the run. */
  readonly isInterrupted: boolean;
  /** A sentence for each worker that did not run its calls to the end: the measurement is incomplete. */
  readonly lost: readonly string[];
}

/** A worker, and its index in the fleet. */
interface Member {
  readonly index: number;
  readonly worker: LoadWorker;
  /** Why the worker is unusable; undefined while it works. */
  whyLost: string | undefined;
}

/** The workers. `close` must be called. */
export class Fleet {
  readonly #clock: Clock;
  readonly #start: () => LoadWorker;
  readonly #members: Member[];
  /** The last order of `prepare`, which replacement workers get, too. */
  #order: PrepareOrder | undefined;
  #heard: (member: Member, report: WorkerReport) => void = () => undefined;

  /** @param start - starts one worker. */
  constructor(clock: Clock, count: number, start: () => LoadWorker) {
    this.#clock = clock;
    this.#start = start;
    this.#members = Array.from({ length: count }, (_, index) => this.#begin(index));
  }

  get size(): number {
    return this.#members.length;
  }

  /**
   * Makes all workers ready.
   * @param signal - ends the wait, after which the fleet is unusable.
   * @returns whether all workers are ready; false: the signal has aborted.
   * @throws AppError `internal` when a worker fails or is not ready in time.
   */
  async prepare(order: PrepareOrder, signal: AbortSignal): Promise<boolean> {
    this.#order = order;
    const isReady = await this.#getReady(this.#members, order, signal);
    const [why] = this.#lost;
    if (why !== undefined) throw new AppError('internal', why);
    return isReady;
  }

  /** Replaces lost workers. A new worker that is not ready in time is lost in the next run, too. */
  async mend(signal: AbortSignal): Promise<void> {
    const lost = this.#members.filter(({ whyLost }) => whyLost !== undefined);
    if (lost.length === 0 || this.#order === undefined) return;
    const others = lost.map(({ index }) => this.#begin(index));
    for (const other of others) this.#members[other.index] = other;
    await this.#getReady(others, this.#order, signal);
  }

  /**
   * Runs the arrivals to their end; the run begins {@link HEAD_START_MS} after the call. When a worker is lost, the others hang up, because
   * the measurement is invalid.
   */
  async run({ arrivals, expectedCalls, drainMs, endsWhenAnswered = false, signal, onSecond }: FleetRun): Promise<FleetRunEnd> {
    const startAtMs = this.#clock.nowMs() + HEAD_START_MS;
    const { length: workers } = this.#members;
    const held = new Set(this.#members);
    try {
      const over = this.#until('done', held, { onSecond, endsWithLoss: true });
      for (const { worker, index } of held) {
        const share = { worker: index, workers, expectedCalls: Math.ceil(expectedCalls / workers) };
        worker.send({ kind: 'run', startAtMs, arrivals, ...share, endsWhenAnswered });
      }
      const limitMs = HEAD_START_MS + lengthOf(arrivals.phases) + drainMs;
      await waitAtMost(over, limitMs, this.#clock, signal);
      for (const { worker } of held) worker.send({ kind: 'stop' });
      await waitAtMost(this.#until('done', held, { onSecond, endsWithLoss: false }), HANG_UP_LIMIT_MS, this.#clock);
      // Such a worker may still run calls, and would then fail at the next order.
      for (const member of held) lose(member, `did not hang up within ${String(HANG_UP_LIMIT_MS / 1000)} s`);
      return { isInterrupted: signal.aborted, lost: this.#lost };
    } finally {
      this.#heard = () => undefined;
    }
  }

  /** Ends all workers at once. */
  close(): void {
    for (const { worker } of this.#members) worker.kill();
  }

  get #lost(): readonly string[] {
    return this.#members.flatMap(({ whyLost }) => whyLost ?? []);
  }

  #begin(index: number): Member {
    const member: Member = { index, worker: this.#start(), whyLost: undefined };
    const hear = (report: WorkerReport): void => {
      if (report.kind === 'failed') lose(member, `failed: ${report.message}`);
      // A replaced worker is no longer listened to.
      if (this.#members[index] === member) this.#heard(member, report);
    };
    member.worker.listen(hear, (why) => hear({ kind: 'failed', message: why }));
    return member;
  }

  async #getReady(members: readonly Member[], order: PrepareOrder, signal: AbortSignal): Promise<boolean> {
    const left = new Set(members);
    const ready = this.#until('ready', left, { onSecond: () => undefined, endsWithLoss: true });
    for (const { worker } of members) worker.send(order);
    const waited = await waitAtMost(ready, READY_LIMIT_MS, this.#clock, signal);
    if (waited.kind === 'timeout') for (const member of left) lose(member, `was not ready within ${String(READY_LIMIT_MS / 1000)} s`);
    return waited.kind === 'value';
  }

  /**
   * Resolves when every worker in `left` has reported `word` or is lost. Removes such workers from `left`.
   * @param endsWithLoss - also resolves as soon as one worker is lost.
   */
  #until(
    word: 'ready' | 'done',
    left: Set<Member>,
    { onSecond, endsWithLoss }: { readonly onSecond: FleetRun['onSecond']; readonly endsWithLoss: boolean },
  ): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        const lost = [...left].filter(({ whyLost }) => whyLost !== undefined);
        for (const member of lost) left.delete(member);
        if (left.size === 0 || (endsWithLoss && lost.length > 0)) resolve();
      };
      this.#heard = (member, report) => {
        if (report.kind === 'second') onSecond(member.index, report);
        if (report.kind === word) left.delete(member);
        settle();
      };
      settle();
    });
  }
}

/** Marks a worker as lost, and ends it. Only the first reason counts. */
function lose(member: Member, why: string): void {
  if (member.whyLost !== undefined) return;
  member.whyLost = `worker ${String(member.index + 1)} of the load ${why}`;
  member.worker.kill();
}
