// The only maker of prompt audio in this room.
import type { PromptAudio } from '../dialog/output.ts';
import { MULAW_BYTES_PER_MS } from '../speech/audio-format.ts';

/** Longest prompt, ms; also the limit of the bot API for ready audio. */
export const MAX_PROMPT_MS = 300_000;

/** @param mulaw - 8 kHz mono without header; must not change afterwards. */
export function promptAudio(mulaw: Uint8Array): PromptAudio {
  return { mulaw, durationMs: mulaw.length / MULAW_BYTES_PER_MS };
}
