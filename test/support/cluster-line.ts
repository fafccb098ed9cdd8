// The way of one process to what the processes share: tests cut it, let it hang, or lose the answers.
import { AppError } from '../../src/base/errors.ts';
import type { CallDirectory } from '../../src/cluster/call-directory.ts';
import type { InstanceTable } from '../../src/cluster/instance-table.ts';

/** `answers_lost`: all is done, and nobody hears of it; `hanging`: nothing is done, and nobody hears of it, until it is `up` again. */
export type LineState = 'up' | 'away' | 'answers_lost' | 'hanging';

/** One way, up at first. */
export class ClusterLine {
  #state: LineState = 'up';
  #resume: (() => void)[] = [];

  get state(): LineState {
    return this.#state;
  }

  set state(state: LineState) {
    this.#state = state;
    if (state === 'hanging') return;
    for (const resume of this.#resume.splice(0)) resume();
  }

  /** The table, as it is seen over this line. */
  tableOf(table: InstanceTable): InstanceTable {
    return {
      beat: (entry, heard) => this.#through(() => table.beat(entry, heard)),
      notify: (id, taken) => this.#through(() => table.notify(id, taken)),
      remove: (gone) => this.#through(() => table.remove(gone)),
    };
  }

  /** The directory, as it is seen over this line. */
  directoryOf(directory: CallDirectory): CallDirectory {
    return {
      claim: (call, request) => this.#through(() => directory.claim(call, request)),
      find: (call) => this.#through(() => directory.find(call)),
      save: (call, saved) => this.#through(() => directory.save(call, saved)),
      register: (call, late) => this.#through(() => directory.register(call, late)),
      forget: (call, ownership) => this.#through(() => directory.forget(call, ownership)),
      touch: (call) => this.#through(() => directory.touch(call)),
    };
  }

  async #through<T>(work: () => Promise<T>): Promise<T> {
    if (this.#state === 'hanging') await new Promise<void>((resolve) => this.#resume.push(resolve));
    const isLost = this.#state === 'answers_lost';
    if (this.#state === 'away') throw new AppError('store_unavailable', 'the line is cut');
    const answer = await work();
    if (isLost) throw new AppError('store_unavailable', 'the answer was lost');
    return answer;
  }
}
