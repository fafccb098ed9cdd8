// The caller audio of a session: its audio listener, its format, and the turn whose audio counts. A newer turn takes
// over; audio of older turns is ignored until the newer one has ended.
import type { Bot } from '../../bot/bot.ts';
import type { AudioInput } from '../../dialog/input.ts';
import type { Listen } from '../../dialog/reply.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import { FALLBACK_FORMAT, nextFormat, type AudioFormat } from '../../speech/audio-format.ts';
import type { SpeechEvent } from '../../speech/endpointer.ts';
import type { Listener } from '../../speech/listener.ts';
import { digitPatience, pausingAfter, type SpeechPatience } from '../../speech/patience.ts';
import type { EngineSettings } from '../settings.ts';
import type { Turn } from './turn.ts';

/** Makes the audio listener of a session, with the first audio. */
export type CreateListener = (options: {
  readonly onEvent: (event: SpeechEvent) => void;
  readonly onFrame: ((pcm: Int16Array) => void) | undefined;
  /** Called with the audio of an utterance while it is spoken. */
  readonly onSpeech: ((mulaw: Uint8Array) => void) | undefined;
  /** Whether the bot detects start and end of speech itself. */
  readonly isSelfEndpointing: boolean;
}) => Listener;

export interface CallerAudioOptions {
  readonly create: CreateListener;
  /** Called with every frame; undefined for bots without `audio_input`. */
  readonly onFrame: ((pcm: Int16Array) => void) | undefined;
  /** Called with the audio of an utterance while it is spoken; undefined when nobody recognizes it. */
  readonly onSpeech: ((mulaw: Uint8Array) => void) | undefined;
  readonly isSelfEndpointing: boolean;
}

const NOTHING_HEARD: Utterance = { mulaw: new Uint8Array(0), durationMs: 0 };

/** Owned and closed by a session. */
export class CallerAudio {
  readonly #create: () => Listener;
  #listener: Listener | undefined;
  #turn: Turn | undefined;
  #format: AudioFormat = FALLBACK_FORMAT;
  #patience: Partial<SpeechPatience> = {};

  constructor({ create, onFrame, onSpeech, isSelfEndpointing }: CallerAudioOptions) {
    const onEvent = (event: SpeechEvent): void => this.#turn?.heard(event);
    this.#create = () => create({ onEvent, onFrame, onSpeech, isSelfEndpointing });
  }

  /** Sets the silences of the next input; default: the operator's settings. */
  expect(patience: Partial<SpeechPatience>): void {
    this.#patience = patience;
    this.#listener?.expect(patience);
  }

  /** Remembers the format of a frame, even if the frame is dropped (G-32). @throws AppError `unsupported_audio`. */
  note(input: AudioInput): void {
    this.#format = nextFormat(this.#format, input);
  }

  /**
   * Listens to a frame of a turn; frames of older turns are dropped.
   *
   * @param isOverPrompt - whether a prompt is playing: then a short sound does not count as speech.
   * @throws AppError `unsupported_audio`.
   */
  hear(turn: Turn, audio: Uint8Array, isOverPrompt: boolean): void {
    if (turn !== this.#turn) {
      if (this.#turn !== undefined && turn.number < this.#turn.number) return;
      // Speech on the older turn ends here, and the caller continues on the newer turn.
      this.#listener?.finish();
      this.#turn = turn;
      this.#listener?.reset();
    }
    this.#listener ??= this.#made();
    this.#listener.push(audio, this.#format, isOverPrompt);
  }

  /** A bot with its own endpointing reports the start of speech. */
  startNow(): void {
    this.#listener?.startNow();
  }

  /** A bot with its own endpointing reports the end of speech. */
  endNow(): void {
    this.#listener?.endNow();
  }

  /** See {@link Listener.endWithin}. */
  endWithin(leastMs: number, mostMs: number): void {
    this.#listener?.endWithin(leastMs, mostMs);
  }

  /** The input of the turn has ended, and its speech with it. */
  cut(turn: Turn): void {
    if (turn === this.#turn) this.#listener?.finish();
  }

  takeUtterance(): Utterance {
    return this.#listener?.takeUtterance() ?? NOTHING_HEARD;
  }

  /** See {@link Listener.quietMs}. */
  get quietMs(): number {
    return this.#listener?.quietMs ?? 0;
  }

  /** A copy of the utterance so far; see {@link CallerAudio.takeUtterance}. */
  utteranceSoFar(): Utterance {
    return this.#listener?.utteranceSoFar() ?? NOTHING_HEARD;
  }

  /** The turn has ended; the newest other turn takes over. @returns whether the audio of the ended turn counted. */
  leave(turn: Turn): boolean {
    if (turn !== this.#turn) return false;
    this.#turn = undefined;
    this.#listener?.reset();
    return true;
  }

  /** Frees the audio listener. Idempotent; a later frame makes a new one. */
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
 * The silences for the next input, ms: from the operator, the bot and its reply, and longer while digits are read out. Default: the
 * operator's settings.
 */
export function listeningPatience(listen: Listen, bot: Bot, { digitSilenceMs, patience, words }: EngineSettings): Partial<SpeechPatience> {
  // A caller who reads out digits pauses between groups.
  const isReading = listen.accept !== 'keys' && (listen.digits ?? 0) > 1;
  const given = { ...bot.speech, ...(isReading ? digitPatience(digitSilenceMs, { ...patience, ...bot.speech }) : {}), ...listen.speech };
  return words !== undefined && isWeighed(listen, bot) ? { ...given, ...pausingAfter(words.pauseMs, { ...patience, ...given }) } : given;
}

/** Whether the length of a pause depends on the words: they are recognized, and neither bot nor reply asks for a silence of its own. */
export function isWeighed({ speech }: Listen, bot: Bot): boolean {
  return bot.recognition !== 'none' && (speech?.endSilenceMs ?? bot.speech.endSilenceMs) === undefined;
}
