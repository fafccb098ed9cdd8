// Questions to several processes at once: collects the answers that come in time. A process that ends is not waited for.
import { waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Answer, Question } from './messages.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Longest wait for the answers to one question, ms. Who asks over HTTP has some seconds. */
const ANSWER_MS = 2000;
/** Most questions that may be open; whoever asks beyond them gets no answer. */
const MAX_OPEN = 100;

interface OpenQuestion {
  readonly waitsFor: Set<number>;
  readonly answers: Map<number, Answer>;
  readonly done: () => void;
}

/** Asks and waits. */
export class Questions {
  readonly #clock: Clock;
  readonly #open = new Map<number, OpenQuestion>();
  #lastId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns what came in time, by process. Never rejects. */
  async ask(question: Question, processes: readonly WorkerProcess[]): Promise<ReadonlyMap<number, Answer>> {
    const answers = new Map<number, Answer>();
    if (processes.length === 0 || this.#open.size >= MAX_OPEN) return answers;
    const id = ++this.#lastId;
    const all = new Promise<void>((done) => {
      this.#open.set(id, { waitsFor: new Set(processes.map((process) => process.id)), answers, done });
    });
    for (const process of processes) process.send({ kind: 'ask', id, question });
    await waitAtMost(all, ANSWER_MS, this.#clock);
    this.#open.delete(id);
    return answers;
  }

  /** @param answer - undefined: the process could not answer. */
  answered(id: number, worker: number, answer: Answer | undefined): void {
    const open = this.#open.get(id);
    if (open?.waitsFor.delete(worker) !== true) return;
    if (answer !== undefined) open.answers.set(worker, answer);
    if (open.waitsFor.size === 0) open.done();
  }

  /** A process has ended and answers nothing any more. */
  gone(worker: number): void {
    for (const id of [...this.#open.keys()]) this.answered(id, worker, undefined);
  }

  /** Nobody is waited for any longer. */
  close(): void {
    for (const { done } of this.#open.values()) done();
  }
}
