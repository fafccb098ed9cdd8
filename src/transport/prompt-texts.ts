// The texts of prompts for tests. Never used on a server with real calls.
import type { Output } from '../dialog/output.ts';

/** One text for each prompt with audio that begins in an output; empty when the audio has no text of its own. */
export function promptTexts(output: Output): readonly string[] {
  const prompts = output.kind === 'prompt' ? [output.prompt] : output.kind === 'final' ? output.prompts : [];
  return prompts.flatMap(({ audio, text, skippedMs, goesOn }) => {
    if (audio === undefined || goesOn === true) return [];
    // A recording, or the rest of a cut prompt, has no text of its own.
    return [skippedMs === undefined ? (text ?? '') : ''];
  });
}
