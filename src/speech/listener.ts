// The audio listener of a call: caller audio in, speech start and end out, and the utterance between them. Everything happens inside push;
// nothing here waits, logs or knows a turn.
import { FRAME_MS, FRAME_SAMPLES, MULAW_BYTES_PER_MS, type AudioFormat } from './audio-format.ts';
import { CallerAudio } from './caller-audio.ts';
import { DEFAULT_PATIENCE, Endpointer, type SpeechEvent, type SpeechPatience } from './endpointer.ts';
import type { SignalEngines } from './engines.ts';
import { patienceFor } from './patience.ts';
import { FrameLoop, Tape } from './tape.ts';
import type { VoiceDetector } from './vad.ts';

/** Options of a {@link Listener}. */
export interface ListenerOptions {
  readonly engines: SignalEngines;
  /** Default {@link DEFAULT_PATIENCE}; omitted members keep their default. */
  readonly patience?: Partial<SpeechPatience>;
  /**
   * True for a bot with endpointing of its own: utterances start and end only by {@link Listener.startNow} and
   * {@link Listener.endNow}, or end at their longest time; no voice detector runs. Default false.
   */
  readonly isSelfEndpointing?: boolean;
  /** Called inside `push`, `finish`, `startNow` and `endNow`. May call any member of the listener but `push` and `finish`. */
  readonly onEvent: (event: SpeechEvent) => void;
  /**
   * Called for every frame of 160 samples at 8 kHz, before its event. The array is reused for the next frame. May
   * call any member of the listener but `push` and `finish`.
   */
  readonly onFrame?: ((pcm: Int16Array) => void) | undefined;
  /**
   * Called with the utterance while it is spoken, G.711 µ-law: after its start with the audio so far, pre-roll included, then frame
   * by frame. The array is reused for the next frame.
   */
  readonly onSpeech?: ((mulaw: Uint8Array) => void) | undefined;
}

/** Audio of one utterance: G.711 µ-law, 8 kHz, mono, no header. */
export interface UtteranceAudio {
  readonly mulaw: Uint8Array;
  readonly durationMs: number;
}

/** Silence kept at the end of an utterance, ms: recognizers clip a last word that ends with the audio. */
const KEPT_SILENCE_BYTES = 200 * MULAW_BYTES_PER_MS;

/**
 * Hears one utterance at a time: one start, one end, then nothing until {@link Listener.reset}. Audio that arrives in
 * between still feeds the noise floor and the next pre-roll. Close it: it holds memory outside the JavaScript heap.
 */
export class Listener {
  readonly #base: SpeechPatience;
  /** Patience for the next utterance. */
  #wanted: SpeechPatience;
  /** Undefined when the bot endpoints by itself. */
  readonly #detector: VoiceDetector | undefined;
  readonly #audio: CallerAudio;
  readonly #endpointer: Endpointer;
  #preRollFrames: number;
  readonly #loop: FrameLoop;
  readonly #tape: Tape;
  readonly #onEvent: (event: SpeechEvent) => void;
  readonly #onFrame: ((pcm: Int16Array) => void) | undefined;
  readonly #onSpeech: ((mulaw: Uint8Array) => void) | undefined;
  #isOverPrompt = false;
  /** The utterance is over and the next one was not requested yet. */
  #ended = false;
  #closed = false;

  /** @throws AppError `config_invalid` for settings out of range, `overloaded` when there is no memory for a detector. */
  constructor(options: ListenerOptions) {
    const { engines, patience = {}, isSelfEndpointing = false, onEvent, onFrame, onSpeech } = options;
    this.#base = patienceFor(patience, DEFAULT_PATIENCE, DEFAULT_PATIENCE);
    this.#wanted = this.#base;
    this.#endpointer = new Endpointer(this.#base);
    this.#preRollFrames = inFrames(this.#base.preRollMs);
    this.#loop = new FrameLoop(this.#loopFrames);
    this.#tape = new Tape(this.#tapeBytes);
    this.#audio = new CallerAudio(engines.createResampler, (pcm, mulaw) => {
      // An event of an earlier frame of the same message may have closed the listener.
      if (!this.#closed) this.#hear(pcm, mulaw);
    });
    this.#onEvent = onEvent;
    this.#onFrame = onFrame;
    this.#onSpeech = onSpeech;
    this.#detector = isSelfEndpointing ? undefined : engines.createDetector();
  }

  /** Whether the caller is speaking: between start and end. */
  get isHearing(): boolean {
    return this.#endpointer.isHearing;
  }

  /**
   * Replaces the patience for the next utterances; omitted members return to the listener's own options. While the
   * caller speaks, the change waits for {@link Listener.reset}. Costs nothing when nothing changes.
   *
   * @throws AppError `config_invalid` for a setting outside its limits; then the patience does not change.
   */
  expect(patience: Partial<SpeechPatience>): void {
    this.#wanted = patienceFor(patience, this.#base, this.#wanted);
    if (!this.#endpointer.isHearing) this.#adopt();
  }

  /**
   * Takes the audio of one message, of any size; calls `onEvent` for each event in it, possibly both start and end.
   * Ignored after {@link Listener.close}.
   *
   * @param isOverPrompt - whether the caller hears a prompt that speech may cut: then a start needs `interruptMs`.
   * @throws AppError `unsupported_audio` for a rate or a WAV header that cannot be decoded (G-31).
   */
  push(audio: Uint8Array, format: AudioFormat, isOverPrompt = false): void {
    this.#isOverPrompt = isOverPrompt;
    if (!this.#closed) this.#audio.push(audio, format);
  }

  /** Starts an utterance from outside, with the pre-roll; ignored during an utterance and until {@link Listener.reset} after it. */
  startNow(): void {
    if (this.#closed || this.#ended || this.#endpointer.start() === undefined) return;
    this.#report('speech_started');
  }

  /** Ends the utterance from outside; ignored when there is none. */
  endNow(): void {
    if (this.#endpointer.finish() !== undefined) this.#end();
  }

  /** See {@link Endpointer.endWithin}. */
  endWithin(leastMs: number, mostMs: number): void {
    this.#endpointer.endWithin(leastMs, mostMs);
  }

  /** No more audio comes on this turn (half-close): ends the current utterance. Later pushes start a new stream. */
  finish(): void {
    if (this.#closed) return;
    const rest = this.#audio.finish();
    if (!this.#endpointer.isHearing) return;
    this.#tape.append(rest);
    this.endNow();
  }

  /**
   * The last utterance, from its pre-roll to 200 ms after its last speech; empty when there is none. A second call returns
   * an empty one. While the caller speaks, it is the audio so far.
   */
  takeUtterance(): UtteranceAudio {
    return asUtterance(this.#tape.take(this.#ended ? this.#spokenBytes : this.#tape.length));
  }

  /**
   * A copy of the audio so far, without the final silence that {@link Listener.takeUtterance} omits. On `speech_paused` it
   * is exactly the utterance that `speech_ended` brings unless the caller goes on.
   */
  utteranceSoFar(): UtteranceAudio {
    return asUtterance(this.#tape.copy(this.#spokenBytes));
  }

  /** Listens for the next utterance: forgets the last or current one, and keeps the noise floor. */
  reset(): void {
    this.#endpointer.reset();
    this.#tape.clear();
    this.#ended = false;
    this.#adopt();
  }

  /** Frees detector and resampler; harmless when repeated. */
  close(): void {
    this.#closed = true;
    this.#detector?.close();
    this.#audio.close();
    this.reset();
    this.#loop.clear();
  }

  /** Silence at the end of the current or last utterance, ms. */
  get quietMs(): number {
    return this.#endpointer.quietFrames * FRAME_MS;
  }

  get #loopFrames(): number {
    return this.#preRollFrames + this.#endpointer.windowFrames;
  }

  get #tapeBytes(): number {
    return (this.#loopFrames + this.#endpointer.maxFrames + 1) * FRAME_SAMPLES;
  }

  /** Bytes on the tape without the silence at their end, of which {@link KEPT_SILENCE_BYTES} stay. */
  get #spokenBytes(): number {
    return this.#tape.length - Math.max(0, this.#endpointer.quietFrames * FRAME_SAMPLES - KEPT_SILENCE_BYTES);
  }

  #adopt(): void {
    this.#endpointer.expect(this.#wanted);
    this.#preRollFrames = inFrames(this.#wanted.preRollMs);
    this.#loop.reserve(this.#loopFrames);
    this.#tape.limit(this.#tapeBytes);
  }

  #hear(pcm: Int16Array, mulaw: Uint8Array): void {
    const isSpeech = this.#detector?.isSpeech(pcm, this.#endpointer.isHearing);
    this.#onFrame?.(pcm);
    // The receiver of frames may close the listener, and may start and end utterances.
    if (this.#closed) return;
    const wasHearing = this.#endpointer.isHearing;
    const event = this.#ended ? undefined : this.#decide(isSpeech);
    if (wasHearing) {
      this.#tape.append(mulaw);
      this.#onSpeech?.(mulaw);
    } else this.#loop.push(mulaw);
    if (event === 'speech_ended') this.#end();
    else if (event !== undefined) this.#report(event);
  }

  #decide(isSpeech: boolean | undefined): SpeechEvent | undefined {
    return isSpeech === undefined ? this.#endpointer.pass() : this.#endpointer.push(isSpeech, this.#isOverPrompt);
  }

  #report(event: Exclude<SpeechEvent, 'speech_ended'>): void {
    if (event === 'speech_started') this.#record();
    this.#onEvent(event);
    if (event === 'speech_started' && this.isHearing) this.#onSpeech?.(this.#tape.copy(this.#tape.length));
  }

  /** The utterance begins: moves the audio in the loop to the tape. */
  #record(): void {
    this.#tape.clear();
    this.#loop.spill(this.#preRollFrames + this.#endpointer.utteranceFrames, this.#tape);
  }

  #end(): void {
    this.#ended = true;
    this.#onEvent('speech_ended');
  }
}

function inFrames(ms: number): number {
  return Math.round(ms / FRAME_MS);
}

function asUtterance(mulaw: Uint8Array): UtteranceAudio {
  return { mulaw, durationMs: mulaw.length / MULAW_BYTES_PER_MS };
}
