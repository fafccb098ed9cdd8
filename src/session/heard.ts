// What the caller has heard: a clock over the prompts that were handed to the platform. An estimate, because the
// platform says nothing of its player; it starts with the first byte sent and never runs ahead of real time.
import { randomUUID } from 'node:crypto';
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

/** Sound that is not here. */
const ELSEWHERE = new Uint8Array(0);

interface Played {
  readonly prompt: SpokenPrompt;
  /** Another process has said it, and its sound is there. */
  readonly isToldOf?: true;
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
  /** Another process said them: `rest` is without sound. */
  readonly isToldOf: boolean;
}

/** What a caller hears, told to another process: plain JSON. Times are ms, relative to the moment it was told. */
export interface Spoken {
  /** The playback clock that tells. */
  readonly by: string;
  /** How often it has told before. */
  readonly tellings: number;
  /** The prompts that are being heard and those behind them. */
  readonly prompts: readonly SpokenPart[];
  /** False when prompts of the reply were never handed over. */
  readonly isWhole: boolean;
  /** What was heard of a reply that was cut. */
  readonly cutHeard?: Heard;
  /** What was heard of the reply before it was cut and went on. */
  readonly before: Pick<Heard, 'ms' | 'text'>;
}

/** One prompt of it. */
export interface SpokenPart {
  readonly text?: string;
  readonly bargeIn: boolean;
  /** When it began, or begins, to be heard; in the past: negative. */
  readonly startMs: number;
  /** When its last sound is over. */
  readonly endMs: number;
  /** How much sound it has, ms; what was heard of it before it was cut and went on is not part of it. */
  readonly soundMs: number;
  readonly skippedMs?: number;
}

/** The playback clock of one session. Times are monotonic ms. */
export class Playback {
  /** Among those of all processes; made when it is first told. */
  #name: string | undefined;
  #tellings = 0;
  /** What was taken over last. */
  #lastTold: Pick<Spoken, 'by' | 'tellings'> | undefined;
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

  /** For another process, where the caller may be heard next. */
  tell(nowMs: number): Spoken {
    this.#name ??= randomUUID();
    this.#tellings += 1;
    return {
      by: this.#name,
      tellings: this.#tellings - 1,
      prompts: this.#played.map((played) => partOf(played, nowMs)),
      isWhole: this.#isWhole,
      ...(this.#cutHeard === undefined ? {} : { cutHeard: this.#cutHeard }),
      before: this.#before,
    };
  }

  /**
   * Takes over what was told last.
   *
   * @returns false when this clock has told it itself or taken it over before, and knows better.
   */
  told(spoken: Spoken, nowMs: number): boolean {
    const { by, tellings } = spoken;
    if (by === this.#name || (by === this.#lastTold?.by && tellings === this.#lastTold.tellings)) return false;
    this.#lastTold = { by, tellings };
    this.#played = spoken.prompts.map((part) => playedElsewhere(part, nowMs));
    this.#isWhole = spoken.isWhole;
    this.#cutHeard = spoken.cutHeard;
    this.#before = spoken.before;
    return true;
  }

  /** Stops the clock: what was not played by `nowMs` is dropped by the platform (G-52). */
  cut(nowMs: number): Cut {
    const heard = this.heard(nowMs);
    const done = this.#played.filter((played) => played.endMs <= nowMs);
    const left = this.#played.filter((played) => played.endMs > nowMs);
    const before = {
      ms: done.reduce((sum, played) => sum + heardOf(played, nowMs), this.#before.ms),
      text: joined([this.#before.text, ...done.map(({ prompt }) => prompt.text ?? '')]),
    };
    this.#cutHeard = heard;
    this.#played = [];
    const isToldOf = left.some((played) => played.isToldOf === true);
    return { heard, rest: left.map((played) => restOf(played, nowMs)), before, isToldOf };
  }
}

/** The same, told so much later, ms: its times are relative to the moment it is told. */
export function toldLater(spoken: Spoken, laterMs: number): Spoken {
  if (laterMs === 0) return spoken;
  return {
    ...spoken,
    prompts: spoken.prompts.map((part) => ({ ...part, startMs: part.startMs - laterMs, endMs: part.endMs - laterMs })),
  };
}

/** How much of a prompt is heard by `nowMs`, ms of sound; what was skipped of it had been heard before. */
function heardOf({ prompt, pieces }: Played, nowMs: number): number {
  return pieces.reduce((sum, { audio, startMs }) => sum + Math.min(Math.max(0, nowMs - startMs), audio.durationMs), prompt.skippedMs ?? 0);
}

function partOf({ prompt, pieces, startMs, endMs }: Played, nowMs: number): SpokenPart {
  return {
    ...(prompt.text === undefined ? {} : { text: prompt.text }),
    ...(prompt.skippedMs === undefined ? {} : { skippedMs: prompt.skippedMs }),
    bargeIn: prompt.bargeIn,
    startMs: startMs - nowMs,
    endMs: endMs - nowMs,
    soundMs: pieces.reduce((sum, { audio }) => sum + audio.durationMs, 0),
  };
}

/** Its sound in one piece: that there were silences between two is not told. */
function playedElsewhere({ text, bargeIn, skippedMs, soundMs, ...times }: SpokenPart, nowMs: number): Played {
  const startMs = nowMs + times.startMs;
  return {
    prompt: { audio: undefined, text, bargeIn, ...(skippedMs === undefined ? {} : { skippedMs }) },
    isToldOf: true,
    pieces: [{ audio: { mulaw: ELSEWHERE, durationMs: soundMs }, startMs }],
    startMs,
    endMs: nowMs + times.endMs,
  };
}

function restOf(played: Played, nowMs: number): SpokenPrompt {
  const { prompt, pieces } = played;
  if (played.isToldOf === true) return prompt;
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
