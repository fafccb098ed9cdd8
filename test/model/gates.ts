// Promises that wait until the program lets them go on: between the engine and its voice, recognizer and bot. The
// order in which they are answered is part of the program.

interface Waiting {
  readonly label: string;
  readonly answer: () => void;
  /** Undefined for what cannot fail. */
  readonly refuse: ((error: Error) => void) | undefined;
}

/** All promises of one run that wait. */
export class Gates {
  /** True: whatever comes is answered at once. */
  isOpen = false;
  readonly #waiting: Waiting[] = [];
  readonly #note: (line: () => string) => void;

  constructor(note: (line: () => string) => void) {
    this.#note = note;
  }

  /** Lets `work` happen when the gate is answered. */
  pass<T>(label: string, work: () => T | Promise<T>, canFail = false): Promise<T> {
    if (this.isOpen) return Promise.resolve(work());
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        label,
        answer: () => {
          resolve(work());
        },
        refuse: canFail ? reject : undefined,
      });
    });
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether one with such a label waits. */
  isWaiting(label: RegExp): boolean {
    return this.#waiting.some((waiting) => label.test(waiting.label));
  }

  /** Answers one; false when nothing waits. */
  answer(pick: number): boolean {
    const [waiting] = this.#waiting.splice(pick % Math.max(1, this.#waiting.length), 1);
    if (waiting === undefined) return false;
    this.#note(() => `${waiting.label} goes on`);
    waiting.answer();
    return true;
  }

  /** Lets one fail that can; false when there is none. */
  refuse(pick: number): boolean {
    const failing = this.#waiting.filter(({ refuse }) => refuse !== undefined);
    const waiting = failing[pick % Math.max(1, failing.length)];
    if (waiting === undefined) return false;
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    this.#note(() => `${waiting.label} fails`);
    waiting.refuse?.(new Error('out of order'));
    return true;
  }
}
