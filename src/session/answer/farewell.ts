// Ends calls from our side: the farewell, its terminal event, and an end that could not be delivered earlier. Does not ask
// the bot.
import { toAppError, type AppError } from '../../base/errors.ts';
import { say } from '../../bot/saying.ts';
import type { SessionEnd, TurnEnd } from '../../dialog/ending.ts';
import type { FinalNext } from '../../dialog/output.ts';
import type { Next, Prompt } from '../../dialog/reply.ts';
import type { Conversation, PendingEnd } from '../conversation.ts';
import type { EngineParts } from '../parts.ts';
import type { ReplyWriter } from '../playout/reply-writer.ts';
import { linesOf, type EngineSettings } from '../settings.ts';
import { replyOf } from '../snapshot/saved-reply.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Turn } from '../turn/turn.ts';
import { finalNext } from './final-next.ts';
import { transcriptText, withBotLine, type TranscriptLine } from './transcript.ts';

/** Where an answer is delivered. */
export interface Delivery {
  readonly conversation: Conversation;
  readonly turn: Turn;
  readonly writer: ReplyWriter;
}

/** The next step in the last response. @param transcript - included if it is not empty (G-7B). */
export function lastNext(next: Next, settings: EngineSettings, transcript: readonly TranscriptLine[]): FinalNext {
  return finalNext(next, settings.listen, transcript.length > 0 ? transcriptText(transcript) : undefined);
}

/** Set when the previous home had decided an end that it may not have delivered. */
export function pendingEndOf(snapshot: Snapshot, settings: EngineSettings): PendingEnd | undefined {
  if (!snapshot.ended || snapshot.reply === undefined) return undefined;
  const { next, prompts } = replyOf(snapshot.reply);
  if (next.kind === 'listen') return undefined;
  return { next: lastNext(next, settings, snapshot.transcript), end: snapshot.failures > 0 ? 'failed' : endOf(next), farewell: prompts };
}

/** How a call ends after a reply that transfers or ends it. */
export function endOf({ kind }: { readonly kind: 'transfer' | 'end' }): SessionEnd {
  return kind === 'transfer' ? 'bot_transfer' : 'bot_end';
}

/** Ends the calls of all sessions; stateless. */
export class Farewell {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /**
   * Delivers the farewell and the terminal event; streams without input complete afterwards (G-13). An end that is not delivered
   * stays pending until the caller's next turn (G-77).
   *
   * @throws as {@link ReplyWriter.finish}; then the turn is not completed.
   */
  async say({ conversation, turn, writer }: Delivery, prompts: readonly Prompt[], pendingEnd: PendingEnd, turnEnd: TurnEnd): Promise<void> {
    conversation.endsWith(pendingEnd, turn);
    const isWritten = await writer.finish(prompts, pendingEnd.next, true, turnEnd === 'failed');
    conversation.isFarewellWritten = isWritten;
    // A forwarded terminal event may be lost with the forwarding process; the end is then pending again.
    if (isWritten && turn.forwardedId === undefined) conversation.ends(pendingEnd.end);
    turn.finish(turnEnd);
    if (!isWritten) return;
    conversation.isFarewellWritten = (await turn.delivered?.()) ?? true;
    if (!conversation.isFarewellWritten) return;
    conversation.ends(pendingEnd.end);
    // The call's other streams complete without an answer, after the terminal event, which explains this to the client (G-13).
    conversation.open.complete('silent');
  }

  /** Delivers a pending end; with prompts only if the previous home was speaking its farewell. Never throws. */
  async settle(delivery: Delivery): Promise<void> {
    const { conversation, turn } = delivery;
    try {
      const { pendingEnd } = conversation;
      if (pendingEnd === undefined) turn.finish('superseded');
      else await this.say(delivery, this.#farewellOf(delivery, pendingEnd), pendingEnd, 'superseded');
    } catch (thrown) {
      this.failed(delivery, toAppError(thrown));
    }
  }

  #farewellOf({ conversation, turn }: Delivery, { farewell = [] }: PendingEnd): readonly Prompt[] {
    if (farewell.length > 0) this.#parts.observer.replyRepeated?.(conversation.call, turn.id);
    return farewell;
  }

  /** Transfers the caller without asking the bot; a pending end has priority. Never throws. */
  async transfer(delivery: Delivery, end: SessionEnd): Promise<void> {
    const { conversation } = delivery;
    if (conversation.isOver) {
      await this.settle(delivery);
      return;
    }
    try {
      const { settings } = this.#parts;
      const { prompts, next } = say(linesOf(settings, conversation.bot).transfer).transfer({ reason: end });
      const pendingEnd = { next: lastNext(next, settings, settings.keepsTranscript ? this.#transcriptSoFar(conversation) : []), end };
      await this.say(delivery, prompts, pendingEnd, end === 'failed' ? 'failed' : end === 'shutdown' ? 'shutdown' : 'superseded');
    } catch (thrown) {
      const error = toAppError(thrown);
      // A slow client may still get the terminal event on its next stream.
      if (error.code !== 'slow_reader') conversation.ends(end);
      this.failed(delivery, error);
    }
  }

  /** Transfers the caller, if possible, because an answer failed outside of the bot. Never throws. */
  async transferAfter(delivery: Delivery, error: AppError): Promise<void> {
    if (error.code === 'slow_reader') {
      this.failed(delivery, error);
      return;
    }
    const { conversation, turn } = delivery;
    this.#parts.log.error({ ...turn.logIds, err: error }, 'the turn failed outside the bot; the caller is transferred');
    this.#parts.observer.botFailed?.(conversation.call, turn.id, error);
    await this.transfer(delivery, 'failed');
  }

  #transcriptSoFar({ snapshot, playout, bot }: Conversation): readonly TranscriptLine[] {
    const { settings, clock } = this.#parts;
    const heard = playout.heard(clock.monotonicMs()).text;
    return withBotLine(withBotLine(snapshot.transcript, heard, snapshot.sensitive), linesOf(settings, bot).transfer, false);
  }

  /** Fails a turn on which nothing more can be delivered, and logs the cause. */
  failed({ conversation, turn }: Delivery, error: AppError): void {
    const { log, observer } = this.#parts;
    const ids = turn.logIds;
    if (error.code === 'slow_reader') {
      log.warn({ ...ids, code: error.code }, error.message);
      observer.slowReader?.(conversation.call, turn.id);
    } else {
      log.error({ ...ids, err: error }, 'the prompts of a turn could not be delivered');
    }
    turn.fail(error);
  }
}
