// The caller's microphone: a frame of 160 bytes every 20 ms while the platform listens, silence unless the caller speaks
// (G-30, G-35). Speech continues whether or not anybody listens, as people do. Knows no RPC.
import { FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { MULAW_SILENCE, MULAW_TO_LINEAR, decodeMulaw, encodeMulaw } from '../../speech/g711.ts';
import type { CallClock } from './call-clock.ts';
import { FramePace } from './frame-pace.ts';

/** Frames that are collected before the first one is read: 60 ms, longer than most gaps in the sound from a browser. */
const START_FRAMES = 3;
/** Most frames kept, 200 ms: a writer that is faster than the reader must not make the sound late. */
const MAX_FRAMES = 10;

/** A jitter buffer for frames. Bounded; every method is cheap enough to be called per frame. */
export class JitterBuffer {
  #frames: Uint8Array[] = [];
  #isFilling = true;

  /** Adds a frame. A full buffer drops all but the latest frames. */
  push(frame: Uint8Array): void {
    this.#frames.push(frame);
    if (this.#frames.length >= START_FRAMES) this.#isFilling = false;
    if (this.#frames.length > MAX_FRAMES) this.#frames = this.#frames.slice(-START_FRAMES);
  }

  /** The next frame; undefined when none has come in time. The buffer then fills again. */
  take(): Uint8Array | undefined {
    const frame = this.#isFilling ? undefined : this.#frames.shift();
    if (frame === undefined) this.#isFilling = true;
    return frame;
  }
}

export interface Frame {
  /** 160 bytes of µ-law, background noise included. Silence is shared, so never change the bytes. */
  readonly audio: Uint8Array;
  /** True up to the last voiced frame of an utterance: trailing silence does not count as speech. */
  readonly isSpeech: boolean;
}

interface Utterance {
  readonly mulaw: Uint8Array;
  readonly startMs: number;
  readonly lastVoiced: number;
  readonly onEnd: () => void;
  frame: number;
}

/** A frame is voiced when one of its samples reaches this value: 1/64 of full scale, above the noise of any recording. */
const VOICED_PEAK = 512;

/** A frame of silence; shared, so never change it. */
export const SILENT_FRAME: Uint8Array = new Uint8Array(FRAME_SAMPLES).fill(MULAW_SILENCE);
/** Most frames are silence, so thousands of calls share this one. */
const SILENCE: Frame = { audio: SILENT_FRAME, isSpeech: false };

/** The microphone of one call. `stop` must be called at the end. */
export class Microphone {
  readonly #clock: CallClock;
  readonly #onFrame: (frame: Frame) => void;
  readonly #pace: FramePace;
  readonly #said: { readonly startMs: number; readonly mulaw: Uint8Array; endMs: number }[] = [];
  #utterance: Utterance | undefined;
  #live: JitterBuffer | undefined;
  #wanted = false;
  #noiseAt = 0;
  /** Background noise, played in a loop: 16 bit, 8 kHz. Undefined: none. */
  noise: Int16Array | undefined;

  /** @param onFrame - called for every frame while frames are wanted or the caller speaks. */
  constructor(clock: CallClock, onFrame: (frame: Frame) => void) {
    this.#clock = clock;
    this.#onFrame = onFrame;
    this.#pace = new FramePace(clock, () => {
      this.#emit();
      this.#rest();
    });
  }

  /** Whether frames are wanted while the caller is silent, too. */
  set wanted(wanted: boolean) {
    this.#wanted = wanted;
    if (wanted) this.#pace.start();
    else this.#rest();
  }

  /** Frames of 160 bytes from a person's own microphone, used while no utterance is spoken. A missing frame counts as silence. */
  set live(frames: JitterBuffer) {
    this.#live = frames;
    this.#pace.start();
  }

  /** Whether the caller is in the middle of an utterance. */
  get isSpeaking(): boolean {
    return this.#utterance !== undefined;
  }

  /**
   * The caller starts to speak with the next frame. One utterance at a time: a second one replaces the first.
   *
   * @param mulaw - µ-law, 8 kHz, no header.
   * @param onEnd - called when the last frame of the utterance is due.
   */
  speak(mulaw: Uint8Array, onEnd: () => void): void {
    this.#endSpeech();
    this.#pace.start();
    const startMs = this.#pace.nextMs;
    this.#utterance = { mulaw, startMs, lastVoiced: lastVoicedFrame(mulaw), onEnd, frame: 0 };
    this.#said.push({ startMs, mulaw, endMs: startMs + mulaw.length / (LINE_RATE_HZ / 1000) });
  }

  /** Everything said from the beginning of the call to `endMs`, 8 kHz; silence in between. */
  said(endMs: number): Int16Array {
    const perMs = LINE_RATE_HZ / 1000;
    const track = new Int16Array(Math.max(0, Math.floor(endMs * perMs)));
    for (const { startMs, mulaw, endMs: saidUntilMs } of this.#said) {
      const start = Math.round(startMs * perMs);
      const length = Math.min(mulaw.length, Math.round((saidUntilMs - startMs) * perMs), track.length - start);
      if (length > 0) track.set(decodeMulaw(mulaw.subarray(0, length)), start);
    }
    return track;
  }

  /** Ends everything; an utterance in progress stops here, and `onEnd` is not called. */
  stop(): void {
    this.#endSpeech();
    this.#live = undefined;
    this.wanted = false;
  }

  #endSpeech(): void {
    const last = this.#said.at(-1);
    if (this.#utterance !== undefined && last !== undefined) last.endMs = Math.min(last.endMs, this.#clock.nowMs());
    this.#utterance = undefined;
  }

  /** Stops making frames when nobody wants any. */
  #rest(): void {
    if (!this.#wanted && this.#utterance === undefined && this.#live === undefined) this.#pace.stop();
  }

  #emit(): void {
    const utterance = this.#utterance;
    // Taken during an utterance, too: otherwise the live sound would be late after it.
    const live = this.#live?.take();
    if (utterance === undefined) {
      if (live !== undefined) this.#emitLive(live);
      else this.#onFrame(this.noise === undefined ? SILENCE : { audio: this.#withNoise(SILENT_FRAME, this.noise), isSpeech: false });
      return;
    }
    const from = utterance.frame * FRAME_SAMPLES;
    const isSpeech = utterance.frame <= utterance.lastVoiced;
    utterance.frame += 1;
    const isLast = from + FRAME_SAMPLES >= utterance.mulaw.length;
    if (isLast) this.#utterance = undefined;
    const audio = frameAt(utterance.mulaw, from);
    this.#onFrame({ audio: this.noise === undefined ? audio : this.#withNoise(audio, this.noise), isSpeech });
    if (isLast) utterance.onEnd();
  }

  #emitLive(audio: Uint8Array): void {
    const endMs = this.#pace.nextMs;
    this.#said.push({ startMs: endMs - FRAME_MS, mulaw: audio, endMs });
    this.#onFrame({ audio: this.noise === undefined ? audio : this.#withNoise(audio, this.noise), isSpeech: hasVoice(audio) });
  }

  #withNoise(audio: Uint8Array, noise: Int16Array): Uint8Array {
    const from = this.#noiseAt;
    this.#noiseAt = (from + audio.length) % noise.length;
    return encodeMulaw(
      decodeMulaw(audio).map((sample, index) => Math.max(-32_768, Math.min(32_767, sample + (noise[(from + index) % noise.length] ?? 0)))),
    );
  }
}

function frameAt(mulaw: Uint8Array, from: number): Uint8Array {
  const frame = mulaw.subarray(from, from + FRAME_SAMPLES);
  if (frame.length === FRAME_SAMPLES) return frame;
  const padded = Uint8Array.from(SILENT_FRAME);
  padded.set(frame);
  return padded;
}

/** Whether a piece of µ-law contains a voiced frame. */
export function hasVoice(mulaw: Uint8Array): boolean {
  return lastVoicedFrame(mulaw) !== -1;
}

function lastVoicedFrame(mulaw: Uint8Array): number {
  for (let index = mulaw.length - 1; index >= 0; index -= 1) {
    if (Math.abs(MULAW_TO_LINEAR[mulaw[index] ?? MULAW_SILENCE] ?? 0) >= VOICED_PEAK) return Math.floor(index / FRAME_SAMPLES);
  }
  return -1;
}
