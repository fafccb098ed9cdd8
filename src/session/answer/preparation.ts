// Lets a bot prepare its answer while it is uncertain whether the caller is done. A preparation for other words, another state or
// another `heard` is stopped.
import { linkForeignAbort } from '../../base/abort.ts';
import { toAppError } from '../../base/errors.ts';
import type { Heard } from '../../dialog/heard.ts';
import type { Conversation } from '../conversation.ts';
import type { EngineParts } from '../parts.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Turn } from '../turn/turn.ts';
import { botContext } from './bot-question.ts';
import type { Prepared } from './caller-event.ts';
import { plainWords } from './spoken-digits.ts';

/** Most preparations for one input. */
const MAX_BEGINNINGS = 3;

/** One per session; for one utterance at a time. */
export class Preparation {
  readonly #parts: EngineParts;
  readonly #conversation: Conversation;
  #prepared: (Prepared & { readonly words: string }) | undefined;
  #beginnings = 0;

  constructor(parts: EngineParts, conversation: Conversation) {
    this.#parts = parts;
    this.#conversation = conversation;
  }

  /** An utterance begins. */
  reset(): void {
    this.drop();
    this.#beginnings = 0;
  }

  /** The caller pauses after these words. Must not be called while the bot's state may change. */
  begin(text: string, turn: Turn): void {
    const { bot, snapshot, isOver, playout } = this.#conversation;
    const words = wordsOf(text);
    if (bot.prepare === undefined || words === '' || words === this.#prepared?.words) return;
    if (!snapshot.started || snapshot.bot.version !== bot.version || isOver) return;
    this.drop();
    if (this.#beginnings >= MAX_BEGINNINGS) return;
    this.#beginnings += 1;
    const heard = playout.heardWhenComplete(this.#parts.clock.monotonicMs());
    const work = linkForeignAbort(turn.wanted.signal);
    const stop = (): void => {
      work.abort('superseded');
    };
    try {
      const context = botContext(this.#parts, this.#conversation, turn, work.signal);
      const value = bot.prepare(snapshot.state, { text, heard }, context);
      // Handled even if the value is never used.
      if (value instanceof Promise) value.catch(() => undefined);
      const isFor = (input: string, before: Heard, now: Snapshot): boolean =>
        wordsOf(input) === words && now === snapshot && before.ms === heard.ms && before.complete === heard.complete;
      this.#prepared = {
        ...{ words, stop },
        valueFor: (input, before, now, signal) => {
          if (!isFor(input, before, now) || signal.aborted) stop();
          else signal.addEventListener('abort', stop, { once: true });
          return work.signal.aborted ? undefined : value;
        },
      };
    } catch (thrown) {
      stop();
      this.#parts.observer.botFailed?.(this.#conversation.call, turn.id, toAppError(thrown, 'bot_failed', 'prepare of the bot threw'));
    }
  }

  /** The utterance has ended: returns its preparation, if there is one. */
  take(): Prepared | undefined {
    const taken = this.#prepared;
    this.#prepared = undefined;
    return taken;
  }

  drop(): void {
    this.take()?.stop();
  }
}

/** The words without punctuation, which recognizers add only when they are sure. */
function wordsOf(text: string): string {
  return plainWords(text).join(' ');
}
