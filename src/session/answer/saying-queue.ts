// Speaks the prompts that a handler yields, in order: while one saying is spoken, the sound of the next one is made. The handler waits
// with a third one, and whenever it is too far ahead of its caller. Its deadline counts only time in which the caller waits in silence.
import { linkAbort, pause } from '../../base/abort.ts';
import { AppError } from '../../base/errors.ts';
import type { Prompt } from '../../dialog/reply.ts';
import type { Conversation } from '../conversation.ts';
import type { EngineParts } from '../parts.ts';
import type { ReplyWriter } from '../playout/reply-writer.ts';
import type { Sounds } from '../playout/sound.ts';
import type { Deadline } from './deadline.ts';

/**
 * How far a handler may speak ahead while the process stops, ms: the maximum of `turns.max_ahead_ms`, so that the rest
 * of a reply is sent in time.
 */
const CLOSING_AHEAD_MS = 1_200_000;

export interface SayingQueueOptions extends Pick<EngineParts, 'clock' | 'closing'> {
  readonly conversation: Pick<Conversation, 'mode'>;
  readonly writer: ReplyWriter;
  readonly deadline: Deadline;
  readonly maxAheadMs: number;
  /** Stops the current saying and all later ones. */
  readonly unwanted: AbortSignal;
}

/** The prompts that a handler yields while it answers one input. */
export class SayingQueue {
  readonly #options: SayingQueueOptions;
  #spoken: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: SayingQueueOptions) {
    this.#options = options;
    const cutOff = (): void => {
      options.deadline.cutOff();
    };
    options.unwanted.addEventListener('abort', cutOff, { once: true });
  }

  /**
   * Resolves when the handler may go on.
   *
   * @param asked - the sounds of the prompts; default: requested now.
   * @throws AppError `reply_too_long`; `slow_reader` when the client did not read an earlier saying.
   */
  async add(prompts: readonly Prompt[], asked?: Sounds): Promise<void> {
    const { writer, unwanted } = this.#options;
    const sounds = asked ?? writer.ask(prompts, unwanted);
    const before = this.#spoken;
    this.#spoken = this.#next(before, () => writer.speak(prompts, unwanted, sounds));
    // The next wait throws this error.
    this.#spoken.catch(() => undefined);
    await before;
    await this.#room();
  }

  /** Resolves when all prompts are spoken. @throws AppError as `add`. */
  done(): Promise<void> {
    return this.#spoken;
  }

  // While the caller hears something, waits for the synthesizer and the client do not count against the bot's
  // deadline. When prompts travel with the final, nothing is heard before it, so every wait counts.
  async #next(before: Promise<void>, speak: () => Promise<void>): Promise<void> {
    const { conversation, deadline, writer } = this.#options;
    const isHeard = conversation.mode !== 'wav';
    this.#waiting += 1;
    if (isHeard) deadline.pause();
    try {
      await before;
      await speak();
    } finally {
      this.#waiting -= 1;
      if (isHeard && this.#waiting === 0) deadline.resume(writer.soundingMs);
    }
  }

  /** Delays a handler that is too far ahead of its caller. */
  async #room(): Promise<void> {
    const { writer, maxAheadMs: limitMs, closing } = this.#options;
    const { heldMs } = writer;
    if (heldMs > limitMs)
      throw new AppError('reply_too_long', 'the bot yields too many prompts before any of them can be heard', {
        details: { heldMs, limitMs },
      });
    if (!closing.aborted) await this.#pausedUntilWithin(limitMs, closing);
    if (closing.aborted) await this.#pausedUntilWithin(Math.max(limitMs, CLOSING_AHEAD_MS));
  }

  /** @param unless - ends the pause early; so does the end of the bot's question. */
  async #pausedUntilWithin(limitMs: number, unless?: AbortSignal): Promise<void> {
    const { writer, clock, unwanted } = this.#options;
    const overMs = writer.heldMs + writer.soundingMs - limitMs;
    if (overMs <= 0) return;
    const pausing = linkAbort(unwanted);
    const goOn = (): void => {
      pausing.abort('shutdown');
    };
    unless?.addEventListener('abort', goOn);
    await pause(overMs, clock, pausing.signal);
    unless?.removeEventListener('abort', goOn);
    pausing.dispose();
  }
}
