// The first wait of a turn: load the record, ask the bot, commit, speak. Whatever goes wrong here, the caller hears an
// apology, and on the second failure in a row goes to a human.
import { linkAbort, waitAtMost } from '../base/abort.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { NotifyingEvent } from '../bot/bot.ts';
import { runNote } from '../bot/run-handler.ts';
import { say, type Answer } from '../bot/saying.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import { isTerminal, type Reply } from '../dialog/reply.ts';
import { BotQuestion, botContext } from './bot-question.ts';
import { finalNext } from './final-next.ts';
import type { EngineParts, RunningSession } from './parts.ts';
import { firstRecord, type SessionRecord } from './record.ts';
import { ReplyWriter } from './reply-writer.ts';
import type { CompleteInput, Turn } from './turn.ts';

/** How often in a row a bot may fail before its caller goes to a human. */
const FAILURES_BEFORE_TRANSFER = 2;
/** Longest a notifying handler may take, ms: replies wait behind it. */
const NOTE_LIMIT_MS = 500;

/** Runs the bots of all sessions; holds nothing of any of them. */
export class BotRunner {
  readonly #parts: EngineParts;

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  /** Answers one complete input and ends its turn. Never throws. */
  async answer(session: RunningSession, turn: Turn, input: CompleteInput): Promise<void> {
    const writer = this.#writer(session, turn);
    try {
      await this.#answer(session, turn, input, writer);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'slow_reader') {
        this.#parts.log.warn({ ...idsOf(session, turn), code: error.code }, error.message);
        turn.fail(error);
      } else {
        this.#parts.log.error({ ...idsOf(session, turn), err: error }, 'the turn failed outside the bot; the caller is handed over');
        this.#parts.observer.botFailed?.(session.call, turn.id, error);
        await this.#handOver(session, turn, writer, 'failed');
      }
    }
  }

  /** Ends the call from our side on an open turn: a spoken line and a transfer. Never throws. */
  async leave(session: RunningSession, turn: Turn, end: SessionEnd): Promise<void> {
    await this.#handOver(session, turn, this.#writer(session, turn), end);
  }

  /** Brings a notifying event to the bot; a failure is reported and changes nothing. */
  async note(session: RunningSession, event: NotifyingEvent, turnId: string): Promise<void> {
    const { store, clock, observer } = this.#parts;
    const limit = linkAbort();
    try {
      const record = await store.load(session.call);
      if (record?.started !== true) return;
      const work = runNote(session.bot, record.state, event, botContext(this.#parts, session, turnId, limit.signal));
      const waited = await waitAtMost(work, NOTE_LIMIT_MS, clock);
      if (waited.kind !== 'value') throw new AppError('bot_timeout', `the handler of ${event.type} took too long`);
      if (waited.value !== record.state) await this.#commit(record, { state: waited.value });
    } catch (thrown) {
      observer.botFailed?.(session.call, turnId, toAppError(thrown, 'bot_failed'));
    } finally {
      limit.abort('deadline');
    }
  }

  /** Marks the call as ended and forgets the bot's state, so that late turns get no prompts on any machine (G-7C). */
  async close(session: RunningSession): Promise<void> {
    const record = await this.#parts.store.load(session.call);
    if (record !== undefined && (!record.ended || record.state !== null)) await this.#commit(record, { ended: true, state: null });
  }

  #writer(session: RunningSession, turn: Turn): ReplyWriter {
    const { clock, observer, settings, voice } = this.#parts;
    const completeAtMs = clock.monotonicMs();
    return new ReplyWriter({
      turn,
      mode: session.mode,
      voice,
      playback: session.playback,
      clock,
      slowReaderMs: settings.slowReaderMs,
      onFirstAudio: () => {
        observer.replyStarted?.(session.call, turn.id, clock.monotonicMs() - completeAtMs);
      },
    });
  }

  async #answer(session: RunningSession, turn: Turn, input: CompleteInput, writer: ReplyWriter): Promise<void> {
    const record = (await this.#parts.store.load(session.call)) ?? firstRecord(session);
    if (record.ended || session.isEnded) {
      turn.finish('superseded');
      return;
    }
    if (session.isExpired) {
      await this.#handOver(session, turn, writer, 'too_long');
      return;
    }
    if (record.started && input.kind === 'session_start') {
      this.#parts.log.warn(idsOf(session, turn), 'the session started twice; repeating the welcome once');
      await this.#deliver(writer, { prompts: session.takeWelcome(), next: record.listen });
      turn.finish('replied');
      return;
    }
    if (!record.started && input.kind !== 'session_start') {
      this.#parts.log.warn(idsOf(session, turn), 'the call is unknown here; its bot starts over');
    }
    const heard = await new BotQuestion(this.#parts, session, turn, record, writer).ask(input);
    switch (heard.kind) {
      case 'answer':
        await this.#commitAndSpeak(session, turn, writer, record, heard.answer);
        return;
      case 'failed':
        this.#parts.observer.botFailed?.(session.call, turn.id, heard.error);
        await this.#commitAndSpeak(session, turn, writer, record, { state: record.state, reply: this.#excuse(record) }, true);
        return;
      case 'abandoned':
        // The caller talked on or left, and the bot was still busy: its answer is not waited for.
        await this.#deliver(writer, { prompts: [], next: record.listen });
        turn.finish('interrupted');
    }
  }

  async #commitAndSpeak(
    session: RunningSession,
    turn: Turn,
    writer: ReplyWriter,
    record: SessionRecord,
    { state, reply }: Answer<JsonValue>,
    hasFailed = false,
  ): Promise<void> {
    const { next } = reply;
    await this.#commit(record, {
      state,
      started: record.started || !hasFailed,
      listen: next.kind === 'listen' ? next : record.listen,
      failures: hasFailed ? record.failures + 1 : 0,
      turns: record.turns + 1,
      ended: isTerminal(next),
    });
    if (isTerminal(next)) session.ends(hasFailed ? 'failed' : next.kind === 'transfer' ? 'bot_transfer' : 'bot_end');
    await this.#deliver(writer, reply);
    const isInterrupted = turn.signal.aborted && !isTerminal(next);
    turn.finish(hasFailed ? 'failed' : isInterrupted ? 'interrupted' : 'replied');
  }

  async #deliver(writer: ReplyWriter, { prompts, next }: Reply): Promise<void> {
    await writer.finish(prompts, finalNext(next, this.#parts.settings.listen), isTerminal(next));
  }

  /** A terminal reply of our own, without bot and store. */
  async #handOver(session: RunningSession, turn: Turn, writer: ReplyWriter, end: SessionEnd): Promise<void> {
    session.ends(end);
    try {
      await this.#deliver(writer, say(this.#parts.settings.handover).transfer({ reason: end }));
      turn.finish(end === 'failed' ? 'failed' : end === 'shutdown' ? 'shutdown' : 'superseded');
    } catch (thrown) {
      turn.fail(toAppError(thrown));
    }
  }

  #excuse(record: SessionRecord): Reply {
    const { apology, handover } = this.#parts.settings;
    if (record.failures + 1 >= FAILURES_BEFORE_TRANSFER) return say(handover).transfer({ reason: 'failed' });
    // The caller answers the same question again.
    return { ...say(apology).listen(), next: record.listen };
  }

  async #commit(record: SessionRecord, change: Partial<SessionRecord>): Promise<void> {
    const next: SessionRecord = { ...record, ...change, version: record.version + 1 };
    if (!(await this.#parts.store.commit(next, record.version))) {
      throw new AppError('record_conflict', 'another turn changed the session in the meantime', { details: { version: record.version } });
    }
  }
}

function idsOf(session: RunningSession, turn: Turn): { readonly conversationId: string; readonly turnId: string } {
  return { conversationId: session.call.conversationId, turnId: turn.id };
}
