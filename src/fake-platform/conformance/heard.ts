// How long prompts are heard, and which answers have anything to hear, as on the platform. Knows no wire and no rule.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { readWavLayout, startsAsWav } from '../../speech/wav.ts';
import type { Answer, AnswerPrompt } from '../caller/answer.ts';

/** Longest wait for prompts to be heard, ms. */
export const MAX_PLAYBACK_MS = 45_000;
/** How long one character of a prompt without audio plays, and the longest time for the whole prompt, ms. */
const [CHARACTER_MS, MAX_TEXT_MS] = [60, 20_000];
/** Whether a response only reports that speech began or ended. */
export function isNotice({ event, prompts }: Answer): boolean {
  return prompts.length === 0 && (event?.kind === 'start_of_input' || event?.kind === 'end_of_input');
}

/** Whether a prompt has anything to hear. */
export function isHeard({ text, uri, audio }: AnswerPrompt): boolean {
  return text !== '' || uri !== '' || audio.length > 0;
}

/** How long a prompt is heard, ms; an estimate for text without audio. */
export function playMs({ audio, text }: AnswerPrompt): number {
  if (audio.length === 0) return Math.min(MAX_TEXT_MS, text.length * CHARACTER_MS);
  if (!startsAsWav(audio)) return audio.length / (LINE_RATE_HZ / 1000);
  try {
    const { dataBytes, sampleRateHz, channels, coding } = readWavLayout(audio);
    const bytes = { pcm8: 1, pcm16: 2, pcm24: 3, mulaw: 1, alaw: 1 }[coding] * channels;
    return (dataBytes / bytes / sampleRateHz) * 1000;
  } catch {
    // A WAV that cannot be read cannot be played.
    return 0;
  }
}

/** How long the prompts of these answers will still be heard, at most {@link MAX_PLAYBACK_MS}, ms; negative when they are over. */
export function playLeftMs(answers: readonly { readonly answer: Answer; readonly atMs: number }[], nowMs: number): number {
  const prompts = answers.flatMap(({ answer, atMs }) => answer.prompts.map((prompt) => ({ atMs, ms: playMs(prompt) })));
  const endMs = prompts.reduce((playedUntil, { atMs, ms }) => Math.max(playedUntil, atMs) + ms, 0);
  return Math.min(MAX_PLAYBACK_MS, endMs - nowMs);
}
