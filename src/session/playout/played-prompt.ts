// One prompt that was delivered to the platform: how much of its sound and of its words is heard by when, and what is left of it
// after a cut. Knows neither the prompts beside it nor whose reply it is.
import type { PromptAudio, SpokenPrompt } from '../../dialog/output.ts';

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
const NO_SOUND = new Uint8Array(0);

/** A prompt that was sent. Times are monotonic ms. */
export interface Played {
  readonly prompt: SpokenPrompt;
  /** All of its sound, in pieces when it was synthesized while it was sent; between two of them there may be silence. */
  readonly pieces: Piece[];
  readonly startMs: number;
  endMs: number;
  /** More of its sound is being made, or was never made. */
  isUnfinished: boolean;
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

/** The words of prompts that follow each other. */
export function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}

/** A reply that the home before has said: its sound is not here. */
export function playedBefore(reply: {
  readonly text: string;
  readonly bargeIn: boolean;
  readonly soundMs: number;
  readonly startMs: number;
}): Played {
  const { text, bargeIn, soundMs, startMs } = reply;
  return {
    prompt: { audio: undefined, text, bargeIn },
    pieces: [{ audio: { mulaw: NO_SOUND, durationMs: soundMs }, startMs }],
    startMs,
    endMs: startMs + soundMs,
    isUnfinished: false,
  };
}

/** What is left of a prompt that is cut at `nowMs`, from a little before it on. */
export function restOf(played: Played, nowMs: number): SpokenPrompt {
  const { prompt, pieces } = played;
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
