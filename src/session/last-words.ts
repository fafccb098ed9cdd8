// How a call ends from our side: last words, the terminal event behind them, and an end that could not be handed over when it was
// decided. Asks no bot and no store but for the transcript.
import { toAppError, type AppError } from '../base/errors.ts';
import { say } from '../bot/saying.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { FinalNext } from '../dialog/output.ts';
import type { Next, Prompt } from '../dialog/reply.ts';
import type { CallTranscript } from './call-transcript.ts';
import { finalNext } from './final-next.ts';
import { logIds } from './log-ids.ts';
import type { EngineParts, OwedEnd, RunningSession } from './parts.ts';
import { isOver } from './reply-looks.ts';
import type { ReplyWriter } from './reply-writer.ts';
import { transcriptText, type TranscriptLine } from './transcript.ts';
import type { Turn } from './turn.ts';

/** Where an answer goes. */
export interface Mouth {
  readonly session: RunningSession;
  readonly turn: Turn;
  readonly writer: ReplyWriter;
}

/** Ends the calls of all sessions; holds nothing of any of them. */
export class LastWords {
  readonly #parts: EngineParts;
  readonly #transcript: CallTranscript;

  constructor(parts: EngineParts, transcript: CallTranscript) {
    this.#parts = parts;
    this.#transcript = transcript;
  }

  /** What the last response of a call says. @param transcript - with it, where there is one (G-7B). */
  final(next: Next, transcript: readonly TranscriptLine[]): FinalNext {
    return finalNext(next, this.#parts.settings.listen, transcript.length > 0 ? transcriptText(transcript) : undefined);
  }

  /**
   * Last words and the terminal event; streams that only wait for the caller complete behind it (G-13). An end that cannot be
   * handed over stays owed to the caller's next turn (G-77).
   *
   * @throws whatever the writer throws; the turn is not done then.
   */
  async say({ session, turn, writer }: Mouth, prompts: readonly Prompt[], owed: OwedEnd, turnEnd: TurnEnd): Promise<void> {
    session.owes(owed, turn);
    const isTold = await writer.finish(prompts, owed.next, true, turnEnd === 'failed');
    if (isTold) session.ends(owed.end);
    turn.finish(turnEnd);
    // A client must not see a stream complete, on which nobody has said anything, before it sees why (G-13).
    if (isTold) {
      turn.onceSent(() => {
        session.complete('silent');
      });
    }
  }

  /** The call is over for the bot. An end that was decided and never handed over is handed over now, without a word. Never throws. */
  async settle(mouth: Mouth): Promise<void> {
    const { session, turn } = mouth;
    try {
      if (session.owed !== undefined && !session.isEnded) await this.say(mouth, [], session.owed, 'superseded');
      else turn.finish('superseded');
    } catch (thrown) {
      this.failed(mouth, toAppError(thrown));
    }
  }

  /** A terminal reply of our own, without the bot; an end that is owed goes before. Never throws. */
  async handOver(mouth: Mouth, end: SessionEnd): Promise<void> {
    const { session } = mouth;
    if (isOver(session)) {
      await this.settle(mouth);
      return;
    }
    try {
      const { prompts, next } = say(this.#parts.settings.handover).transfer({ reason: end });
      const owed = { next: this.final(next, await this.#transcript.soFar(session)), end };
      await this.say(mouth, prompts, owed, end === 'failed' ? 'failed' : end === 'shutdown' ? 'shutdown' : 'superseded');
    } catch (thrown) {
      const error = toAppError(thrown);
      // A caller whose client does not read now may hear it on the next stream.
      if (error.code !== 'slow_reader') session.ends(end);
      this.failed(mouth, error);
    }
  }

  /** Nothing more can be said on a turn: it fails, and the operator is told why. */
  failed({ session, turn }: Mouth, error: AppError): void {
    const { log, observer } = this.#parts;
    const ids = logIds(session.call, turn);
    if (error.code === 'slow_reader') {
      log.warn({ ...ids, code: error.code }, error.message);
      observer.slowReader?.(session.call, turn.id);
    } else {
      log.error({ ...ids, err: error }, 'what was to be said on a turn could not be said');
    }
    turn.fail(error);
  }
}
