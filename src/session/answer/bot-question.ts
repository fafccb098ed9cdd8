// Asks the bot about one input: makes the event, runs the handler within its deadline, and cancels it on a barge-in. Does not
// end the turn.
import { linkAbort, linkForeignAbort } from '../../base/abort.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import type { BotContext, ReplyingEvent } from '../../bot/bot.ts';
import { ConditionalSayings, separated } from '../../bot/conditional-sayings.ts';
import { INTERRUPTED_GRACE_MS, runHandler } from '../../bot/run-handler.ts';
import type { Answer, Keep } from '../../bot/saying.ts';
import type { Prompt } from '../../dialog/reply.ts';
import { shownFile } from '../../dialog/shown-file.ts';
import { callerEvent, startEvent, type CompleteInput } from './caller-event.ts';
import { answerLimitMs, Deadline } from './deadline.ts';
import { SayingQueue } from './saying-queue.ts';
import { botServices } from './services.ts';
import type { Conversation } from '../conversation.ts';
import type { NamedTurn } from '../log-ids.ts';
import type { EngineParts } from '../parts.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ReplyWriter } from '../playout/reply-writer.ts';
import type { Sounds } from '../playout/sound.ts';
import { fillersOf } from '../settings.ts';
import type { Turn } from '../turn/turn.ts';

/** Most yields of a cancelled handler, which are not played. */
const MAX_UNHEARD_YIELDS = 100;

/** The outcome of a question. */
export type Outcome =
  | {
      readonly kind: 'answer';
      readonly answer: Answer<JsonValue>;
      readonly event: ReplyingEvent;
      /** Prompts that the handler yielded before its reply. */
      readonly early: readonly Prompt[];
    }
  /** `event` is undefined when the deadline passed before the event was known. */
  | { readonly kind: 'failed'; readonly error: AppError; readonly event: ReplyingEvent | undefined }
  /** The caller barged in and the handler did not finish in time; the handler's state is dropped. */
  | { readonly kind: 'abandoned' }
  /** The sound that cut a prompt was no speech, so the bot was not asked. */
  | { readonly kind: 'false_interruption' };

/** One question; `ask` is called once. */
export class BotQuestion {
  readonly #parts: EngineParts;
  readonly #conversation: Conversation;
  readonly #turn: Turn;
  readonly #snapshot: Snapshot;
  readonly #writer: ReplyWriter;
  /**
   * Aborts when the answer is no longer needed. The answer to a session start is always needed: a barge-in cuts only
   * the audio of the welcome, and the next input waits until the bot has begun the call.
   */
  readonly #unneeded: AbortSignal;
  /** The signal for the handler: aborts when the answer is no longer needed, or at the deadline. */
  readonly #thinking;
  /** The signal for the recognizer: a barge-in does not abort it, because the earlier utterance still counts. */
  readonly #listening;
  /** Stops early prompts, on a barge-in or at the deadline. */
  readonly #speaking;
  readonly #early: Prompt[] = [];
  #unheardYields = 0;
  #isWaitedFor = true;
  #event: ReplyingEvent | undefined;
  #deadline: Deadline | undefined;
  /** Undefined until the first yield. */
  #sayings: SayingQueue | undefined;
  #conditional: ConditionalSayings<Sounds> | undefined;
  #waitingSinceMs = 0;
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
   * Asks the bot. A reply with prompts of which none can be heard counts as failed, unless it transfers or ends the call.
   *
   * @throws AppError `slow_reader` when the client did not read the early prompts.
   */
  async ask(input: CompleteInput): Promise<Outcome> {
    const outcome = await this.#asked(input);
    if (outcome.kind !== 'answer') return outcome;
    const { prompts, next } = outcome.answer.reply;
    if (next.kind !== 'listen' || !(await this.#writer.isMute(prompts))) return outcome;
    const files = prompts.flatMap((prompt) => (prompt.kind === 'file' ? [shownFile(prompt.file)] : [])).join(', ');
    const text = `the reply is silent: it has only recordings, and none can be played (${files})`;
    return { kind: 'failed', error: new AppError('prompt_unusable', text), event: outcome.event };
  }

  async #asked(input: CompleteInput): Promise<Outcome> {
    const { clock, settings } = this.#parts;
    const waitingSinceMs = (this.#conversation.waitingSinceMs ??= input.completeAtMs);
    this.#waitingSinceMs = input.completeAtMs;
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
    const cancelFillers = this.#fillersLater();
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
      // An error of a cancelled handler is not the bot's failure.
      return this.#isCancelled ? { kind: 'abandoned' } : { kind: 'failed', error, event: this.#event };
    } finally {
      this.#isWaitedFor = false;
      cancelGrace();
      cancelFillers();
      deadline.cancel();
      this.#unneeded.removeEventListener('abort', giveUp);
      for (const signal of [this.#thinking, this.#listening, this.#speaking]) {
        signal.abort('deadline');
        signal.dispose();
      }
    }
  }

  /** Whether the handler is working on an answer that is no longer needed. */
  get #isCancelled(): boolean {
    return this.#hasHandlerBegun && this.#unneeded.aborted;
  }

  async #think(input: CompleteInput): Promise<{ answer: Answer<JsonValue>; event: ReplyingEvent } | 'false_interruption' | 'abandoned'> {
    const event = await this.#eventOf(input);
    // At a deadline during recognition the apology was spoken, so the bot must not get this input any more.
    if (this.#conversation.isEnded || !this.#isWaitedFor) return 'abandoned';
    if (event === undefined) return 'false_interruption';
    this.#event = event;
    this.#hasHandlerBegun = true;
    this.#onHandlerBegun();
    try {
      const answer = await this.#handle(event);
      if (this.#sayings !== undefined) this.#writer.prepare(answer.reply);
      return { answer, event };
    } finally {
      // Prompts that a handler has yielded are played to their end, even when the handler has failed.
      await this.#sayings?.done();
    }
  }

  async #handle(event: ReplyingEvent): Promise<Answer<JsonValue>> {
    const { clock, observer, settings } = this.#parts;
    const { call, bot } = this.#conversation;
    // G-27: the operator decides whether the welcome can be cut.
    const isCuttable = event.type !== 'session_start' || settings.welcomeBargeIn;
    const prepared = (prompts: readonly Prompt[]): readonly Prompt[] =>
      isCuttable ? prompts : prompts.map((prompt) => ({ ...prompt, bargeIn: false }));
    observer.botAsked?.(call, this.#turn.id, event.type);
    const askedAtMs = clock.monotonicMs();
    const context = botContext(this.#parts, this.#conversation, this.#turn, this.#thinking.signal);
    try {
      const { state, reply } = await runHandler(bot, this.#snapshot.state, event, context, {
        speakEarly: (prompts) => this.#speakEarly(prepared(prompts)),
        keepState: (kept) => this.#keep(kept),
        maxStateBytes: settings.maxStateBytes,
      });
      return { state, reply: { ...reply, prompts: prepared(reply.prompts) } };
    } finally {
      this.#conditional?.drop();
      observer.botAnswered?.(call, this.#turn.id, clock.monotonicMs() - askedAtMs);
    }
  }

  /**
   * Saves a checkpoint, from which the call continues whatever happens to the handler. Losing the reply with a forwarding server does
   * not undo the checkpoint.
   */
  async #keep({ keep: state, durable }: Keep<JsonValue>): Promise<boolean> {
    const conversation = this.#conversation;
    if (!this.#isWaitedFor) return false;
    conversation.snapshot = { ...conversation.snapshot, state, started: true };
    const { snapshots } = this.#parts;
    if (snapshots.isShared) conversation.save(this.#parts);
    if (snapshots.isShared && durable) await snapshots.saved(conversation.call);
    return this.#isWaitedFor;
  }

  async #eventOf(input: CompleteInput): Promise<ReplyingEvent | undefined> {
    if (!this.#snapshot.started) return startEvent(input, this.#snapshot.call);
    const { signal } = this.#listening;
    return callerEvent(input, { parts: this.#parts, conversation: this.#conversation, turn: this.#turn, signal });
  }

  /** Plays the fillers one after the other, so that the line does not seem dead. @returns a function that cancels the rest. */
  #fillersLater(): () => void {
    const { clock, observer, settings } = this.#parts;
    const { call, bot, playout } = this.#conversation;
    if (bot.filler === undefined && settings.fillerAfterMs === 0) return () => undefined;
    const { afterMs, say, everyMs } = fillersOf(settings, bot);
    const [left, timer] = [[...say], { cancel: (): void => undefined }];
    const nextIn = (ms: number): void => {
      timer.cancel = clock.after(ms, () => {
        const text = left.shift();
        if (text === undefined || !this.#isWaitedFor || !this.#writer.interject({ kind: 'text', text, bargeIn: true })) return;
        observer.fillerSpoken?.(call, this.#turn.id);
        if (everyMs !== undefined && left.length > 0) nextIn(playout.remainingMs(clock.monotonicMs()) + everyMs);
      });
    };
    nextIn(afterMs);
    return () => {
      timer.cancel();
    };
  }

  /** @returns whether the handler is still waited for. */
  async #speakEarly(prompts: readonly Prompt[]): Promise<boolean> {
    if (!this.#isWaitedFor) return false;
    const { said, conditional } = separated(prompts);
    if (this.#speaking.isAborted) {
      this.#early.push(...said);
      return this.#mayYieldUnheard();
    }
    if (said.length > 0) {
      this.#conditional?.drop();
      await this.#say(said);
    }
    // In WAV mode all prompts travel with the final, so none can be said into a silence.
    if (this.#conversation.mode !== 'wav') for (const prompt of conditional) (this.#conditional ??= this.#silences()).add(prompt);
    // A handler that yields nothing else must not block the event loop.
    if (said.length === 0) await new Promise(setImmediate);
    return this.#isWaitedFor;
  }

  async #say(prompts: readonly Prompt[], sounds?: Sounds): Promise<void> {
    this.#early.push(...prompts);
    this.#sayings ??= this.#queue();
    await this.#sayings?.add(prompts, sounds);
  }

  #silences(): ConditionalSayings<Sounds> {
    return new ConditionalSayings<Sounds>({
      ...{ clock: this.#parts.clock, waitingSinceMs: this.#waitingSinceMs, unwanted: this.#speaking.signal },
      silentMs: (nowMs) => this.#conversation.playout.silentMs(nowMs),
      ask: (prompts, unwanted) => this.#writer.ask(prompts, unwanted),
      isAudible: async ([sound]) => (await sound) !== undefined,
      say: async (prompts, sounds) => {
        await this.#say(prompts, sounds);
        await this.#sayings?.done();
      },
    });
  }

  #queue(): SayingQueue | undefined {
    const { clock, closing, settings } = this.#parts;
    if (this.#deadline === undefined) return undefined;
    return new SayingQueue({
      ...{ clock, closing, deadline: this.#deadline, unwanted: this.#speaking.signal },
      ...{ conversation: this.#conversation, writer: this.#writer, maxAheadMs: settings.maxAheadMs },
    });
  }

  /** Delays a handler whose prompts are not played, so that the deadline can pass between two yields. */
  async #mayYieldUnheard(): Promise<boolean> {
    if (this.#isCancelled) this.#unheardYields += 1;
    else await new Promise(setImmediate);
    return this.#isWaitedFor && this.#unheardYields <= MAX_UNHEARD_YIELDS;
  }
}

/** The context of a handler. @throws AppError `bot_failed` when the bot could not open its resource for the call. */
export function botContext(parts: EngineParts, conversation: Conversation, turn: NamedTurn, signal: AbortSignal): BotContext<unknown> {
  const { clock, log, observer, answers } = parts;
  const { call, bot, live, recorder } = conversation;
  return {
    call,
    live: bot.live === undefined ? undefined : live.value,
    turnId: turn.id,
    signal,
    clock,
    log: log.child({ bot: bot.id, ...turn.logIds }),
    report: (report) => observer.modelReported?.(call, turn.id, report),
    ...((recorder !== undefined || answers !== undefined) && { services: botServices(parts, conversation, turn) }),
  };
}
