// One prompt that was handed over to the platform: how much of its sound and of its words is heard by when, what is left of it after
// a cut, and how another process is told of it. Knows neither the prompts beside it nor whose reply it is.
import type { PromptAudio, SpokenPrompt } from '../dialog/output.ts';

/** A prompt that goes on after a cut begins this much earlier, ms: in the middle of a word nobody understands it. */
const REPEATED_MS = 400;
/** How long a calm voice takes for a character, ms: how long a prompt becomes is known when all of it is made. */
export const MS_PER_CHARACTER = 65;
/** Bytes of µ-law per ms of sound. */
const BYTES_PER_MS = 8;

/** A piece of sound, and when it begins to be heard. */
interface Piece {
  readonly audio: PromptAudio;
  readonly startMs: number;
}

/** Sound that is not here. */
const ELSEWHERE = new Uint8Array(0);

/** A prompt that was handed over. Times are monotonic ms. */
export interface Played {
  readonly prompt: SpokenPrompt;
  /** Another process has said it, and its sound is there. */
  readonly isToldOf?: true;
  /** All of its sound, in pieces when it was synthesized while it was sent; between two of them there may be silence. */
  readonly pieces: Piece[];
  readonly startMs: number;
  endMs: number;
  /** More of its sound is being made, or was never made. */
  isUnfinished: boolean;
}

/** One prompt as another process is told of it: plain JSON. Times are ms, relative to the moment it was told. */
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
  /** Not all of its sound was made. */
  readonly isUnfinished?: true;
}

/** How much of a prompt is heard by `nowMs`, ms of sound; what was skipped of it had been heard before. */
export function heardOf({ prompt, pieces }: Played, nowMs: number): number {
  return pieces.reduce((sum, { audio, startMs }) => sum + Math.min(Math.max(0, nowMs - startMs), audio.durationMs), prompt.skippedMs ?? 0);
}

/** The words of a prompt that were heard by `nowMs`. */
export function textOf(played: Played, nowMs: number): string {
  const { prompt, endMs, isUnfinished } = played;
  const text = prompt.text ?? '';
  if (nowMs >= endMs && !isUnfinished) return text;
  const lengthMs = Math.max(heardOf(played, Infinity), isUnfinished ? text.length * MS_PER_CHARACTER : 0);
  return wordsUpTo(text, lengthMs === 0 ? 0 : heardOf(played, nowMs) / lengthMs);
}

/** As another process is told of it at `nowMs`. */
export function partOf({ prompt, pieces, startMs, endMs, isUnfinished }: Played, nowMs: number): SpokenPart {
  return {
    ...(prompt.text === undefined ? {} : { text: prompt.text }),
    ...(prompt.skippedMs === undefined ? {} : { skippedMs: prompt.skippedMs }),
    bargeIn: prompt.bargeIn,
    startMs: startMs - nowMs,
    endMs: endMs - nowMs,
    soundMs: pieces.reduce((sum, { audio }) => sum + audio.durationMs, 0),
    ...(isUnfinished ? { isUnfinished } : {}),
  };
}

/** What another process has told of at `nowMs`, its sound in one piece: that there were silences between two is not told. */
export function playedElsewhere({ text, bargeIn, skippedMs, soundMs, isUnfinished, ...times }: SpokenPart, nowMs: number): Played {
  const startMs = nowMs + times.startMs;
  return {
    prompt: { audio: undefined, text, bargeIn, ...(skippedMs === undefined ? {} : { skippedMs }) },
    isToldOf: true,
    pieces: [{ audio: { mulaw: ELSEWHERE, durationMs: soundMs }, startMs }],
    startMs,
    endMs: nowMs + times.endMs,
    isUnfinished: isUnfinished === true,
  };
}

/** What is left of a prompt that is cut at `nowMs`, from a little before it on. */
export function restOf(played: Played, nowMs: number): SpokenPrompt {
  const { prompt, pieces } = played;
  if (played.isToldOf === true) return prompt;
  const skipMs = Math.max(0, heardOf(played, nowMs) - (prompt.skippedMs ?? 0) - REPEATED_MS);
  // The same object, so that a transport finds what it has encoded of it.
  if (skipMs === 0 && pieces.length <= 1) return prompt;
  const mulaw = Buffer.concat(pieces.map(({ audio }) => audio.mulaw)).subarray(Math.floor(skipMs * BYTES_PER_MS));
  return { ...prompt, audio: { mulaw, durationMs: mulaw.length / BYTES_PER_MS }, skippedMs: (prompt.skippedMs ?? 0) + skipMs };
}

/** The words of a text up to a part of its length between 0 and 1; a word that was begun counts. */
function wordsUpTo(text: string, part: number): string {
  if (part <= 0) return '';
  const end = text.indexOf(' ', Math.ceil(text.length * part) - 1);
  return (end === -1 ? text : text.slice(0, end)).trimEnd();
}
