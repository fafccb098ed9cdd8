// What is asked of calls, replies and outcomes before somebody speaks: is anything to be heard, and is anything left to say.
import { AppError } from '../base/errors.ts';
import { isTerminal, type Listen, type Prompt } from '../dialog/reply.ts';
import { shownFile } from '../dialog/shown-file.ts';
import type { Outcome } from './bot-question.ts';
import type { RunningSession } from './parts.ts';
import type { KeptCall } from './ports.ts';
import type { ReplyWriter } from './reply-writer.ts';

/**
 * A reply that leaves the caller in silence has failed like one that throws. Last words have not: the transfer or the end
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

/** Whether nothing is answered here any more: a session has ended, or its end is decided and has only to be handed over. */
export function isOver({ isEnded, owed }: RunningSession): boolean {
  return isEnded || owed !== undefined;
}

/** Whether the end of a call was handed over, here or elsewhere, where other processes can tell. */
export function isEndTold({ record, unheard }: Pick<KeptCall, 'record' | 'unheard'>): boolean {
  return record.closed === true || (record.ended && unheard === undefined);
}

/** Whether the last reply is still to be said here: one of another process, or an end that this one has lost sight of. */
export function isLeftToSay({ record, unheard }: Pick<KeptCall, 'record' | 'unheard'>): boolean {
  return unheard === 'elsewhere' || (unheard === 'here' && record.ended && record.closed !== true);
}

/** What is asked for again when need be. What the flow is told goes out once, and may repeat a sensitive input (G-83). */
export function withoutEvent({ event: _, ...listen }: Listen): Listen {
  return listen;
}

/** The texts of prompts, in order. */
export function textsOf(prompts: readonly Prompt[]): readonly string[] {
  return prompts.flatMap((prompt) => (prompt.kind === 'text' ? [prompt.text] : []));
}
