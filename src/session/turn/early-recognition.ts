// Recognizes an utterance before its end is certain, so that its text is available earlier: from the suspected end on with an engine for
// whole utterances, from the start of speech on with an engine that hears utterances while they are spoken.
import { linkAbort } from '../../base/abort.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { Expected, HeardWords, RecognitionStream, Recognizer } from '../ports.ts';

/** Most recognitions per utterance: a caller with many pauses must not occupy the recognizer. */
const MAX_BEGINNINGS = 3;

/** A running recognition. */
export interface RunningRecognition {
  /** The recognized text. @param signal - stops the recognition. @throws AppError `recognition_failed`. */
  text(signal: AbortSignal): Promise<string | undefined>;
}

/** One per session; one utterance at a time. */
export interface EarlyRecognition {
  /** An utterance begins; drops the previous one. */
  begin(expected: Expected): void;
  /** Takes audio of the utterance, G.711 µ-law. */
  push(mulaw: Uint8Array): void;
  /** The caller pauses and may be done. @param utterance - returns the audio so far. */
  pause(utterance: () => Utterance, expected: Expected): void;
  /** The caller goes on. */
  resume(): void;
  /** The utterance has ended: returns its recognition; undefined when none was started. */
  take(utterance: Utterance, expected: Expected): RunningRecognition | undefined;
  /** The utterance is no longer wanted. */
  drop(): void;
  /** Ignores everything from now on. */
  close(): void;
}

/** The early recognition that suits the engine. @param onWords - called only for engines that hear while the caller speaks. */
export function earlyRecognition(recognizer: Recognizer, onWords: (words: HeardWords) => void): EarlyRecognition {
  const stream = recognizer.open?.(onWords);
  return stream === undefined ? new SuspectedRecognition(recognizer) : new StreamedRecognition(recognizer, stream);
}

/** For whole utterances: begins at the suspected end, and drops the recognition when the caller goes on. */
class SuspectedRecognition implements EarlyRecognition {
  readonly #recognizer: Recognizer;
  #running: Stoppable | undefined;
  #beginnings = 0;

  constructor(recognizer: Recognizer) {
    this.#recognizer = recognizer;
  }

  begin(): void {
    this.drop();
    this.#beginnings = 0;
  }

  push(): void {
    // Whole utterances are passed at their end.
  }

  pause(utterance: () => Utterance, expected: Expected): void {
    if (this.#running !== undefined || this.#beginnings >= MAX_BEGINNINGS) return;
    this.#beginnings += 1;
    this.#running = running((signal) => this.#recognizer.recognize(utterance(), signal, expected));
  }

  resume(): void {
    this.drop();
  }

  take(): RunningRecognition | undefined {
    const taken = this.#running;
    this.#running = undefined;
    return taken;
  }

  drop(): void {
    this.#running?.stop();
    this.#running = undefined;
  }

  close(): void {
    this.drop();
  }
}

/** Streams the utterance; if the stream loses it, recognizes the whole utterance instead. */
class StreamedRecognition implements EarlyRecognition {
  readonly #recognizer: Recognizer;
  readonly #stream: RecognitionStream;
  /** For an utterance that the stream has lost: begins at pauses. */
  readonly #whole: SuspectedRecognition;
  #isOpen = true;
  /** Whether an utterance has begun that was not taken yet. */
  #isHearing = false;

  constructor(recognizer: Recognizer, stream: RecognitionStream) {
    this.#recognizer = recognizer;
    this.#stream = stream;
    this.#whole = new SuspectedRecognition(recognizer);
  }

  begin(expected: Expected): void {
    this.#isHearing = this.#isOpen;
    this.#whole.begin();
    if (this.#isHearing) this.#stream.begin(expected);
  }

  push(mulaw: Uint8Array): void {
    if (this.#isHearing) this.#stream.push(mulaw);
  }

  pause(utterance: () => Utterance, expected: Expected): void {
    if (!this.#isHearing) return;
    this.#stream.pause();
    if (this.#stream.isLost) this.#whole.pause(utterance, expected);
  }

  resume(): void {
    if (this.#isHearing) this.#stream.resume();
    this.#whole.resume();
  }

  take(utterance: Utterance, expected: Expected): RunningRecognition | undefined {
    if (!this.#isHearing) return undefined;
    this.#isHearing = false;
    const whole = this.#whole.take();
    return running(async (signal) => {
      try {
        return await this.#stream.text(signal);
      } catch {
        return whole?.text(signal) ?? this.#recognizer.recognize(utterance, signal, expected);
      }
    });
  }

  drop(): void {
    if (this.#isHearing) this.#stream.drop();
    this.#isHearing = false;
    this.#whole.drop();
  }

  close(): void {
    this.drop();
    this.#isOpen = false;
    this.#stream.close();
  }
}

interface Stoppable extends RunningRecognition {
  stop(): void;
}

/** Starts a recognition at once. */
function running(recognize: (signal: AbortSignal) => Promise<string | undefined>): Stoppable {
  const work = linkAbort();
  const text = recognize(work.signal);
  // Handled even if the text is never used.
  text.catch(() => undefined);
  const stop = (): void => {
    work.abort('superseded');
  };
  return {
    stop,
    text: async (signal) => {
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
