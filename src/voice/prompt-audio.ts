// The one constructor of prompt audio in this room.
import type { PromptAudio } from '../dialog/output.ts';
import { MULAW_BYTES_PER_MS } from '../speech/audio-format.ts';

/** Longest prompt, ms; the bot API takes no longer ready audio either. */
export const MAX_PROMPT_MS = 300_000;

/** @param mulaw - 8 kHz mono without header; the caller gives it away and must not change it afterwards. */
export function promptAudio(mulaw: Uint8Array): PromptAudio {
  return { mulaw, durationMs: mulaw.length / MULAW_BYTES_PER_MS };
}
