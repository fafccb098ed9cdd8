// Turns the per-frame decisions of a voice detector into one start and one end per utterance, with the suspected end in
// between. Counts frames, holds no audio and keeps no time of its own.
import { FRAME_MS } from './audio-format.ts';
import { checkedPatience, DEFAULT_PATIENCE, PATIENCE_LIMITS, type SpeechPatience } from './patience.ts';

export { DEFAULT_PATIENCE, type SpeechPatience } from './patience.ts';

/**
 * What the endpointer and everything above it report: a start, then any number of suspected ends that the caller took
 * back (paused, resumed), then an end, with or without having been suspected.
 */
export type SpeechEvent = 'speech_started' | 'speech_paused' | 'speech_resumed' | 'speech_ended';

/** Speech that interrupts silence must last for this many of {@link TRUST_WINDOW} frames to make the silence begin anew. */
const TRUSTED_FRAMES = 3;
const TRUST_WINDOW = 6;
const TRUST_MASK = (1 << TRUST_WINDOW) - 1;
/** The end waits while one of the last frames was speech: the caller may just be going on. */
const UNDECIDED_MASK = 0b111;
/** A start looks back over this many times the speech it needs: words have gaps. */
const START_WINDOW = 2;
/** Over a prompt it looks back less far: its echo and what a caller mutters do not add up. */
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
  /** Frames of silence that end the present pause; {@link #endFrames} unless {@link Endpointer.endWithin} has set another number. */
  #pauseFrames = 0;
  #maxFrames = 0;
  /** The last decisions while nobody speaks. The newest stands before {@link #position}. */
  readonly #ring = new Uint8Array(RING_FRAMES);
  #position = 0;
  /** Speech among the newest frames of each window. */
  #speechToStart = 0;
  #speechToInterrupt = 0;
  /** Frames for which speech that was too short to interrupt a prompt is still a start when the prompt is over. */
  #heldFrames = 0;
  #hearing = false;
  #paused = false;
  /** The last decisions while somebody speaks, newest in bit 0. */
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

  /** Frames at the end of the utterance that are silence. */
  get quietFrames(): number {
    return this.#quietFrames;
  }

  /** Frames between the first speech of a start and the start itself, at most. */
  get windowFrames(): number {
    return Math.max(this.#startWindow, this.#interruptWindow);
  }

  /** The longest utterance, in frames. */
  get maxFrames(): number {
    return this.#maxFrames;
  }

  /**
   * Takes another patience; what was heard while waiting still counts. Not while somebody speaks.
   *
   * @throws AppError `config_invalid` for a setting outside its limits; the patience stays what it was then.
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
   * The pause that the caller makes now ends the utterance after the expected silence, but within these bounds, ms. Does not change the
   * next pause; does nothing while nobody pauses.
   */
  endWithin(leastMs: number, mostMs: number): void {
    if (this.#paused) this.#pauseFrames = Math.max(inFrames(leastMs), Math.min(inFrames(mostMs), this.#endFrames));
  }

  /** Takes the decision on the next frame and says what it brought about. */
  push(isSpeech: boolean, isOverPrompt = false): SpeechEvent | undefined {
    return this.#hearing ? this.#hear(isSpeech) : this.#wait(isSpeech, isOverPrompt);
  }

  /** Takes a frame that nobody decided on, where starts and ends come from outside: only the longest time counts. */
  pass(): SpeechEvent | undefined {
    if (!this.#hearing) return undefined;
    this.#utteranceFrames += 1;
    return this.#utteranceFrames >= this.#maxFrames ? this.#end() : undefined;
  }

  /** Starts an utterance because somebody else says so, with the speech heard just before. Nothing happens while one goes on. */
  start(): SpeechEvent | undefined {
    return this.#hearing ? undefined : this.#begin(this.windowFrames);
  }

  /** Ends an utterance because somebody else says so or no more audio comes. Nothing happens when nobody speaks. */
  finish(): SpeechEvent | undefined {
    return this.#hearing ? this.#end() : undefined;
  }

  /** Drops an utterance that is going on, without an event, and waits for the next. */
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
      // An answer on the last word of a question is one, though it was too short to cut the question.
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

  /** 0 when there was none. */
  #ageOfFirstSpeech(window: number): number {
    let age = window;
    while (age > 0 && this.#frameAt(age) === 0) age -= 1;
    return age;
  }

  /** 0 when there was none. */
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
