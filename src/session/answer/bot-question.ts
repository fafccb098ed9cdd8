// One input brought to one bot: its event, the handler, its deadline, and what becomes of it when the caller acts over
// it. Knows nothing of the end of the turn.
import { linkAbort, linkForeignAbort, pause } from '../../base/abort.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { BotContext, ReplyingEvent } from '../../bot/bot.ts';
import { runHandler } from '../../bot/run-handler.ts';
import type { Answer } from '../../bot/saying.ts';
import type { Prompt } from '../../dialog/reply.ts';
import { shownFile } from '../../dialog/shown-file.ts';
import { callerEvent, startEvent, type CompleteInput } from './caller-event.ts';
import { answerLimitMs, Deadline } from './deadline.ts';
import type { Conversation } from '../conversation.ts';
import type { NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ReplyWriter } from '../playout/reply-writer.ts';
import type { Turn } from '../turn/turn.ts';

/** How long an interrupted handler may still take to finish its state, ms; the next input waits for it. */
const INTERRUPTED_GRACE_MS = 300;

/** How often a cancelled handler may still yield: nothing of it is heard. */
const MAX_UNHEARD_YIELDS = 100;

/**
 * How far a handler may be ahead of its caller while the process stops, ms: the most that `turns.max_ahead_ms` may be. The rest
 * of a reply is sent while there is somebody to send it.
 */
const CLOSING_AHEAD_MS = 1_200_000;

/** What became of a question. */
export type Outcome =
  | {
      readonly kind: 'answer';
      readonly answer: Answer<JsonValue>;
      readonly event: ReplyingEvent;
      /** What the bot had spoken before it answered. */
      readonly early: readonly Prompt[];
    }
  /** The event is missing when not even that was known in time. */
  | { readonly kind: 'failed'; readonly error: AppError; readonly event: ReplyingEvent | undefined }
  /** The caller acted over it and the handler did not finish in time; its state is not kept. */
  | { readonly kind: 'abandoned' }
  /** What cut a prompt was no speech; the bot was not asked. */
  | { readonly kind: 'false_interruption' };

/** Asked once. */
export class BotQuestion {
  readonly #parts: EngineParts;
  readonly #conversation: Conversation;
  readonly #turn: Turn;
  readonly #snapshot: Snapshot;
  readonly #writer: ReplyWriter;
  /**
   * Aborts when nobody needs the answer any more. A start is needed by all that follows it: a caller who talks into the
   * welcome cuts its sound, and the next input waits until the bot has begun the call.
   */
  readonly #unneeded: AbortSignal;
  /** The handler's signal: the answer is not needed, or not waited for. */
  readonly #thinking;
  /** The recognizer's signal: an interruption does not make what was said before it unheard. */
  readonly #listening;
  /** What the handler says early is not wanted any more: the caller acted over it, or it is not waited for. */
  readonly #speaking;
  readonly #early: Prompt[] = [];
  #unheardYields = 0;
  #isWaitedFor = true;
  #deadline: Deadline | undefined;
  #event: ReplyingEvent | undefined;
  #hasHandlerBegun = false;
  #onHandlerBegun: () => void = () => undefined;

  constructor(parts: EngineParts, conversation: Conversation, turn: Turn, writer: ReplyWriter) {
    this.#parts = parts;
    this.#conversation = conversation;
    this.#turn = turn;
    this.#snapshot = conversation.snapshot;
    this.#writer = writer;
    this.#unneeded = this.#snapshot.started ? turn.wanted.signal : turn.over.signal;
    this.#thinking = linkForeignAbort(this.#unneeded);
    this.#listening = linkAbort(turn.over.signal);
    this.#speaking = linkAbort(turn.wanted.signal);
  }

  /**
   * Asks. A reply that leaves the caller in silence has failed like one that throws. A farewell has not: the transfer or the end is
   * more than an apology.
   *
   * @throws AppError `slow_reader` when the client did not read what the handler said early.
   */
  async ask(input: CompleteInput): Promise<Outcome> {
    const outcome = await this.#asked(input);
    if (outcome.kind !== 'answer') return outcome;
    const { prompts, next } = outcome.answer.reply;
    if (next.kind !== 'listen' || !(await this.#writer.isMute(prompts))) return outcome;
    const files = prompts.flatMap((prompt) => (prompt.kind === 'file' ? [shownFile(prompt.file)] : [])).join(', ');
    const text = `nothing of the reply can be heard: it is recordings alone, and none can be played (${files})`;
    return { kind: 'failed', error: new AppError('prompt_unusable', text), event: outcome.event };
  }

  async #asked(input: CompleteInput): Promise<Outcome> {
    const { clock, settings } = this.#parts;
    const waitingSinceMs = (this.#conversation.waitingSinceMs ??= input.completeAtMs);
    const limitMs = answerLimitMs(clock.monotonicMs() - waitingSinceMs, settings.turnDeadlineMs);
    const deadline = (this.#deadline = new Deadline(clock, limitMs));
    let cancelGrace: () => void = () => undefined;
    let giveUp: () => void = () => undefined;
    const stopped = new Promise<'deadline' | 'abandoned'>((resolve) => {
      deadline.onExpired = () => {
        resolve('deadline');
      };
      giveUp = () => {
        if (!this.#isCancelled) return;
        cancelGrace = clock.after(INTERRUPTED_GRACE_MS, () => {
          resolve('abandoned');
        });
      };
    });
    this.#unneeded.addEventListener('abort', giveUp);
    const cancelFiller = this.#fillerLater();
    this.#onHandlerBegun = giveUp;
    try {
      const outcome = await Promise.race([this.#think(input), stopped]);
      if (outcome === 'abandoned' || (outcome === 'deadline' && this.#isCancelled)) return { kind: 'abandoned' };
      if (outcome === 'false_interruption') return { kind: 'false_interruption' };
      if (outcome !== 'deadline') return { kind: 'answer', ...outcome, early: this.#early };
      return {
        kind: 'failed',
        event: this.#event,
        error: new AppError('bot_timeout', 'the bot took too long for its reply', { details: { limitMs } }),
      };
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'slow_reader') throw error;
      // What a cancelled handler does is no failure of its bot.
      return this.#isCancelled ? { kind: 'abandoned' } : { kind: 'failed', error, event: this.#event };
    } finally {
      this.#isWaitedFor = false;
      cancelGrace();
      cancelFiller();
      deadline.cancel();
      this.#unneeded.removeEventListener('abort', giveUp);
      for (const signal of [this.#thinking, this.#listening, this.#speaking]) {
        signal.abort('deadline');
        signal.dispose();
      }
    }
  }

  /** A handler is at work whose answer nobody needs any more. */
  get #isCancelled(): boolean {
    return this.#hasHandlerBegun && this.#unneeded.aborted;
  }

  async #think(input: CompleteInput): Promise<{ answer: Answer<JsonValue>; event: ReplyingEvent } | 'false_interruption' | 'abandoned'> {
    const event = await this.#eventOf(input);
    // The deadline passed while the recognizer was working: the bot must not hear of an input that was apologized for.
    if (this.#conversation.isEnded || !this.#isWaitedFor) return 'abandoned';
    if (event === undefined) return 'false_interruption';
    this.#event = event;
    this.#hasHandlerBegun = true;
    this.#onHandlerBegun();
    return { answer: event.type === 'session_start' ? await this.#welcome(event) : await this.#handle(event, (prompts) => prompts), event };
  }

  // G-27: whether the welcome can be cut is the operator's choice.
  #welcome(event: ReplyingEvent): Promise<Answer<JsonValue>> {
    const { welcomeBargeIn } = this.#parts.settings;
    return this.#handle(event, (prompts) => (welcomeBargeIn ? prompts : prompts.map((prompt) => ({ ...prompt, bargeIn: false }))));
  }

  async #handle(event: ReplyingEvent, prepared: (prompts: readonly Prompt[]) => readonly Prompt[]): Promise<Answer<JsonValue>> {
    const { clock, observer, settings } = this.#parts;
    const { call, bot } = this.#conversation;
    observer.botAsked?.(call, this.#turn.id, event.type);
    const askedAtMs = clock.monotonicMs();
    const context = botContext(this.#parts, this.#conversation, this.#turn, this.#thinking.signal);
    try {
      const { state, reply } = await runHandler(bot, this.#snapshot.state, event, context, {
        speakEarly: (prompts) => this.#speakEarly(prepared(prompts)),
        maxStateBytes: settings.maxStateBytes,
      });
      return { state, reply: { ...reply, prompts: prepared(reply.prompts) } };
    } finally {
      observer.botAnswered?.(call, this.#turn.id, clock.monotonicMs() - askedAtMs);
    }
  }

  async #eventOf(input: CompleteInput): Promise<ReplyingEvent | undefined> {
    if (!this.#snapshot.started) return startEvent(input, this.#snapshot.call);
    const { signal } = this.#listening;
    return callerEvent(input, { parts: this.#parts, conversation: this.#conversation, turn: this.#turn, signal });
  }

  /** A caller who hears nothing for long takes the line for dead. @returns what takes the filler back. */
  #fillerLater(): () => void {
    const { clock, observer, settings } = this.#parts;
    if (settings.fillerAfterMs === 0) return () => undefined;
    return clock.after(settings.fillerAfterMs, () => {
      const isSaid = this.#isWaitedFor && this.#writer.interject({ kind: 'text', text: settings.filler, bargeIn: true });
      if (isSaid) observer.fillerSpoken?.(this.#conversation.call, this.#turn.id);
    });
  }

  // While the caller hears something, the time of the synthesizer and of a client that reads slowly is not the bot's time to
  // think. What travels with the final is not heard before it, so there all of it counts.
  async #speakEarly(prompts: readonly Prompt[]): Promise<boolean> {
    if (!this.#isWaitedFor) return false;
    this.#early.push(...prompts);
    if (this.#speaking.isAborted) return this.#mayYieldUnheard();
    const deadline = this.#conversation.mode === 'wav' ? undefined : this.#deadline;
    deadline?.pause();
    try {
      await this.#writer.speak(prompts, this.#speaking.signal);
      await this.#room();
    } finally {
      deadline?.resume();
    }
    return this.#isWaitedFor;
  }

  /** Nothing of it is heard, so only this holds the handler up; the deadline can pass between two yields. */
  async #mayYieldUnheard(): Promise<boolean> {
    if (this.#isCancelled) this.#unheardYields += 1;
    else await new Promise(setImmediate);
    return this.#isWaitedFor && this.#unheardYields <= MAX_UNHEARD_YIELDS;
  }

  /** A handler that speaks faster than its caller hears goes on when there is room again. */
  async #room(): Promise<void> {
    const { heldMs } = this.#writer;
    const limitMs = this.#parts.settings.maxAheadMs;
    if (heldMs > limitMs)
      throw new AppError('reply_too_long', 'the bot says too much before any of it can be heard', { details: { heldMs, limitMs } });
    const { closing } = this.#parts;
    if (!closing.aborted) await this.#pausedUntilWithin(limitMs, closing);
    if (closing.aborted) await this.#pausedUntilWithin(Math.max(limitMs, CLOSING_AHEAD_MS));
  }

  /** @param unless - ends the pause at once; default: nothing but that nobody wants to hear more. */
  async #pausedUntilWithin(limitMs: number, unless?: AbortSignal): Promise<void> {
    const overMs = this.#writer.aheadMs - limitMs;
    if (overMs <= 0) return;
    const pausing = linkAbort(this.#speaking.signal);
    const goOn = (): void => {
      pausing.abort('shutdown');
    };
    unless?.addEventListener('abort', goOn);
    await pause(overMs, this.#parts.clock, pausing.signal);
    unless?.removeEventListener('abort', goOn);
    pausing.dispose();
  }
}

/** What surrounds a handler. */
export function botContext({ clock, log }: EngineParts, { call, bot }: Conversation, turn: NamedTurn, signal: AbortSignal): BotContext {
  return { call, turnId: turn.id, signal, clock, log: log.child({ bot: bot.id, ...turn.logIds }) };
}
