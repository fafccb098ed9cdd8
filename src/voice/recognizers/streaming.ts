// A recognizer that hears utterances while they are spoken, over the realtime protocol. A second engine recognizes whole utterances.
import { CircuitBreaker } from '../../base/circuit-breaker.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { HttpServiceObserver } from '../../base/http-service.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { Expected, HeardWords, RecognitionStream } from '../../session/ports.ts';
import type { OwnedRecognizer } from './owned-recognizer.ts';
import { TranscriptionStream, type StreamService } from './transcription-stream.ts';

export interface StreamingOptions extends StreamService {
  readonly clock: Clock;
  readonly observer: HttpServiceObserver;
  /** Recognizes utterances that the stream has lost; undefined: nobody does. */
  readonly whole: OwnedRecognizer | undefined;
}

/** Opens one socket for each call whose caller speaks. The creator closes it. */
export class StreamingRecognizer implements OwnedRecognizer {
  readonly #options: StreamingOptions;
  readonly #breaker: CircuitBreaker;
  readonly #streams = new Set<TranscriptionStream>();

  constructor(options: StreamingOptions) {
    this.#options = options;
    this.#breaker = new CircuitBreaker({
      clock: options.clock,
      onChange: (state) => {
        options.observer.circuitChanged?.(state);
      },
    });
  }

  recognize(utterance: Utterance, signal: AbortSignal, expected?: Expected): Promise<string | undefined> {
    const { whole } = this.#options;
    if (whole !== undefined) return whole.recognize(utterance, signal, expected);
    return Promise.reject(
      new AppError('recognition_failed', 'the stream has no words, and recognizer.engine none takes no whole utterance'),
    );
  }

  open(onWords: (words: HeardWords) => void): RecognitionStream {
    const stream = new TranscriptionStream({
      ...{ ...this.#options, breaker: this.#breaker, onWords },
      onClosed: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.close();
    await this.#options.whole?.close();
  }
}
