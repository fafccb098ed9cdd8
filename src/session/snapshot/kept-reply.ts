// A reply in the form that travels with a snapshot, for the case that the next home has to say it.
import type { Prompt, Reply } from '../../dialog/reply.ts';
import type { KeptPrompt, KeptReply } from './snapshot.ts';

/** Characters of Base64 for three bytes. */
const BASE64_GROUP = 4;

/**
 * The travelling form.
 *
 * @param maxBytes - largest sound that a bot has made itself, of all its prompts in Base64; the rest is small.
 * @returns undefined for a reply that is too large: whoever has to go on without it asks the caller again. An end without its
 *   prompts: it is worth more than they are.
 */
export function keptReply({ prompts, next }: Reply, maxBytes: number): KeptReply | undefined {
  const bytes = prompts.reduce((sum, prompt) => sum + (prompt.kind === 'audio' ? (prompt.mulaw.length / 3) * BASE64_GROUP : 0), 0);
  if (bytes <= maxBytes) return { prompts: prompts.map(keptPrompt), next };
  return next.kind === 'listen' ? undefined : { prompts: [], next };
}

/** The reply again. */
export function replyOf({ prompts, next }: KeptReply): Reply {
  return { prompts: prompts.map(promptOf), next };
}

function keptPrompt(prompt: Prompt): KeptPrompt {
  if (prompt.kind !== 'audio') return prompt;
  return { kind: 'audio', mulawBase64: Buffer.from(prompt.mulaw).toString('base64'), bargeIn: prompt.bargeIn };
}

function promptOf(prompt: KeptPrompt): Prompt {
  if (prompt.kind !== 'audio') return prompt;
  return { kind: 'audio', mulaw: Buffer.from(prompt.mulawBase64, 'base64'), bargeIn: prompt.bargeIn };
}
