// A prompt during its synthesis: gives its pieces to any number of readers, each from the first piece and at the reader's own pace.
// Knows nothing of where the pieces come from.
import type { PromptAudio } from '../dialog/output.ts';

const OVER = { done: true, value: undefined } as const;

/** The pieces of one prompt, bounded by the longest prompt. */
export class GrowingPrompt {
  readonly #pieces: PromptAudio[] = [];
  readonly #waiting = new Set<() => void>();
  #end: { readonly failure: unknown } | 'well' | undefined;

  add(piece: PromptAudio): void {
    this.#pieces.push(piece);
    this.#wake();
  }

  /** Ends the pieces. When there were none, the whole prompt becomes the only piece. */
  finish(whole: PromptAudio | undefined): void {
    if (this.#pieces.length === 0 && whole !== undefined) this.#pieces.push(whole);
    this.#end = 'well';
    this.#wake();
  }

  /** Ends the pieces with a failure, which readers throw after the pieces so far. */
  fail(failure: unknown): void {
    this.#end = { failure };
    this.#wake();
  }

  /**
   * All pieces from the first, for one reader. They end at once, even during a wait, when `signal` aborts or the reader
   * leaves.
   *
   * @param onLeave - called when the reader leaves before the end; may be called more than once.
   */
  read(signal: AbortSignal, onLeave: () => void): AsyncIterableIterator<PromptAudio, undefined> {
    let at = 0;
    let hasLeft = false;
    const next = async (): Promise<IteratorResult<PromptAudio, undefined>> => {
      for (;;) {
        if (hasLeft || signal.aborted) return OVER;
        const piece = this.#pieces[at];
        if (piece !== undefined) {
          at += 1;
          return { done: false, value: piece };
        }
        if (this.#end === 'well') return OVER;
        if (this.#end !== undefined) {
          hasLeft = true;
          throw this.#end.failure;
        }
        await this.#change(signal);
      }
    };
    return {
      next,
      return: () => {
        hasLeft = true;
        onLeave();
        this.#wake();
        return Promise.resolve(OVER);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
