// The first wait of a turn: load the record, recognize speech, run the bot within its deadline, commit, speak. Whatever
// goes wrong here, the caller hears an apology, and on the second failure in a row goes to a human.
import { linkAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { Logger } from '../base/log.ts';
import type { Bot, BotContext, NotifyingEvent, ReplyingEvent } from '../bot/bot.ts';
import { runHandler, runNote } from '../bot/run-handler.ts';
import { say, type Answer } from '../bot/saying.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import { isTerminal, type Listen, type Next, type Prompt, type Reply, type TerminatorKey } from '../dialog/reply.ts';
import { finalNext } from './final-next.ts';
import type { Playback } from './heard.ts';
import type { PromptVoice, Recognizer, SessionObserver, SessionStore } from './ports.ts';
import { firstRecord, type SessionRecord } from './record.ts';
import { ReplyWriter } from './reply-writer.ts';
import type { EngineSettings } from './settings.ts';
import type { CompleteInput, Turn } from './turn.ts';

/** What the engine is made of. */
export interface EngineParts {
  readonly settings: EngineSettings;
  readonly store: SessionStore;
  readonly voice: PromptVoice;
  readonly recognizer: Recognizer | undefined;
  readonly observer: SessionObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What the runner sees of a session. */
export interface RunningSession {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly mode: DeliveryMode;
  readonly playback: Playback;
  /** Aborts when the session is over. */
  readonly signal: AbortSignal;
  readonly isEnded: boolean;
  /** The welcome's prompts, for the one repetition that a duplicate start gets (G-28). */
  keepWelcome(prompts: readonly Prompt[]): void;
  takeWelcome(): readonly Prompt[];
  /** A terminal reply is about to be handed over. */
  ended(next: Next, failed: boolean): void;
}

/** How often in a row a bot may fail before its caller goes to a human. */
const FAILURES_BEFORE_TRANSFER = 2;

/** Runs the bots of all sessions; holds nothing of any of them. */
export class BotRunner {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Answers one complete input and ends its turn. Never throws. */
  async answer(session: RunningSession, turn: Turn, input: CompleteInput): Promise<void> {
    const { clock, observer, settings, voice } = this.#parts;
    const completeAtMs = clock.monotonicMs();
    const writer = new ReplyWriter({
      turn,
      mode: session.mode,
      voice,
      playback: session.playback,
      clock,
      slowReaderMs: settings.slowReaderMs,
      signal: session.signal,
      onFirstAudio: () => {
        observer.replyStarted?.(session.call, turn.id, clock.monotonicMs() - completeAtMs);
      },
    });
    try {
      await this.#answer(session, turn, input, writer);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'slow_reader') {
        this.#parts.log.warn({ turnId: turn.id, code: error.code }, error.message);
        turn.fail(error);
      } else {
        await this.#lastResort(session, turn, writer, error);
      }
    }
  }

  /** Brings a notifying event to the bot; a failure is logged and changes nothing. */
  async note(session: RunningSession, event: NotifyingEvent, turnId: string): Promise<void> {
    if (!session.bot.notes.has(event.type)) return;
    const { store, clock, settings, observer } = this.#parts;
    const limit = linkAbort();
    try {
      const record = await store.load(session.call);
      if (record?.started !== true) return;
      const work = runNote(session.bot, record.state, event, this.#context(session, turnId, limit.signal));
      const waited = await waitAtMost(work, settings.turnDeadlineMs, clock);
      if (waited.kind !== 'value') throw new AppError('bot_timeout', `the handler of ${event.type} took too long`);
      if (waited.value !== record.state) await this.#commit(record, { state: waited.value });
    } catch (thrown) {
      observer.botFailed?.(session.call, turnId, toAppError(thrown, 'bot_failed'));
    } finally {
      limit.abort('deadline');
      limit.dispose();
    }
  }

  /** Marks the call as ended, so that late turns get no prompts on any machine (G-7C). */
  async close(session: RunningSession): Promise<void> {
    const record = await this.#parts.store.load(session.call);
    if (record !== undefined && !record.ended) await this.#commit(record, { ended: true, state: null });
  }

  async #answer(session: RunningSession, turn: Turn, input: CompleteInput, writer: ReplyWriter): Promise<void> {
    const record = (await this.#parts.store.load(session.call)) ?? firstRecord(session);
    if (record.ended || session.isEnded) {
      turn.finish('superseded');
      return;
    }
    if (record.started && input.kind === 'session_start') {
      this.#parts.log.warn(
        { turnId: turn.id, conversationId: session.call.conversationId },
        'the session started twice; repeating the welcome once',
      );
      await writer.finish(session.takeWelcome(), finalNext(record.listen, this.#parts.settings.listen), false);
      turn.finish('replied');
      return;
    }
    const { answer, error } = await this.#ask(session, turn, record, input, writer);
    if (error !== undefined && turn.signal.aborted) {
      // The caller talked on or left while the bot was thinking: that is no failure of the bot.
      await writer.finish([], finalNext(record.listen, this.#parts.settings.listen), false);
      turn.finish('interrupted');
      return;
    }
    if (error !== undefined) this.#parts.observer.botFailed?.(session.call, turn.id, error);
    const next = answer.reply.next;
    await this.#commit(record, {
      state: answer.state,
      started: record.started || error === undefined,
      listen: next.kind === 'listen' ? next : record.listen,
      failures: error === undefined ? 0 : record.failures + 1,
      turns: record.turns + 1,
      ended: isTerminal(next),
    });
    if (isTerminal(next)) session.ended(next, error !== undefined);
    await writer.finish(answer.reply.prompts, finalNext(next, this.#parts.settings.listen), isTerminal(next));
    turn.finish(error !== undefined ? 'failed' : turn.signal.aborted && !isTerminal(next) ? 'interrupted' : 'replied');
  }

  /** The bot's answer, or the engine's own when the bot has failed. */
  async #ask(
    session: RunningSession,
    turn: Turn,
    record: SessionRecord,
    input: CompleteInput,
    writer: ReplyWriter,
  ): Promise<{ readonly answer: Answer<JsonValue>; readonly error?: AppError }> {
    const { clock, settings, log } = this.#parts;
    const thinking = linkAbort(turn.signal);
    try {
      if (!record.started && input.kind !== 'session_start') {
        log.warn({ turnId: turn.id, conversationId: session.call.conversationId }, 'the call is unknown here; its bot starts over');
      }
      const work = this.#think(session, turn, record, input, writer, thinking.signal);
      const waited = await waitAtMost(work, settings.turnDeadlineMs, clock, session.signal);
      if (waited.kind === 'value') return { answer: waited.value };
      throw new AppError('bot_timeout', 'the bot took too long for its reply', { details: { limitMs: settings.turnDeadlineMs } });
    } catch (thrown) {
      thinking.abort('deadline');
      return { answer: { state: record.state, reply: this.#excuse(record) }, error: toAppError(thrown, 'bot_failed') };
    } finally {
      thinking.dispose();
    }
  }

  async #think(
    session: RunningSession,
    turn: Turn,
    record: SessionRecord,
    input: CompleteInput,
    writer: ReplyWriter,
    signal: AbortSignal,
  ): Promise<Answer<JsonValue>> {
    const event = record.started ? await this.#event(input, record, signal) : startOf(input);
    const isWelcome = event.type === 'session_start';
    const welcome: Prompt[] = [];
    const spoken = (prompts: readonly Prompt[]): readonly Prompt[] => {
      if (!isWelcome) return prompts;
      const kept = this.#parts.settings.welcomeBargeIn ? prompts : prompts.map((prompt) => ({ ...prompt, bargeIn: false }));
      welcome.push(...kept);
      return kept;
    };
    const context = this.#context(session, turn.id, signal);
    const answer = await runHandler(session.bot, record.state, event, context, (prompts) => {
      // A deadline has passed: what the bot still yields comes too late.
      if (signal.aborted) return undefined;
      return writer.speak(spoken(prompts));
    });
    const prompts = spoken(answer.reply.prompts);
    if (isWelcome) session.keepWelcome(welcome);
    return { state: answer.state, reply: { ...answer.reply, prompts } };
  }

  async #event(input: CompleteInput, record: SessionRecord, signal: AbortSignal): Promise<ReplyingEvent> {
    switch (input.kind) {
      case 'session_start':
        return startOf(input);
      case 'dtmf':
        return {
          type: 'dtmf_input',
          digits: withoutTerminator(input.digits, record.listen.terminator ?? this.#parts.settings.listen.terminator),
        };
      case 'no_input':
        return { type: 'no_input' };
      case 'custom_event':
        return { type: 'custom_event', name: input.name, parameters: input.parameters };
      case 'speech':
        return { type: 'speech_input', utterance: input.utterance, text: await this.#recognize(input, signal) };
    }
  }

  async #recognize(input: CompleteInput & { kind: 'speech' }, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#parts.recognizer?.recognize(input.utterance, signal);
    } catch (thrown) {
      // Without text the bot still has the audio and its own "sorry?": better than no turn at all.
      const error = toAppError(thrown, 'recognition_failed');
      this.#parts.log.warn({ code: error.code, err: error }, 'the utterance goes to the bot without text');
      return undefined;
    }
  }

  /** When even the engine's own path fails: one terminal reply without the store. */
  async #lastResort(session: RunningSession, turn: Turn, writer: ReplyWriter, error: AppError): Promise<void> {
    const { log, observer, settings } = this.#parts;
    log.error({ turnId: turn.id, code: error.code, err: error }, 'the turn failed outside the bot; the caller is transferred');
    observer.botFailed?.(session.call, turn.id, error);
    const reply = say(settings.handover).transfer({ reason: 'failure' });
    session.ended(reply.next, true);
    try {
      await writer.finish(reply.prompts, finalNext(reply.next, this.#parts.settings.listen), true);
      turn.finish('failed');
    } catch (thrown) {
      turn.fail(toAppError(thrown));
    }
  }

  #excuse(record: SessionRecord): Reply {
    const { apology, handover } = this.#parts.settings;
    if (record.failures + 1 >= FAILURES_BEFORE_TRANSFER) return say(handover).transfer({ reason: 'failure' });
    return say(apology).listen(listenOptions(record.listen));
  }

  async #commit(record: SessionRecord, change: Partial<SessionRecord>): Promise<void> {
    const { store, settings } = this.#parts;
    const next: SessionRecord = { ...record, ...change, version: record.version + 1 };
    const bytes = Buffer.byteLength(JSON.stringify(next));
    if (bytes > settings.maxRecordBytes) {
      throw new AppError('bot_failed', 'the bot keeps more state than a record may hold', {
        details: { bytes, limitBytes: settings.maxRecordBytes },
      });
    }
    if (!(await store.commit(next, record.version))) {
      throw new AppError('record_conflict', 'another turn changed the session in the meantime', { details: { version: record.version } });
    }
  }

  #context(session: RunningSession, turnId: string, signal: AbortSignal): BotContext {
    const { clock, log } = this.#parts;
    return {
      call: session.call,
      turnId,
      signal,
      clock,
      log: log.child({ bot: session.bot.id, conversationId: session.call.conversationId, turnId }),
    };
  }
}

function startOf(input: CompleteInput): ReplyingEvent {
  if (input.kind === 'session_start') return { type: 'session_start', name: input.name, parameters: input.parameters };
  return { type: 'session_start', name: '', parameters: {} };
}

function listenOptions({ kind: _kind, ...options }: Listen): Omit<Listen, 'kind'> {
  return options;
}

// G-67: whether the platform hands over the key that ended the collection is not known; bots never see it.
function withoutTerminator(digits: string, terminator: TerminatorKey): string {
  return terminator !== 'none' && digits.endsWith(terminator) ? digits.slice(0, -1) : digits;
}
