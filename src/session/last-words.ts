// How a call ends from our side: last words, the terminal event behind them, and an end that could not be handed over when it was
// decided. Asks no bot and no store but for the transcript.
import { toAppError } from '../base/errors.ts';
import { say } from '../bot/saying.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { FinalNext } from '../dialog/output.ts';
import type { Next, Prompt } from '../dialog/reply.ts';
import type { CallTranscript } from './call-transcript.ts';
import { finalNext } from './final-next.ts';
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
  readonly #settings: EngineParts['settings'];
  readonly #transcript: CallTranscript;

  constructor({ settings }: EngineParts, transcript: CallTranscript) {
    this.#settings = settings;
    this.#transcript = transcript;
  }

  /** What the last response of a call says. @param transcript - with it, where there is one (G-7B). */
  final(next: Next, transcript: readonly TranscriptLine[]): FinalNext {
    return finalNext(next, this.#settings.listen, transcript.length > 0 ? transcriptText(transcript) : undefined);
  }

  /** Last words and the terminal event. One that cannot be handed over stays owed to the caller's next turn (G-77). */
  async say({ session, turn, writer }: Mouth, prompts: readonly Prompt[], owed: OwedEnd): Promise<void> {
    session.owes(owed, turn);
    if (await writer.finish(prompts, owed.next, true)) session.ends(owed.end);
  }

  /** The call is over for the bot. An end that was decided and never handed over is handed over now, without a word. Never throws. */
  async settle(mouth: Mouth): Promise<void> {
    const { session, turn } = mouth;
    try {
      if (session.owed !== undefined && !session.isEnded) await this.say(mouth, [], session.owed);
      turn.finish('superseded');
    } catch (thrown) {
      turn.fail(toAppError(thrown));
    }
  }

  /** A terminal reply of our own, without the bot; an end that is owed goes before. Never throws. */
  async handOver(mouth: Mouth, end: SessionEnd): Promise<void> {
    const { session, turn } = mouth;
    if (isOver(session)) {
      await this.settle(mouth);
      return;
    }
    try {
      const { prompts, next } = say(this.#settings.handover).transfer({ reason: end });
      const owed = { next: this.final(next, await this.#transcript.soFar(session)), end };
      await this.say(mouth, prompts, owed);
      turn.finish(end === 'failed' ? 'failed' : end === 'shutdown' ? 'shutdown' : 'superseded');
    } catch (thrown) {
      session.ends(end);
      turn.fail(toAppError(thrown));
    }
  }
}
