// How a call ends from our side: the farewell, the terminal event behind it, and an end that could not be delivered when it was
// decided. Asks no bot.
import { toAppError, type AppError } from '../../base/errors.ts';
import { say } from '../../bot/saying.ts';
import type { SessionEnd, TurnEnd } from '../../dialog/ending.ts';
import type { FinalNext } from '../../dialog/output.ts';
import type { Next, Prompt } from '../../dialog/reply.ts';
import type { Conversation, PendingEnd } from '../conversation.ts';
import type { EngineParts } from '../parts.ts';
import type { ReplyWriter } from '../playout/reply-writer.ts';
import type { EngineSettings } from '../settings.ts';
import { replyOf } from '../snapshot/kept-reply.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Turn } from '../turn/turn.ts';
import { finalNext } from './final-next.ts';
import { transcriptText, withBotLine, type TranscriptLine } from './transcript.ts';

/** Where an answer goes. */
export interface Delivery {
  readonly conversation: Conversation;
  readonly turn: Turn;
  readonly writer: ReplyWriter;
}

/** What the last response of a call says. @param transcript - with it, where there is one (G-7B). */
export function lastNext(next: Next, settings: EngineSettings, transcript: readonly TranscriptLine[]): FinalNext {
  return finalNext(next, settings.listen, transcript.length > 0 ? transcriptText(transcript) : undefined);
}

/** The end that the home before has decided and may not have delivered. */
export function pendingEndOf(snapshot: Snapshot, settings: EngineSettings): PendingEnd | undefined {
  if (!snapshot.ended || snapshot.reply === undefined) return undefined;
  const { next, prompts } = replyOf(snapshot.reply);
  if (next.kind === 'listen') return undefined;
  return { next: lastNext(next, settings, snapshot.transcript), end: snapshot.failures > 0 ? 'failed' : endOf(next), farewell: prompts };
}

/** Who ends a call with such a reply. */
export function endOf({ kind }: { readonly kind: 'transfer' | 'end' }): SessionEnd {
  return kind === 'transfer' ? 'bot_transfer' : 'bot_end';
}

/** Ends the calls of all sessions; holds nothing of any of them. */
export class Farewell {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /**
   * The farewell and the terminal event; streams that only wait for the caller complete behind it (G-13). An end that cannot be
   * delivered stays pending until the caller's next turn (G-77).
   *
   * @throws whatever the writer throws; the turn is not done then.
   */
  async say({ conversation, turn, writer }: Delivery, prompts: readonly Prompt[], pendingEnd: PendingEnd, turnEnd: TurnEnd): Promise<void> {
    conversation.endsWith(pendingEnd, turn);
    const isWritten = await writer.finish(prompts, pendingEnd.next, true, turnEnd === 'failed');
    conversation.isFarewellWritten = isWritten;
    // One that another process forwards may be lost with it, and is pending again then.
    if (isWritten && turn.forwardedId === undefined) conversation.ends(pendingEnd.end);
    turn.finish(turnEnd);
    if (!isWritten) return;
    conversation.isFarewellWritten = (await turn.delivered?.()) ?? true;
    if (!conversation.isFarewellWritten) return;
    conversation.ends(pendingEnd.end);
    // A client must not see a stream complete, on which nobody has said anything, before it sees why (G-13).
    conversation.open.complete('silent');
  }

  /**
   * The call is over for the bot. An end that was decided and never delivered is delivered now: without a word, unless the home
   * before was saying its farewell. Never throws.
   */
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

  /** A terminal reply of our own, without the bot; an end that is pending goes before. Never throws. */
  async transfer(delivery: Delivery, end: SessionEnd): Promise<void> {
    const { conversation } = delivery;
    if (conversation.isOver) {
      await this.settle(delivery);
      return;
    }
    try {
      const { settings } = this.#parts;
      const { prompts, next } = say(settings.handover).transfer({ reason: end });
      const pendingEnd = { next: lastNext(next, settings, settings.keepsTranscript ? this.#transcriptSoFar(conversation) : []), end };
      await this.say(delivery, prompts, pendingEnd, end === 'failed' ? 'failed' : end === 'shutdown' ? 'shutdown' : 'superseded');
    } catch (thrown) {
      const error = toAppError(thrown);
      // A caller whose client does not read now may hear it on the next stream.
      if (error.code !== 'slow_reader') conversation.ends(end);
      this.failed(delivery, error);
    }
  }

  /** An answer failed outside its bot: the caller is transferred, where there is still something to be said. Never throws. */
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

  #transcriptSoFar({ snapshot, playout }: Conversation): readonly TranscriptLine[] {
    const { settings, clock } = this.#parts;
    const heard = playout.heard(clock.monotonicMs()).text;
    return withBotLine(withBotLine(snapshot.transcript, heard, snapshot.sensitive), settings.handover, false);
  }

  /** Nothing more can be said on a turn: it fails, and the operator learns why. */
  failed({ conversation, turn }: Delivery, error: AppError): void {
    const { log, observer } = this.#parts;
    const ids = turn.logIds;
    if (error.code === 'slow_reader') {
      log.warn({ ...ids, code: error.code }, error.message);
      observer.slowReader?.(conversation.call, turn.id);
    } else {
      log.error({ ...ids, err: error }, 'what was to be said on a turn could not be said');
    }
    turn.fail(error);
  }
}
