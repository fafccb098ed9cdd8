// The transcript of one call as it grows: after each answer, and when we end the call ourselves. Keeps nothing unless the
// operator asks for it; knows no bots and no turns.
import { waitAtMost } from '../base/abort.ts';
import type { ReplyingEvent } from '../bot/bot.ts';
import type { EngineParts, RunningSession } from './parts.ts';
import type { SessionRecord } from './record.ts';
import { withBotLine, withStep, type TranscriptLine } from './transcript.ts';

/** Longest wait for the transcript of a call that we end ourselves, ms. */
const TRANSCRIPT_LIMIT_MS = 500;

/** Holds nothing of any session. */
export class CallTranscript {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /**
   * With the answer to an event.
   *
   * @param isSensitive - the event is a sensitive input.
   * @param lastTexts - of a reply that ends the call: nobody says later what was heard of it.
   */
  after(
    record: SessionRecord,
    event: ReplyingEvent | undefined,
    isSensitive: boolean,
    lastTexts: readonly string[],
  ): readonly TranscriptLine[] {
    if (!this.#parts.settings.keepsTranscript) return [];
    const wasSensitive = record.sensitive;
    const lines = event === undefined ? record.transcript : withStep(record.transcript, { event, isSensitive, wasSensitive });
    return withBotLine(lines, lastTexts.join(' '), wasSensitive);
  }

  /** Of a call that we end ourselves; what the store does not give in time is done without. Never throws. */
  async soFar(session: RunningSession): Promise<readonly TranscriptLine[]> {
    const { clock, log, settings, store } = this.#parts;
    if (!settings.keepsTranscript) return [];
    try {
      const loaded = await waitAtMost(store.load(session.call), TRANSCRIPT_LIMIT_MS, clock);
      const record = loaded.kind === 'value' ? loaded.value : undefined;
      if (record === undefined) return [];
      const heard = session.playback.heard(clock.monotonicMs()).text;
      return withBotLine(withBotLine(record.transcript, heard, record.sensitive), settings.handover, false);
    } catch (err) {
      log.warn({ conversationId: session.call.conversationId, err }, 'a call ends without its transcript: the store failed');
      return [];
    }
  }
}
