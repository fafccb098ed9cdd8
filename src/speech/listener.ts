// The ear of a call: caller audio in, speech start and end out, and the utterance between them. Everything happens
// inside push; nothing here waits, logs or knows a turn.
import { AppError } from '../base/errors.ts';
import { FRAME_MS, FRAME_SAMPLES, MULAW_BYTES_PER_MS, type AudioFormat } from './audio-format.ts';
import { CallerAudio } from './caller-audio.ts';
import { DEFAULT_ENDPOINTING, Endpointer, type EndpointSettings, type SpeechEvent } from './endpointer.ts';
import type { SignalEngines } from './engines.ts';
import { FrameLoop, Tape } from './tape.ts';
import type { VoiceDetector } from './vad.ts';

/** What a {@link Listener} is made with. */
export interface ListenerOptions {
  readonly engines: SignalEngines;
  /** Default {@link DEFAULT_ENDPOINTING}; what is left out keeps its default. */
  readonly endpointing?: Partial<EndpointSettings>;
  /** Audio kept from before the first speech frame, 0 to 5000 ms; default 300. Recognizers want the onset and a little quiet. */
  readonly preRollMs?: number;
  /** Called inside `push` and `finish`. May call `takeUtterance`, `reset` and `close`, but not `push` or `finish`. */
  readonly onEvent: (event: SpeechEvent) => void;
  /** Called for every frame of 160 samples at 8 kHz, before its event. The array is used again for the next frame. */
  readonly onFrame?: (pcm: Int16Array) => void;
}

/** Audio of one utterance: G.711 µ-law, 8 kHz, mono, no header. */
export interface UtteranceAudio {
  readonly mulaw: Uint8Array;
  readonly durationMs: number;
}

const DEFAULT_PRE_ROLL_MS = 300;
const MAX_PRE_ROLL_MS = 5000;
/** Silence kept at the end of an utterance, ms: recognizers clip a last word that ends with the audio. */
const KEPT_SILENCE_MS = 200;

/**
 * Hears one utterance at a time: one start, one end, then nothing until {@link Listener.reset}. Audio that arrives in
 * between still feeds the noise floor and the next pre-roll. Close it: it holds memory outside the JavaScript heap.
 */
export class Listener {
  readonly #detector: VoiceDetector;
  readonly #audio: CallerAudio;
  readonly #endpointer: Endpointer;
  readonly #preRollFrames: number;
  readonly #loop: FrameLoop;
  readonly #tape: Tape;
  readonly #onEvent: (event: SpeechEvent) => void;
  readonly #onFrame: ((pcm: Int16Array) => void) | undefined;
  /** The utterance is over and nobody asked for the next one. */
  #ended = false;
  #closed = false;

  /** @throws AppError `config_invalid` for settings out of range, `overloaded` when there is no memory for a detector. */
  constructor({ engines, endpointing, preRollMs = DEFAULT_PRE_ROLL_MS, onEvent, onFrame }: ListenerOptions) {
    if (!(preRollMs >= 0 && preRollMs <= MAX_PRE_ROLL_MS)) {
      throw new AppError('config_invalid', `preRollMs is ${String(preRollMs)}; it must lie between 0 and ${String(MAX_PRE_ROLL_MS)} ms`);
    }
    this.#endpointer = new Endpointer({
      ...DEFAULT_ENDPOINTING,
      ...endpointing,
    });
    this.#preRollFrames = Math.round(preRollMs / FRAME_MS);
    const beforeStart = this.#preRollFrames + this.#endpointer.windowFrames;
    this.#loop = new FrameLoop(beforeStart);
    this.#tape = new Tape((beforeStart + this.#endpointer.maxFrames + 1) * FRAME_SAMPLES);
    this.#audio = new CallerAudio(engines.createResampler, (pcm, mulaw) => {
      this.#hear(pcm, mulaw);
    });
    this.#onEvent = onEvent;
    this.#onFrame = onFrame;
    this.#detector = engines.createDetector();
  }

  /** Whether the caller is speaking: between start and end. */
  get isHearing(): boolean {
    return this.#endpointer.isHearing;
  }

  /**
   * Takes the audio of one message, of any size; calls `onEvent` for what it brought about, maybe start and end both.
   * Ignored after {@link Listener.close}.
   *
   * @throws AppError `unsupported_audio` for a rate or a WAV header that cannot be decoded (G-31).
   */
  push(audio: Uint8Array, format: AudioFormat): void {
    if (!this.#closed) this.#audio.push(audio, format);
  }

  /** No more audio comes on this turn (half-close): ends an utterance that is going on. Later pushes start a new stream. */
  finish(): void {
    if (this.#closed) return;
    const rest = this.#audio.finish();
    if (!this.#endpointer.isHearing) return;
    this.#tape.append(rest);
    if (this.#endpointer.finish() !== undefined) this.#end();
  }

  /**
   * The utterance that ended last, from its pre-roll to 200 ms after its last speech; empty when there is none. It is
   * handed over: a second call gives an empty one. While the caller speaks it is what was heard so far.
   */
  takeUtterance(): UtteranceAudio {
    const extraSilence = Math.max(0, this.#endpointer.quietFrames * FRAME_SAMPLES - KEPT_SILENCE_MS * MULAW_BYTES_PER_MS);
    const mulaw = this.#tape.take(this.#tape.length - (this.#ended ? extraSilence : 0));
    return { mulaw, durationMs: mulaw.length / MULAW_BYTES_PER_MS };
  }

  /** Listens for the next utterance: forgets the last one, or one that is going on, and keeps the noise floor. */
  reset(): void {
    this.#endpointer.reset();
    this.#tape.clear();
    this.#ended = false;
  }

  /** Frees detector and resampler; harmless when repeated. */
  close(): void {
    this.#closed = true;
    this.#detector.close();
    this.#audio.close();
    this.reset();
    this.#loop.clear();
  }

  #hear(pcm: Int16Array, mulaw: Uint8Array): void {
    // Closed by an event of an earlier frame of the same message.
    if (this.#closed) return;
    const isSpeech = this.#detector.isSpeech(pcm);
    this.#onFrame?.(pcm);
    if (this.#ended) {
      this.#loop.push(mulaw);
      return;
    }
    const event = this.#endpointer.push(isSpeech);
    if (event === 'speech_started') this.#start(mulaw);
    else if (this.#endpointer.isHearing || event === 'speech_ended') this.#tape.append(mulaw);
    else this.#loop.push(mulaw);
    if (event === 'speech_ended') this.#end();
  }

  #start(mulaw: Uint8Array): void {
    this.#loop.push(mulaw);
    this.#tape.clear();
    this.#loop.spill(this.#preRollFrames + this.#endpointer.utteranceFrames, this.#tape);
    this.#onEvent('speech_started');
  }

  #end(): void {
    this.#ended = true;
    this.#onEvent('speech_ended');
  }
}
