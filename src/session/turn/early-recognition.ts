// Starts recognition at the suspected end of speech, so that the text is ready sooner. It is dropped when the caller
// goes on.
import { linkAbort } from '../../base/abort.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { Expected, Recognizer } from '../ports.ts';

/** Most starts per utterance: a caller with many pauses must not occupy the recognizer. */
const MAX_BEGINNINGS = 3;

/** A running recognition. */
export interface RunningRecognition {
  /** Its text. @param signal - stops it. @throws AppError `recognition_failed`. */
  text(signal: AbortSignal): Promise<string | undefined>;
}

/** One per session. Holds one recognition at most. */
export class EarlyRecognition {
  readonly #recognizer: Recognizer;
  #stop: (() => void) | undefined;
  #running: RunningRecognition | undefined;
  #beginnings = 0;

  constructor(recognizer: Recognizer) {
    this.#recognizer = recognizer;
  }

  /** An utterance begins: drops the recognition of an earlier one. */
  reset(): void {
    this.drop();
    this.#beginnings = 0;
  }

  /** Starts recognition at the suspected end. */
  begin(utterance: Utterance, expected: Expected): void {
    if (this.#running !== undefined || this.#beginnings >= MAX_BEGINNINGS) return;
    this.#beginnings += 1;
    const work = linkAbort();
    const text = this.#recognizer.recognize(utterance, work.signal, expected);
    // Handled even if the text is never used.
    text.catch(() => undefined);
    this.#stop = () => {
      work.abort('superseded');
    };
    this.#running = {
      text: async (signal) => {
        const stop = (): void => {
          work.abort('superseded');
        };
        if (signal.aborted) stop();
        signal.addEventListener('abort', stop);
        try {
          return await text;
        } finally {
          signal.removeEventListener('abort', stop);
        }
      },
    };
  }

  /** The caller went on: drops the recognition. */
  drop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#running = undefined;
  }

  /** The utterance has ended: returns its recognition; undefined when none was started. */
  take(): RunningRecognition | undefined {
    const running = this.#running;
    this.#running = undefined;
    this.#stop = undefined;
    return running;
  }
}
