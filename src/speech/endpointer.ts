// Turns the per-frame decisions of a voice detector into one start and one end per utterance, with the suspected end in
// between. Counts frames, holds no audio and keeps no time of its own.
import { FRAME_MS } from './audio-format.ts';
import { checkedPatience, DEFAULT_PATIENCE, PATIENCE_LIMITS, type SpeechPatience } from './patience.ts';

export { DEFAULT_PATIENCE, type SpeechPatience } from './patience.ts';

/**
 * The events of an utterance: a start, then any number of pauses after which the caller went on (paused, resumed), then an
 * end, with or without a pause before it.
 */
export type SpeechEvent = 'speech_started' | 'speech_paused' | 'speech_resumed' | 'speech_ended';

/** Speech counts as the end of a silence only if it fills this many of {@link TRUST_WINDOW} frames. */
const TRUSTED_FRAMES = 3;
const TRUST_WINDOW = 6;
const TRUST_MASK = (1 << TRUST_WINDOW) - 1;
/** The utterance does not end while one of the last frames was speech: the caller may just be going on. */
const UNDECIDED_MASK = 0b111;
/** A start needs its frames of speech within a window of so many times their number: words have gaps. */
const START_WINDOW = 2;
/** The same while a prompt plays. The window is shorter, so that the prompt's echo and a caller's muttering do not add up. */
const INTERRUPT_WINDOW = 1.5;
/** Frames the ring must hold for the largest settings. */
const RING_FRAMES = Math.ceil(
  Math.max(PATIENCE_LIMITS.startMs[1] * START_WINDOW, PATIENCE_LIMITS.interruptMs[1] * INTERRUPT_WINDOW) / FRAME_MS,
);

/** Start and end of speech, frame by frame. Allocates nothing after construction. */
export class Endpointer {
  #patience: SpeechPatience | undefined;
  #startFrames = 0;
  #startWindow = 0;
  #interruptFrames = 0;
  #interruptWindow = 0;
  #suspectFrames = 0;
  #endFrames = 0;
  /** Frames of silence that end the current pause; {@link #endFrames} unless {@link Endpointer.endWithin} has set another number. */
  #pauseFrames = 0;
  #maxFrames = 0;
  /** The decisions on the last frames while nobody speaks. The newest stands before {@link #position}. */
  readonly #ring = new Uint8Array(RING_FRAMES);
  #position = 0;
  /** Number of speech frames in each window. */
  #speechToStart = 0;
  #speechToInterrupt = 0;
  /** For so many frames, speech that was too short to interrupt a prompt still becomes a start once the prompt is over. */
  #heldFrames = 0;
  #hearing = false;
  #paused = false;
  /** The decisions on the last frames while somebody speaks, the newest in bit 0. */
  #recent = 0;
  #utteranceFrames = 0;
  #quietFrames = 0;

  /** @throws AppError `config_invalid` for a setting outside its limits. */
  constructor(patience: SpeechPatience = DEFAULT_PATIENCE) {
    this.expect(patience);
  }

  /** Whether the caller is speaking: between start and end. */
  get isHearing(): boolean {
    return this.#hearing;
  }

  /** Frames since the utterance began, its first speech frame included; stays after the end until the next start. */
  get utteranceFrames(): number {
    return this.#utteranceFrames;
  }

  /** Frames of silence at the end of the utterance. */
  get quietFrames(): number {
    return this.#quietFrames;
  }

  /** Most frames from the first speech frame to the reported start. */
  get windowFrames(): number {
    return Math.max(this.#startWindow, this.#interruptWindow);
  }

  /** The longest utterance, in frames. */
  get maxFrames(): number {
    return this.#maxFrames;
  }

  /**
   * Sets another patience; speech that was heard before still counts. Must not be called while somebody speaks.
   *
   * @throws AppError `config_invalid` for a setting outside its limits; then the patience does not change.
   */
  expect(patience: SpeechPatience): void {
    if (patience === this.#patience) return;
    this.#patience = checkedPatience(patience);
    this.#startFrames = inFrames(patience.startMs);
    this.#startWindow = this.#startFrames * START_WINDOW;
    this.#interruptFrames = inFrames(patience.interruptMs);
    this.#interruptWindow = Math.round(this.#interruptFrames * INTERRUPT_WINDOW);
    this.#suspectFrames = inFrames(patience.endSilenceMs);
    this.#endFrames = this.#suspectFrames + inFrames(patience.resumeGraceMs);
    this.#maxFrames = inFrames(patience.maxUtteranceMs);
    this.#speechToStart = this.#speechWithin(this.#startWindow);
    this.#speechToInterrupt = this.#speechWithin(this.#interruptWindow);
  }

  /**
   * The current pause ends the utterance after the usual silence, limited to these bounds, ms. Does not change the next pause; has no
   * effect while nobody pauses.
   */
  endWithin(leastMs: number, mostMs: number): void {
    if (this.#paused) this.#pauseFrames = Math.max(inFrames(leastMs), Math.min(inFrames(mostMs), this.#endFrames));
  }

  /** Takes the decision on the next frame. @returns the event that this decision causes. */
  push(isSpeech: boolean, isOverPrompt = false): SpeechEvent | undefined {
    return this.#hearing ? this.#hear(isSpeech) : this.#wait(isSpeech, isOverPrompt);
  }

  /** Takes a frame without a decision, for starts and ends from outside: only the longest time of an utterance is checked. */
  pass(): SpeechEvent | undefined {
    if (!this.#hearing) return undefined;
    this.#utteranceFrames += 1;
    return this.#utteranceFrames >= this.#maxFrames ? this.#end() : undefined;
  }

  /** Starts an utterance on demand, with the speech heard just before. Has no effect during an utterance. */
  start(): SpeechEvent | undefined {
    return this.#hearing ? undefined : this.#begin(this.windowFrames);
  }

  /** Ends an utterance on demand, or because no more audio comes. Has no effect when nobody speaks. */
  finish(): SpeechEvent | undefined {
    return this.#hearing ? this.#end() : undefined;
  }

  /** Drops the current utterance, if there is one, without an event, and waits for the next. */
  reset(): void {
    this.#hearing = false;
    this.#utteranceFrames = 0;
    this.#quietFrames = 0;
    this.#forget();
  }

  #wait(isSpeech: boolean, isOverPrompt: boolean): SpeechEvent | undefined {
    const frame = isSpeech ? 1 : 0;
    this.#speechToStart += frame - this.#frameAt(this.#startWindow);
    this.#speechToInterrupt += frame - this.#frameAt(this.#interruptWindow);
    this.#ring[this.#position] = frame;
    this.#position = (this.#position + 1) % RING_FRAMES;
    const isEnough = this.#speechToStart >= this.#startFrames;
    if (isOverPrompt) {
      // An answer to the last word of a question counts, even though it was too short to cut the question.
      this.#heldFrames = isEnough ? this.#interruptWindow - this.#startWindow : this.#heldFrames - 1;
      return this.#speechToInterrupt >= this.#interruptFrames ? this.#begin(this.#interruptWindow) : undefined;
    }
    if (this.#heldFrames > 0) return this.#begin(this.windowFrames);
    return isEnough ? this.#begin(this.#startWindow) : undefined;
  }

  #hear(isSpeech: boolean): SpeechEvent | undefined {
    this.#utteranceFrames += 1;
    this.#recent = ((this.#recent << 1) | (isSpeech ? 1 : 0)) & TRUST_MASK;
    const isTrusted = isSpeech && bitsSet(this.#recent) >= TRUSTED_FRAMES;
    this.#quietFrames = isTrusted ? 0 : this.#quietFrames + 1;
    if (this.#utteranceFrames >= this.#maxFrames) return this.#end();
    if (isTrusted) return this.#resume();
    return (this.#recent & UNDECIDED_MASK) === 0 ? this.#expectEnd() : undefined;
  }

  #expectEnd(): SpeechEvent | undefined {
    if (this.#quietFrames >= (this.#paused ? this.#pauseFrames : this.#endFrames)) return this.#end();
    if (this.#paused || this.#quietFrames < this.#suspectFrames) return undefined;
    this.#paused = true;
    this.#pauseFrames = this.#endFrames;
    return 'speech_paused';
  }

  #resume(): SpeechEvent | undefined {
    if (!this.#paused) return undefined;
    this.#paused = false;
    return 'speech_resumed';
  }

  /** @param window - how many frames back the first speech may lie. */
  #begin(window: number): SpeechEvent {
    this.#utteranceFrames = this.#ageOfFirstSpeech(window);
    this.#quietFrames = Math.max(0, this.#ageOfLastSpeech(window) - 1);
    this.#recent = TRUST_MASK;
    this.#hearing = true;
    this.#paused = false;
    this.#forget();
    return 'speech_started';
  }

  #end(): SpeechEvent {
    this.#hearing = false;
    this.#paused = false;
    return 'speech_ended';
  }

  /** The decision on the frame that is `age` frames old; the newest is 1 old. */
  #frameAt(age: number): number {
    return this.#ring[(this.#position - age + RING_FRAMES) % RING_FRAMES] ?? 0;
  }

  /** The age as in {@link #frameAt}; 0 when there was no speech. */
  #ageOfFirstSpeech(window: number): number {
    let age = window;
    while (age > 0 && this.#frameAt(age) === 0) age -= 1;
    return age;
  }

  /** The age as in {@link #frameAt}; 0 when there was no speech. */
  #ageOfLastSpeech(window: number): number {
    for (let age = 1; age <= window; age += 1) if (this.#frameAt(age) === 1) return age;
    return 0;
  }

  #speechWithin(window: number): number {
    let count = 0;
    for (let age = 1; age <= window; age += 1) count += this.#frameAt(age);
    return count;
  }

  #forget(): void {
    this.#ring.fill(0);
    this.#position = 0;
    this.#speechToStart = 0;
    this.#speechToInterrupt = 0;
    this.#heldFrames = 0;
  }
}

function bitsSet(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

function inFrames(ms: number): number {
  return Math.round(ms / FRAME_MS);
}
