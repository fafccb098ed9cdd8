// The transcript of one call as it grows: after each answer, and when we end the call ourselves. Keeps nothing unless the
// operator asks for it; knows no bots and no turns.
import type { ReplyingEvent } from '../../bot/bot.ts';
import type { Conversation } from '../conversation.ts';
import type { EngineSettings } from '../settings.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { withBotLine, withStep, type TranscriptLine } from './transcript.ts';

/**
 * With the answer to an event.
 *
 * @param isSensitive - the event is a sensitive input.
 * @param lastTexts - of a reply that ends the call: nobody says later what was heard of it.
 */
export function transcriptAfter(
  snapshot: Snapshot,
  { keepsTranscript }: EngineSettings,
  event: ReplyingEvent | undefined,
  isSensitive: boolean,
  lastTexts: readonly string[],
): readonly TranscriptLine[] {
  if (!keepsTranscript) return [];
  const wasSensitive = snapshot.sensitive;
  const lines = event === undefined ? snapshot.transcript : withStep(snapshot.transcript, { event, isSensitive, wasSensitive });
  return withBotLine(lines, lastTexts.join(' '), wasSensitive);
}

/** Of a call that we end ourselves. */
export function transcriptSoFar(
  { snapshot, playout }: Conversation,
  { keepsTranscript, handover }: EngineSettings,
  nowMs: number,
): readonly TranscriptLine[] {
  if (!keepsTranscript) return [];
  const heard = playout.heard(nowMs).text;
  return withBotLine(withBotLine(snapshot.transcript, heard, snapshot.sensitive), handover, false);
}
