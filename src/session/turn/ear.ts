// The one ear of a session: which turn has it, in which format the caller speaks, and the listener behind it. A newer
// turn takes it over; what older turns send is not heard until that one is over.
import type { Bot } from '../../bot/bot.ts';
import type { AudioInput } from '../../dialog/input.ts';
import type { Listen } from '../../dialog/reply.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import { FALLBACK_FORMAT, nextFormat, type AudioFormat } from '../../speech/audio-format.ts';
import type { SpeechEvent } from '../../speech/endpointer.ts';
import type { Listener } from '../../speech/listener.ts';
import { digitPatience, type SpeechPatience } from '../../speech/patience.ts';
import type { EngineSettings } from '../settings.ts';
import type { Turn } from './turn.ts';

/** Makes the listener of a session; it is made when the first audio arrives. */
export type CreateListener = (options: {
  readonly onEvent: (event: SpeechEvent) => void;
  readonly onFrame: ((pcm: Int16Array) => void) | undefined;
  /** The bot finds start and end of speech itself. */
  readonly isSelfEndpointing: boolean;
}) => Listener;

/** What an ear is made with. */
export interface EarOptions {
  readonly create: CreateListener;
  /** Hears every frame; undefined for bots that do not, so that they cost nothing. */
  readonly onFrame: ((pcm: Int16Array) => void) | undefined;
  readonly isSelfEndpointing: boolean;
}

const NOTHING_HEARD: Utterance = { mulaw: new Uint8Array(0), durationMs: 0 };

/** Owned by a session, which closes it. */
export class Ear {
  readonly #create: () => Listener;
  #listener: Listener | undefined;
  #turn: Turn | undefined;
  #format: AudioFormat = FALLBACK_FORMAT;
  #patience: Partial<SpeechPatience> = {};

  constructor({ create, onFrame, isSelfEndpointing }: EarOptions) {
    const onEvent = (event: SpeechEvent): void => this.#turn?.heard(event);
    this.#create = () => create({ onEvent, onFrame, isSelfEndpointing });
  }

  /** Sets how the next input is listened for; what is left out is the operator's setting. */
  expect(patience: Partial<SpeechPatience>): void {
    this.#patience = patience;
    this.#listener?.expect(patience);
  }

  /** Remembers a format that a frame names, also when the frame itself is not listened to (G-32). @throws AppError `unsupported_audio`. */
  note(input: AudioInput): void {
    this.#format = nextFormat(this.#format, input);
  }

  /**
   * Listens to a frame of a turn; frames of turns older than the one that has the ear are dropped.
   *
   * @param isOverPrompt - a prompt is playing: it takes more than a cough to be heard.
   * @throws AppError `unsupported_audio`.
   */
  hear(turn: Turn, audio: Uint8Array, isOverPrompt: boolean): void {
    if (turn !== this.#turn) {
      if (this.#turn !== undefined && turn.number < this.#turn.number) return;
      // What an older turn was hearing ends here: its caller goes on speaking on the newer one.
      this.#listener?.finish();
      this.#turn = turn;
      this.#listener?.reset();
    }
    this.#listener ??= this.#made();
    this.#listener.push(audio, this.#format, isOverPrompt);
  }

  /** A bot with endpointing of its own says that the caller began to speak. */
  startNow(): void {
    this.#listener?.startNow();
  }

  /** It says that the caller is done. */
  endNow(): void {
    this.#listener?.endNow();
  }

  /** The turn's input ended; speech that is going on ends with it. */
  cut(turn: Turn): void {
    if (turn === this.#turn) this.#listener?.finish();
  }

  takeUtterance(): Utterance {
    return this.#listener?.takeUtterance() ?? NOTHING_HEARD;
  }

  /** A copy of what was heard so far, as {@link Ear.takeUtterance} would bring it if this were the end. */
  utteranceSoFar(): Utterance {
    return this.#listener?.utteranceSoFar() ?? NOTHING_HEARD;
  }

  /** The turn is over and listens no more; the newest of the others that still send may be heard again. @returns whether it had the ear. */
  leave(turn: Turn): boolean {
    if (turn !== this.#turn) return false;
    this.#turn = undefined;
    this.#listener?.reset();
    return true;
  }

  /** Frees the listener. Idempotent; a later frame makes a new one. */
  close(): void {
    this.#turn = undefined;
    this.#listener?.close();
    this.#listener = undefined;
  }

  #made(): Listener {
    const listener = this.#create();
    listener.expect(this.#patience);
    return listener;
  }
}

/**
 * How long the ear waits for the caller to go on: what the operator set, what the bot and its reply want, and what somebody needs
 * who reads out digits. What is left out is the operator's setting. Times are ms.
 */
export function listeningPatience(listen: Listen, bot: Bot, { digitSilenceMs, patience }: EngineSettings): Partial<SpeechPatience> {
  // Somebody who reads out digits looks at the next group in between.
  const isReading = listen.accept !== 'keys' && (listen.digits ?? 0) > 1;
  return { ...bot.speech, ...(isReading ? digitPatience(digitSilenceMs, { ...patience, ...bot.speech }) : {}), ...listen.speech };
}
