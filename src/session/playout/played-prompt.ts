// One prompt that was delivered to the platform: how much of its audio and text was heard by a given time, and what is left
// after a cut. Knows neither the other prompts nor the reply.
import { wordsUpTo, type HeardPart } from '../../dialog/heard.ts';
import type { PromptAudio, SpokenPrompt } from '../../dialog/output.ts';

/** A prompt resumes from this long before the cut, ms, because nobody understands half a word. */
const REPEATED_MS = 400;
/** Estimated speaking time, ms per character; used until the whole prompt is synthesized. */
export const MS_PER_CHARACTER = 65;
/** Bytes of µ-law per ms of sound. */
const BYTES_PER_MS = 8;

/** A piece of audio and the start of its playout. */
interface Piece {
  readonly audio: PromptAudio;
  readonly startMs: number;
}

const NO_SOUND = new Uint8Array(0);

/** A delivered prompt. Times are monotonic ms. */
export interface Played {
  readonly prompt: SpokenPrompt;
  /** The prompt's audio. A streamed prompt has several pieces, possibly with silence between them. */
  readonly pieces: Piece[];
  readonly startMs: number;
  endMs: number;
  /** Whether more audio is being synthesized, or the synthesis broke off. */
  isUnfinished: boolean;
}

/** Audio that was heard by `nowMs`, ms; includes a part that was skipped because it had been heard before a cut. */
export function heardOf({ prompt, pieces }: Played, nowMs: number): number {
  return pieces.reduce((sum, { audio, startMs }) => sum + Math.min(Math.max(0, nowMs - startMs), audio.durationMs), prompt.skippedMs ?? 0);
}

/** The text heard by `nowMs`. */
export function textOf(played: Played, nowMs: number): string {
  const { prompt, endMs, isUnfinished } = played;
  const text = prompt.text ?? '';
  if (nowMs >= endMs && !isUnfinished) return text;
  const lengthMs = Math.max(heardOf(played, Infinity), isUnfinished ? text.length * MS_PER_CHARACTER : 0);
  return wordsUpTo(text, lengthMs === 0 ? 0 : heardOf(played, nowMs) / lengthMs);
}

/** The heard part of a prompt, as bots get it. */
export function partOf(played: Played, nowMs: number): HeardPart {
  const { prompt, endMs, isUnfinished } = played;
  const ms = Math.floor(heardOf(played, nowMs));
  return { text: prompt.text ?? '', heard: textOf(played, nowMs), ms, complete: nowMs >= endMs && !isUnfinished };
}

/** The joined texts of consecutive prompts. */
export function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}

/** The reply of the previous home; its audio is not available here. */
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

/** The rest of a prompt that is cut at `nowMs`, from a little before the cut. */
export function restOf(played: Played, nowMs: number): SpokenPrompt {
  const { prompt, pieces } = played;
  const skipMs = Math.max(0, heardOf(played, nowMs) - (prompt.skippedMs ?? 0) - REPEATED_MS);
  // The same object, so that a transport can reuse its encoded bytes.
  if (skipMs === 0 && pieces.length <= 1) return prompt;
  const mulaw = Buffer.concat(pieces.map(({ audio }) => audio.mulaw)).subarray(Math.floor(skipMs * BYTES_PER_MS));
  return { ...prompt, audio: { mulaw, durationMs: mulaw.length / BYTES_PER_MS }, skippedMs: (prompt.skippedMs ?? 0) + skipMs };
}
