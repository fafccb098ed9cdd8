// What is asked of replies and outcomes before somebody speaks: is anything to be heard.
import { AppError } from '../../base/errors.ts';
import { isTerminal, type Listen, type Prompt } from '../../dialog/reply.ts';
import { shownFile } from '../../dialog/shown-file.ts';
import type { Outcome } from './bot-question.ts';
import type { ReplyWriter } from '../playout/reply-writer.ts';

/**
 * A reply that leaves the caller in silence has failed like one that throws. A farewell has not: the transfer or the end
 * is more than an apology.
 */
export async function heardOutcome(outcome: Outcome, writer: Pick<ReplyWriter, 'isMute'>): Promise<Outcome> {
  if (outcome.kind !== 'answer') return outcome;
  const { prompts, next } = outcome.answer.reply;
  if (isTerminal(next) || !(await writer.isMute(prompts))) return outcome;
  const files = prompts.flatMap((prompt) => (prompt.kind === 'file' ? [shownFile(prompt.file)] : []));
  const error = new AppError(
    'prompt_unusable',
    `nothing of the reply can be heard: it is recordings alone, and none can be played (${files.join(', ')})`,
  );
  return { kind: 'failed', error, event: outcome.event };
}

/** What is asked for again when need be. What the flow gets goes out once, and may repeat a sensitive input (G-83). */
export function withoutEvent({ event: _, ...listen }: Listen): Listen {
  return listen;
}

/** The texts of prompts, in order. */
export function textsOf(prompts: readonly Prompt[]): readonly string[] {
  return prompts.flatMap((prompt) => (prompt.kind === 'text' ? [prompt.text] : []));
}
