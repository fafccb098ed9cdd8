// Begins to recognize when the end of speech is only suspected, so that the text is there sooner when it was the end. A
// caller who goes on makes it forget what it began.
import { linkAbort } from '../../base/abort.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { Recognizer } from '../ports.ts';

/** Most times that one utterance is begun anew: somebody who thinks aloud must not keep a recognizer busy alone. */
const MAX_BEGINNINGS = 3;

/** A recognition under way. */
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

  /** An utterance begins. What was begun of one that never became an input is not its text. */
  reset(): void {
    this.drop();
    this.#beginnings = 0;
  }

  /** The end of the utterance is suspected. */
  begin(utterance: Utterance): void {
    if (this.#running !== undefined || this.#beginnings >= MAX_BEGINNINGS) return;
    this.#beginnings += 1;
    const work = linkAbort();
    const text = this.#recognizer.recognize(utterance, work.signal);
    // Nobody may ask for it; then its failure is nobody's business.
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

  /** It was not the end. */
  drop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#running = undefined;
  }

  /** It was the end: hands over what was begun; undefined when nothing was. */
  take(): RunningRecognition | undefined {
    const running = this.#running;
    this.#running = undefined;
    this.#stop = undefined;
    return running;
  }
}
