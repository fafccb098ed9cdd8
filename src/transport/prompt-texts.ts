// The texts of prompts as tests get them: what was heard, in words. Never on a server that takes real calls.
import type { Output } from '../dialog/output.ts';

/** A text for each prompt with sound that an output begins; empty for sound that has no text of its own. */
export function promptTexts(output: Output): readonly string[] {
  const prompts = output.kind === 'prompt' ? [output.prompt] : output.kind === 'final' ? output.prompts : [];
  return prompts.flatMap(({ audio, text, skippedMs, goesOn }) => {
    if (audio === undefined || goesOn === true) return [];
    // A recording, or the rest of what was cut, has no text of its own, which is told.
    return [skippedMs === undefined ? (text ?? '') : ''];
  });
}
