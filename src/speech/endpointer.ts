// Turns the per-frame decisions of a voice detector into one start and one end per utterance. Counts frames, holds no
// audio and keeps no time of its own.
import { AppError } from '../base/errors.ts';
import { FRAME_MS } from './audio-format.ts';

/** When the caller counts as speaking and as done, ms. */
export interface EndpointSettings {
  /** Speech needed within twice this time before it counts as a start: clicks and coughs are shorter. */
  readonly startMs: number;
  /** Silence after which the caller is done. Pauses within a sentence or a phone number are shorter. */
  readonly endSilenceMs: number;
  /** Speech is cut here, counted from its first frame; what follows is a new utterance. */
  readonly maxUtteranceMs: number;
}

/**
 * The default settings. 100 ms: the platform's own gateway waits 96 (G-3A), and the shortest digits last 150. 800 ms:
 * it waits 1000, and read-out numbers pause for 300 to 600, so callers get their answer a fifth of a second sooner.
 * 30 s: the longest utterance that the platform's kit allows.
 */
export const DEFAULT_ENDPOINTING = {
  startMs: 100,
  endSilenceMs: 800,
  maxUtteranceMs: 30_000,
} as const satisfies EndpointSettings;

/** What the endpointer and everything above it report. */
export type SpeechEvent = 'speech_started' | 'speech_ended';

/** Speech that interrupts silence must last for this many of {@link TRUST_WINDOW} frames to make the silence begin anew. */
const TRUSTED_FRAMES = 3;
const TRUST_WINDOW = 6;
/** The end waits while one of the last frames was speech: the caller may just be going on. */
const UNDECIDED_FRAMES = 3;
/** Longest time any setting may ask for: ten minutes. */
const MAX_SETTING_MS = 600_000;

/** Start and end of speech, frame by frame. Allocates nothing after construction. */
export class Endpointer {
  readonly #startFrames: number;
  readonly #endFrames: number;
  readonly #maxFrames: number;
  /** The last decisions while nobody speaks: a ring of twice the start time. */
  readonly #window: Uint8Array;
  #position = 0;
  #speechInWindow = 0;
  #hearing = false;
  /** The last decisions while somebody speaks, newest in bit 0. */
  #recent = 0;
  #utteranceFrames = 0;
  #quietFrames = 0;

  /** @throws AppError `config_invalid` for a setting that is not between 20 ms and ten minutes. */
  constructor(settings: EndpointSettings = DEFAULT_ENDPOINTING) {
    this.#startFrames = inFrames('startMs', settings.startMs);
    this.#endFrames = inFrames('endSilenceMs', settings.endSilenceMs);
    this.#maxFrames = inFrames('maxUtteranceMs', settings.maxUtteranceMs);
    this.#window = new Uint8Array(this.#startFrames * 2);
  }

  /** Whether the caller is speaking: between start and end. */
  get isHearing(): boolean {
    return this.#hearing;
  }

  /** Frames since the utterance began, its first speech frame included; stays after the end until the next start. */
  get utteranceFrames(): number {
    return this.#utteranceFrames;
  }

  /** Frames at the end of the utterance that are silence. */
  get quietFrames(): number {
    return this.#quietFrames;
  }

  /** Frames between the first speech of a start and the start itself, at most. */
  get windowFrames(): number {
    return this.#window.length;
  }

  /** The longest utterance, in frames. */
  get maxFrames(): number {
    return this.#maxFrames;
  }

  /** Takes the decision on the next frame and says what it brought about. */
  push(isSpeech: boolean): SpeechEvent | undefined {
    return this.#hearing ? this.#hear(isSpeech) : this.#wait(isSpeech);
  }

  /** Ends an utterance because no more audio comes. Nothing happens when nobody speaks. */
  finish(): SpeechEvent | undefined {
    return this.#hearing ? this.#end() : undefined;
  }

  /** Drops an utterance that is going on, without an event, and waits for the next. */
  reset(): void {
    this.#hearing = false;
    this.#utteranceFrames = 0;
    this.#quietFrames = 0;
    this.#clearWindow();
  }

  #wait(isSpeech: boolean): SpeechEvent | undefined {
    const window = this.#window;
    this.#speechInWindow += (isSpeech ? 1 : 0) - (window[this.#position] ?? 0);
    window[this.#position] = isSpeech ? 1 : 0;
    this.#position = (this.#position + 1) % window.length;
    if (this.#speechInWindow < this.#startFrames) return undefined;
    this.#hearing = true;
    this.#utteranceFrames = this.#framesSinceFirstSpeech();
    this.#quietFrames = 0;
    this.#recent = (1 << TRUST_WINDOW) - 1;
    return 'speech_started';
  }

  /** The oldest frame of the ring stands at the position where the next one goes. */
  #framesSinceFirstSpeech(): number {
    let age = this.#window.length;
    while (this.#window[(this.#position - age + this.#window.length) % this.#window.length] === 0) age -= 1;
    return age;
  }

  #hear(isSpeech: boolean): SpeechEvent | undefined {
    this.#utteranceFrames += 1;
    this.#recent = ((this.#recent << 1) | (isSpeech ? 1 : 0)) & ((1 << TRUST_WINDOW) - 1);
    if (isSpeech && bitsSet(this.#recent) >= TRUSTED_FRAMES) this.#quietFrames = 0;
    else this.#quietFrames += 1;
    const undecided = (this.#recent & ((1 << UNDECIDED_FRAMES) - 1)) !== 0;
    if (this.#quietFrames >= this.#endFrames && !undecided) return this.#end();
    return this.#utteranceFrames >= this.#maxFrames ? this.#end() : undefined;
  }

  #end(): SpeechEvent {
    this.#hearing = false;
    this.#clearWindow();
    return 'speech_ended';
  }

  #clearWindow(): void {
    this.#window.fill(0);
    this.#position = 0;
    this.#speechInWindow = 0;
  }
}

function bitsSet(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

function inFrames(name: keyof EndpointSettings, ms: number): number {
  if (!(ms >= FRAME_MS && ms <= MAX_SETTING_MS)) {
    throw new AppError(
      'config_invalid',
      `${name} is ${String(ms)}; it must lie between ${String(FRAME_MS)} and ${String(MAX_SETTING_MS)} ms`,
    );
  }
  return Math.round(ms / FRAME_MS);
}
