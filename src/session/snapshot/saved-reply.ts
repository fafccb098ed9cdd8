// The JSON form of a reply in a snapshot, in case the next home must repeat the reply.
import type { Prompt, Reply } from '../../dialog/reply.ts';
import type { SavedPrompt, SavedReply } from './snapshot.ts';

/** Number of Base64 characters for three bytes. */
const BASE64_GROUP = 4;

/**
 * The JSON form of a reply.
 *
 * @param maxBytes - most bytes of ready audio in all prompts together, as Base64; everything else is small.
 * @returns undefined for a reply that is too large: the next home then asks the caller again. A terminal reply that is too large
 * is saved without its prompts.
 */
export function savedReply({ prompts, next }: Reply, maxBytes: number): SavedReply | undefined {
  const bytes = prompts.reduce((sum, prompt) => sum + (prompt.kind === 'audio' ? (prompt.mulaw.length / 3) * BASE64_GROUP : 0), 0);
  if (bytes <= maxBytes) return { prompts: prompts.map(savedPrompt), next };
  return next.kind === 'listen' ? undefined : { prompts: [], next };
}

/** Restores the reply. */
export function replyOf({ prompts, next }: SavedReply): Reply {
  return { prompts: prompts.map(promptOf), next };
}

function savedPrompt(prompt: Prompt): SavedPrompt {
  if (prompt.kind !== 'audio') return prompt;
  return { kind: 'audio', mulawBase64: Buffer.from(prompt.mulaw).toString('base64'), bargeIn: prompt.bargeIn };
}

function promptOf(prompt: SavedPrompt): Prompt {
  if (prompt.kind !== 'audio') return prompt;
  return { kind: 'audio', mulaw: Buffer.from(prompt.mulawBase64, 'base64'), bargeIn: prompt.bargeIn };
}
