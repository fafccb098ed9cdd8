// A recognizer that returns the words of a recording, at the same times.
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { HeardWords, RecognitionStream, Recognizer } from '../../session/ports.ts';
import type { RecordedEvent } from '../recording.ts';
import { isWithheld } from '../redaction.ts';

type Words = Extract<RecordedEvent, { kind: 'words' }>;
type Interim = Extract<RecordedEvent, { kind: 'interim' }>;

export interface RecordedRecognizerOptions {
  readonly events: readonly RecordedEvent[];
  readonly clock: Clock;
  /** Id, in the recording, of the turn whose utterance is being recognized. */
  readonly turn: () => string | undefined;
  /** Number of digits that the caller was asked for in this turn: withheld words are replaced by as many digits. */
  readonly digits: (turn: string) => number;
}

export class RecordedRecognizer implements Recognizer {
  /** Set when the recording has interim words. */
  readonly open?: NonNullable<Recognizer['open']>;
  readonly #options: RecordedRecognizerOptions;
  readonly #words = new Map<string, Words>();

  constructor(options: RecordedRecognizerOptions) {
    this.#options = options;
    const interim = new Map<string, Interim[]>();
    for (const event of options.events) {
      if (event.kind === 'words') this.#words.set(event.turn, event);
      if (event.kind === 'interim') interim.set(event.turn, [...(interim.get(event.turn) ?? []), event]);
    }
    if (interim.size > 0) this.open = (onWords) => this.#stream(interim, onWords);
  }

  /** Whether there was any recognition, successful or not. */
  get hasWorked(): boolean {
    return this.open !== undefined || [...this.#words.values()].some(({ text, failure }) => (text ?? failure) !== undefined);
  }

  async recognize(_utterance: Utterance, signal: AbortSignal): Promise<string | undefined> {
    return this.#text(this.#options.turn(), signal);
  }

  async #text(turn: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const words = turn === undefined ? undefined : this.#words.get(turn);
    if (words === undefined) return undefined;
    await reached(words.atMs, this.#options.clock, signal);
    if (words.failure !== undefined) throw new AppError('recognition_failed', `the recognition failed in the recording: ${words.failure}`);
    return isWithheld(words.text) ? '0'.repeat(this.#options.digits(words.turn)) : words.text;
  }

  #stream(interim: ReadonlyMap<string, readonly Interim[]>, onWords: (words: HeardWords) => void): RecognitionStream {
    const { clock } = this.#options;
    let turn: string | undefined;
    let timers: CancelTimer[] = [];
    const drop = (): void => {
      for (const cancel of timers) cancel();
      timers = [];
    };
    const ignore = (): void => undefined;
    return {
      ...{ isLost: false, push: ignore, pause: ignore, resume: ignore, drop, close: drop },
      begin: () => {
        drop();
        turn = this.#options.turn();
        timers = (interim.get(turn ?? '') ?? []).map(({ atMs, text, stable, isWhole }) =>
          clock.after(atMs - clock.monotonicMs(), () => {
            onWords({ text, stable, isWhole });
          }),
        );
      },
      text: (signal) => this.#text(turn, signal),
    };
  }
}

/** Resolves at this time, or when `signal` aborts. */
function reached(atMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const leftMs = atMs - clock.monotonicMs();
    if (leftMs <= 0 || signal.aborted) resolve();
    clock.after(leftMs, resolve);
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
}
