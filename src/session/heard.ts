// What the caller has heard: a clock over the prompts that were handed to the platform. An estimate, because the
// platform says nothing of its player; it starts with the first byte sent and never runs ahead of real time.
import { NOTHING_SAID, type Heard } from '../dialog/heard.ts';
import type { PromptAudio, SpokenPrompt } from '../dialog/output.ts';

/** A prompt that goes on after a cut begins this much earlier, ms: in the middle of a word nobody understands it. */
const REPEATED_MS = 400;
/** Bytes of µ-law per ms of sound. */
const BYTES_PER_MS = 8;

/** A piece of sound, and when it begins to be heard. */
interface Piece {
  readonly audio: PromptAudio;
  readonly startMs: number;
}

interface Played {
  readonly prompt: SpokenPrompt;
  /** All of its sound, in pieces when it was synthesized while it was sent; between two of them there may be silence. */
  readonly pieces: Piece[];
  readonly startMs: number;
  endMs: number;
}

/** What a cut left behind. */
export interface Cut {
  readonly heard: Heard;
  /** The prompts that were not heard to their end, from a little before the cut on. */
  readonly rest: readonly SpokenPrompt[];
  /** Those before them. */
  readonly before: Pick<Heard, 'ms' | 'text'>;
}

/** The playback clock of one session. Times are monotonic ms. */
export class Playback {
  #played: Played[] = [];
  /** False when prompts of the reply were never handed over. */
  #isWhole = true;
  /** What was heard of a reply that was cut. */
  #cutHeard: Heard | undefined;
  /** What was heard of the reply before it was cut and went on. */
  #before: Cut['before'] = NOTHING_SAID;

  /** The next reply begins. What is still being played stays before it (G-22). */
  begin(nowMs: number): void {
    this.#played = this.#played.filter((played) => played.endMs > nowMs);
    this.#isWhole = true;
    this.#cutHeard = undefined;
    this.#before = NOTHING_SAID;
  }

  /** A reply that was cut goes on: its `rest` is queued next. */
  resume({ before }: Cut, nowMs: number): void {
    this.begin(nowMs);
    this.#before = before;
  }

  /** A prompt was handed over at `nowMs`; it plays after those before it (G-22). Without sound it takes no time here. */
  queued(prompt: SpokenPrompt, nowMs: number): void {
    const startMs = Math.max(nowMs, this.#played.at(-1)?.endMs ?? nowMs);
    const { audio } = prompt;
    const pieces = audio === undefined ? [] : [{ audio, startMs }];
    this.#played.push({ prompt, pieces, startMs, endMs: startMs + (audio?.durationMs ?? 0) });
  }

  /** A further piece of the prompt that was queued last. */
  extended(audio: PromptAudio, nowMs: number): void {
    const last = this.#played.at(-1);
    if (last === undefined) return;
    // A piece that comes late leaves a silence before it, which is no part of what is heard.
    const startMs = Math.max(last.endMs, nowMs);
    last.pieces.push({ audio, startMs });
    last.endMs = startMs + audio.durationMs;
  }

  /**
   * Prompts of this reply will not be sent: the caller acted over it.
   *
   * @param hasBegun - false when it has no prompt here yet: what was heard before is an earlier reply.
   */
  dropped(hasBegun = true): void {
    this.#isWhole = false;
    if (!hasBegun) this.#cutHeard = { ...NOTHING_SAID, complete: false };
    else if (this.#cutHeard !== undefined) this.#cutHeard = { ...this.#cutHeard, complete: false };
  }

  /** True while prompts are being heard. */
  isPlaying(nowMs: number): boolean {
    return this.remainingMs(nowMs) > 0;
  }

  /** How long the prompts that were handed over still play. */
  remainingMs(nowMs: number): number {
    const last = this.#played.at(-1);
    return last === undefined ? 0 : Math.max(0, last.endMs - nowMs);
  }

  /** True while a prompt is being heard that may not be cut (G-37, G-51). */
  isProtected(nowMs: number): boolean {
    // Nothing begins later than what is before it ends, so the first that is not over is the one that is heard.
    for (const { prompt, endMs } of this.#played) if (nowMs < endMs) return !prompt.bargeIn;
    return false;
  }

  /** What was heard of the last reply by `nowMs`, or by the moment it was cut. */
  heard(nowMs: number): Heard {
    if (this.#cutHeard !== undefined) return this.#cutHeard;
    let { ms } = this.#before;
    let complete = this.#isWhole;
    const texts = [this.#before.text];
    for (const played of this.#played) {
      const { prompt } = played;
      const lengthMs = heardOf(played, Infinity);
      const heardMs = heardOf(played, nowMs);
      const isHeard = nowMs >= played.endMs;
      ms += heardMs;
      complete &&= isHeard;
      texts.push(isHeard ? (prompt.text ?? '') : wordsUpTo(prompt.text ?? '', lengthMs === 0 ? 0 : heardMs / lengthMs));
    }
    return { complete, ms, text: joined(texts) };
  }

  /** Stops the clock: what was not played by `nowMs` is dropped by the platform (G-52). */
  cut(nowMs: number): Cut {
    const heard = this.heard(nowMs);
    const done = this.#played.filter((played) => played.endMs <= nowMs);
    const rest = this.#played.filter((played) => played.endMs > nowMs).map((played) => restOf(played, nowMs));
    const before = {
      ms: done.reduce((sum, played) => sum + heardOf(played, nowMs), this.#before.ms),
      text: joined([this.#before.text, ...done.map(({ prompt }) => prompt.text ?? '')]),
    };
    this.#cutHeard = heard;
    this.#played = [];
    return { heard, rest, before };
  }
}

/** How much of a prompt is heard by `nowMs`, ms of sound; what was skipped of it had been heard before. */
function heardOf({ prompt, pieces }: Played, nowMs: number): number {
  return pieces.reduce((sum, { audio, startMs }) => sum + Math.min(Math.max(0, nowMs - startMs), audio.durationMs), prompt.skippedMs ?? 0);
}

function restOf(played: Played, nowMs: number): SpokenPrompt {
  const { prompt, pieces } = played;
  const skipMs = Math.max(0, heardOf(played, nowMs) - (prompt.skippedMs ?? 0) - REPEATED_MS);
  // The same object, so that a transport finds what it has encoded of it.
  if (skipMs === 0 && pieces.length <= 1) return prompt;
  const mulaw = Buffer.concat(pieces.map(({ audio }) => audio.mulaw)).subarray(Math.floor(skipMs * BYTES_PER_MS));
  return { ...prompt, audio: { mulaw, durationMs: mulaw.length / BYTES_PER_MS }, skippedMs: (prompt.skippedMs ?? 0) + skipMs };
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}

/** The words of a text up to a part of its length between 0 and 1; a word that was begun counts. */
function wordsUpTo(text: string, part: number): string {
  if (part <= 0) return '';
  const end = text.indexOf(' ', Math.ceil(text.length * part) - 1);
  return (end === -1 ? text : text.slice(0, end)).trimEnd();
}
