// The first wait of a turn: load the record, ask the bot, commit, speak. Whatever goes wrong here, the caller hears an
// apology, and on the second failure in a row goes to a human.
import { toAppError } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';
import type { NotifyingEvent, ReplyingEvent } from '../bot/bot.ts';
import { say, type Answer } from '../bot/saying.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import { isTerminal, type Listen, type Next, type Prompt, type Reply } from '../dialog/reply.ts';
import { BotNotes } from './bot-notes.ts';
import { BotQuestion } from './bot-question.ts';
import type { CallClaim } from './call-claim.ts';
import { hasRestarted, type CallRecords } from './call-records.ts';
import { CallTranscript } from './call-transcript.ts';
import type { CompleteInput } from './caller-event.ts';
import { finalNext } from './final-next.ts';
import { keptReply, replyOf } from './kept-reply.ts';
import { LastWords, type Mouth } from './last-words.ts';
import { logIds, type LoggedTurn } from './log-ids.ts';
import type { EngineParts, RunningSession } from './parts.ts';
import type { KeptCall } from './ports.ts';
import { firstRecord, type KeptReply, type SessionRecord } from './record.ts';
import { heardOutcome, isEndTold, isLeftToSay, isOver, textsOf, withoutEvent } from './reply-looks.ts';
import { ReplyWriter } from './reply-writer.ts';
import { isSensitiveInput } from './sensitive-input.ts';
import type { Turn } from './turn.ts';

/** How often in a row a bot may fail before its caller goes to a human. */
const FAILURES_BEFORE_TRANSFER = 2;
/** How long an input waits at least for a call that another process has, ms. */
const LEAST_WAIT_MS = 1000;

/** What a turn is answered with. */
interface Answered {
  readonly answer: Answer<JsonValue>;
  /** Undefined when not even that was known in time. */
  readonly event: ReplyingEvent | undefined;
  /** What was spoken before the answer. */
  readonly early?: readonly Prompt[];
  readonly hasFailed?: boolean;
}

/** An input of a call that was claimed. */
interface ClaimedInput {
  readonly input: CompleteInput;
  readonly record: SessionRecord;
  readonly unheard: KeptCall['unheard'];
}

/** Runs the bots of all sessions; holds nothing of any of them. */
export class BotRunner {
  readonly #parts: EngineParts;
  readonly #records: CallRecords;
  readonly #notes: BotNotes;
  readonly #transcript: CallTranscript;
  readonly #lastWords: LastWords;

  constructor(parts: EngineParts, records: CallRecords) {
    this.#parts = parts;
    this.#records = records;
    this.#notes = new BotNotes(parts, records);
    this.#transcript = new CallTranscript(parts);
    this.#lastWords = new LastWords(parts, this.#transcript);
  }

  /** Answers one complete input and ends its turn. Never throws. */
  async answer(session: RunningSession, turn: Turn, input: CompleteInput): Promise<void> {
    const writer = this.#writer(session, turn, input.completeAtMs);
    try {
      await this.#answer(session, turn, input, writer);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'slow_reader') {
        this.#lastWords.failed({ session, turn, writer }, error);
      } else if (hasRestarted(error)) {
        turn.finish('superseded');
      } else if (error.details['held'] === true) {
        this.#parts.log.warn({ ...logIds(session.call, turn), code: error.code }, error.message);
        await this.#askAgain({ session, turn, writer });
      } else if (error.code !== 'record_conflict' || !(await this.#sayWinners({ session, turn, writer }))) {
        const isAway = error.code === 'store_unavailable';
        const what = isAway ? 'the store is away' : 'the turn failed outside the bot';
        this.#parts.log[isAway ? 'warn' : 'error']({ ...logIds(session.call, turn), err: error }, `${what}; the caller is handed over`);
        // No failure of a bot, and no defect of ours.
        if (!isAway) this.#parts.observer.botFailed?.(session.call, turn.id, error);
        await this.#lastWords.handOver({ session, turn, writer }, 'failed');
      }
    }
  }

  /** Ends the call from our side on an open turn: see {@link LastWords.handOver}. Never throws. */
  async leave(session: RunningSession, turn: Turn, end: SessionEnd): Promise<void> {
    await this.#lastWords.handOver({ session, turn, writer: this.#writer(session, turn) }, end);
  }

  /** See {@link LastWords.settle}; not where another process has handed the end over, or does so now. Never throws. */
  async settle(session: RunningSession, turn: Turn): Promise<void> {
    const mouth = { session, turn, writer: this.#writer(session, turn) };
    if (this.#parts.shared === undefined || session.isEnded) {
      await this.#lastWords.settle(mouth);
      return;
    }
    try {
      await this.#settleClaimed(mouth);
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.details['held'] === true || hasRestarted(error)) {
        turn.finish('superseded');
        return;
      }
      // A caller need not wait for a store that is away.
      this.#parts.log.warn(
        { ...logIds(session.call, turn), err: error },
        'an end that is owed is told without what the store knows of its call',
      );
      await this.#lastWords.settle(mouth);
    }
  }

  async #settleClaimed(mouth: Mouth): Promise<void> {
    const { session, turn } = mouth;
    const claim = await this.#records.claim(session, { heldMs: this.#parts.settings.turnDeadlineMs, awayMs: LEAST_WAIT_MS });
    try {
      if (claim.kept !== undefined) session.caughtUp(claim.kept, turn);
      await this.#lastWords.settle(mouth);
    } finally {
      this.#release(claim, session, turn, true);
    }
  }

  /** See {@link BotNotes.note}. */
  note(session: RunningSession, event: NotifyingEvent, turn: LoggedTurn, sinceMs: number): Promise<void> {
    return this.#notes.note(session, event, turn, sinceMs);
  }

  /** See {@link CallRecords.close}. */
  close(session: RunningSession): Promise<void> {
    return this.#records.close(session);
  }

  /** @param completeAtMs - since when the caller waits; now where no input is answered. */
  #writer(session: RunningSession, turn: Turn, completeAtMs = this.#parts.clock.monotonicMs()): ReplyWriter {
    const { clock, observer, settings, voice } = this.#parts;
    return new ReplyWriter({
      turn,
      mode: session.mode,
      voice,
      playback: session.playback,
      clock,
      slowReaderMs: settings.slowReaderMs,
      maxFarewellMs: settings.maxFarewellMs,
      isLeaving: () => session.leaving !== undefined,
      hurry: this.#parts.hurry,
      onFirstAudio: () => {
        observer.replyStarted?.(session.call, turn.id, clock.monotonicMs() - completeAtMs);
      },
    });
  }

  async #answer(session: RunningSession, turn: Turn, input: CompleteInput, writer: ReplyWriter): Promise<void> {
    // A store that is slow now keeps nobody any more, nor those behind.
    if (session.isEnded) {
      turn.finish('superseded');
      return;
    }
    const { clock, settings } = this.#parts;
    // What was waited for before, behind notes, does not make the caller wait for much longer.
    const heldMs = Math.max(LEAST_WAIT_MS, settings.turnDeadlineMs - (clock.monotonicMs() - input.completeAtMs));
    const claim = await this.#records.claim(session, { heldMs });
    try {
      const caughtUp = await this.#caughtUp(session, turn, input, claim);
      await this.#answerClaimed(session, turn, caughtUp, writer);
    } catch (thrown) {
      if (toAppError(thrown).code === 'slow_reader') session.playback.dropped();
      throw thrown;
    } finally {
      const isLeft = claim.kept !== undefined && isLeftToSay(claim.kept);
      this.#release(claim, session, turn, writer.hasSaid || session.isEnded || !isLeft);
    }
  }

  /** @param isHeard - false: whatever there is to be heard is still owed, as is an end, in whichever process the next turn comes. */
  #release(claim: CallClaim, session: RunningSession, turn: Turn, isHeard: boolean): void {
    const { clock, shared } = this.#parts;
    const isTold = isHeard && session.owed === undefined && shared !== undefined;
    this.#records.release(claim, isTold ? session.playback.tell(clock.monotonicMs()) : undefined, turn);
  }

  /** The record of a call that was claimed, and the input as it is with what another process has told of the turn before. */
  async #caughtUp(session: RunningSession, turn: Turn, input: CompleteInput, { kept }: CallClaim): Promise<ClaimedInput> {
    const record = kept?.record ?? firstRecord(session);
    const news = kept === undefined ? undefined : session.caughtUp(kept, turn);
    const { bargeIn, cut = input.cut } = news ?? {};
    // Only now is it known what came of the answer before it.
    const { playback } = session;
    const heard = news === undefined ? playback.settled(input.heard) : playback.heardWhenComplete(input.completeAtMs);
    const known = { input: { ...input, cut, heard }, record, unheard: kept?.unheard };
    if (bargeIn === undefined) return known;
    this.#parts.observer.bargeIn?.(session.call, turn.id, bargeIn.by, bargeIn.heard.ms);
    if (!session.bot.notes.has('barge_in')) return known;
    return { ...known, record: await this.#notes.tell(session, bargeIn, turn, known.record) };
  }

  async #answerClaimed(session: RunningSession, turn: Turn, { input, record, unheard }: ClaimedInput, writer: ReplyWriter): Promise<void> {
    const mouth = { session, turn, writer };
    if (isOver(session) || isEndTold({ record, unheard })) {
      await this.#lastWords.settle(mouth);
      return;
    }
    const isLeft = isLeftToSay({ record, unheard });
    // Nobody hears it on a turn that was completed or cancelled meanwhile: it is left to the next one.
    if (isLeft && turn.over.aborted) return;
    // An end that the bot has decided goes before one of ours.
    if (session.leaving !== undefined && !(isLeft && record.ended)) {
      // One that was completed meanwhile has no mouth for last words.
      if (!turn.over.aborted) await this.#lastWords.handOver(mouth, session.leaving);
      return;
    }
    if (isLeft) {
      await this.#repeat(mouth, record);
      return;
    }
    if (record.started && input.act.kind === 'session_start') {
      // G-28: two streams began the conversation at the same moment, here or in another process.
      const { version } = await this.#notes.tell(session, { type: 'session_end', by: 'restarted' }, turn, record);
      const anew = { input, record: { ...firstRecord(session), version }, unheard: undefined };
      await this.#answerClaimed(session, turn, anew, writer);
      return;
    }
    if (!record.started && input.act.kind !== 'session_start') {
      this.#parts.log.warn(logIds(session.call, turn), 'the call is unknown here; its bot starts over');
    }
    const { clock, settings } = this.#parts;
    const limitMs = session.answerLimit.forQuestion(input.completeAtMs, clock.monotonicMs(), settings.turnDeadlineMs);
    const asked = await new BotQuestion(this.#parts, session, turn, record, writer).ask(input, limitMs);
    const outcome = await heardOutcome(asked, writer);
    // What comes of it on a turn that was cut before its first word is not heard.
    if (outcome.kind !== 'abandoned' && (!turn.signal.aborted || turn.hasSpoken)) session.answerLimit.answered();
    switch (outcome.kind) {
      case 'answer':
        await this.#commitAndSpeak(session, turn, writer, record, outcome);
        return;
      case 'failed':
        this.#parts.observer.botFailed?.(session.call, turn.id, outcome.error);
        await this.#commitAndSpeak(session, turn, writer, record, {
          answer: { state: record.state, reply: this.#excuse(record) },
          event: outcome.event,
          hasFailed: true,
        });
        return;
      case 'abandoned':
        // The caller talked on or left, and the bot was still busy: its answer is not waited for.
        await this.#listenOn(mouth, [], record.listen, 'interrupted');
        return;
      case 'false_interruption':
        await this.#resume(mouth, record, input);
    }
  }

  /** What cut the prompts was no speech: they go on a little before the cut. */
  async #resume(mouth: Mouth, record: SessionRecord, { cut }: CompleteInput): Promise<void> {
    this.#parts.observer.promptResumed?.(mouth.session.call, mouth.turn.id);
    // The sound is in another process: the reply begins anew.
    const prompts = cut?.isToldOf === true && record.reply !== undefined ? replyOf(record.reply).prompts : [];
    if (cut?.isToldOf === false) await mouth.writer.resume(cut);
    await this.#listenOn(mouth, prompts, record.listen, 'replied');
  }

  /** Nobody has heard this reply that was decided, or not to its end: the caller hears it, whatever came in place of an answer to it. */
  async #repeat(mouth: Mouth, record: SessionRecord): Promise<void> {
    const { session, turn } = mouth;
    const { reply } = record;
    this.#parts.observer.replyRepeated?.(session.call, turn.id);
    const { prompts, next } = reply === undefined ? say(this.#parts.settings.apology).listen() : replyOf(reply);
    if (isTerminal(next)) {
      const end = record.failures > 0 ? 'failed' : endOf(next);
      await this.#lastWords.say(mouth, prompts, { next: this.#lastWords.final(next, record.transcript), end }, 'replied');
    } else {
      session.listensFor(record.listen);
      await this.#listenOn(mouth, prompts, record.listen, 'replied', true);
    }
  }

  /** Another process answers the caller all the time: nothing is known of what it decides. Never throws. */
  async #askAgain(mouth: Mouth): Promise<void> {
    try {
      const { session, turn } = mouth;
      // Last words take longer than answers, and nothing is said into them (G-7C).
      const hasEnded = isOver(session);
      const record = hasEnded ? undefined : await this.#parts.store.load(session.call);
      if (hasEnded || record?.ended === true) turn.finish('superseded');
      // The caller answers the same question again.
      else await this.#listenOn(mouth, say(this.#parts.settings.apology).listen().prompts, record?.listen ?? { kind: 'listen' }, 'failed');
    } catch (thrown) {
      this.#lastWords.failed(mouth, toAppError(thrown));
    }
  }

  /** Another process has answered meanwhile. @returns false when it has left nothing to say. */
  async #sayWinners(mouth: Mouth): Promise<boolean> {
    const { log, settings } = this.#parts;
    const { session, turn, writer } = mouth;
    try {
      const claim = await this.#records.claim(session, { heldMs: settings.turnDeadlineMs });
      try {
        if (claim.kept === undefined) return false;
        const { record } = claim.kept;
        session.caughtUp(claim.kept, turn);
        const hasEnded = isOver(session) || isEndTold(claim.kept);
        if (!hasEnded && record.reply === undefined) return false;
        if (hasEnded) await this.#lastWords.settle(mouth);
        else await this.#repeat(mouth, record);
        return true;
      } finally {
        this.#release(claim, session, turn, writer.hasSaid);
      }
    } catch (thrown) {
      log.warn({ ...logIds(session.call, turn), err: toAppError(thrown) }, 'what another server answered could not be said');
      return false;
    }
  }

  async #commitAndSpeak(
    session: RunningSession,
    turn: Turn,
    writer: ReplyWriter,
    record: SessionRecord,
    { answer: { state, reply }, event, early = [], hasFailed = false }: Answered,
  ): Promise<void> {
    const { next, prompts } = reply;
    const isEnd = isTerminal(next);
    const isSensitive = isSensitiveInput(record, event);
    const transcript = this.#transcript.after(record, event, isSensitive, isEnd ? [...writer.saidTexts, ...textsOf(prompts)] : []);
    const written = this.#records.commit(
      record,
      {
        state,
        reply: this.#kept({ prompts: [...early, ...prompts], next: isEnd ? next : withoutEvent(next) }),
        started: record.started || !hasFailed,
        listen: isEnd ? record.listen : withoutEvent(next),
        failures: hasFailed ? record.failures + 1 : 0,
        misses: event?.type === 'no_input' ? record.misses + 1 : 0,
        sensitive: record.sensitive || (!isEnd && next.sensitive === true),
        lastWasSensitive: isSensitive,
        transcript,
        turns: record.turns + 1,
        place: turn.place,
        ended: isEnd,
      },
      true,
    );
    await (isEnd ? written.catch(unlessAway) : written);
    if (!isEnd) {
      session.listensFor(next);
      // The platform, too, may hear the rest of it first.
      const isRestOpen = isSensitive && turn.signal.aborted && !writer.hasSaid;
      const asked = isRestOpen ? { ...next, sensitive: true } : next;
      await this.#listenOn({ session, turn, writer }, prompts, asked, hasFailed ? 'failed' : 'replied', true);
      return;
    }
    const owed = { next: this.#lastWords.final(next, transcript), end: hasFailed ? 'failed' : endOf(next) } as const;
    await this.#lastWords.say({ session, turn, writer }, prompts, owed, hasFailed ? 'failed' : 'replied');
  }

  /**
   * Speaks and waits for the caller; one whom we leave meanwhile is handed over instead.
   *
   * @param isKept - the bot goes on from what is said: it must not take for heard what does not reach the caller.
   */
  async #listenOn({ session, turn, writer }: Mouth, prompts: readonly Prompt[], next: Listen, end: TurnEnd, isKept = false): Promise<void> {
    const isDone = await writer.finish(prompts, finalNext(next, this.#parts.settings.listen), false, end === 'failed');
    if (!isDone || turn.signal.aborted) {
      if (writer.hasSaid) session.playback.dropped();
      else session.playback.unspoken(isKept);
    }
    if (!isDone && !turn.over.aborted && session.leaving !== undefined)
      await this.#lastWords.handOver({ session, turn, writer }, session.leaving);
    else turn.finish(end === 'replied' && turn.signal.aborted ? 'interrupted' : end);
  }

  /** Nobody says it a second time where no other process can. */
  #kept(reply: Reply): KeptReply | undefined {
    return this.#parts.shared === undefined ? undefined : keptReply(reply, this.#parts.settings.maxRecordBytes);
  }

  #excuse(record: SessionRecord): Reply {
    const { apology, handover } = this.#parts.settings;
    if (record.failures + 1 >= FAILURES_BEFORE_TRANSFER) return say(handover).transfer({ reason: 'failed' });
    // The caller answers the same question again.
    return { ...say(apology).listen(), next: record.listen };
  }
}

function endOf({ kind }: Exclude<Next, Listen>): SessionEnd {
  return kind === 'transfer' ? 'bot_transfer' : 'bot_end';
}

/** Last words are said also when nobody can be told that they were. */
function unlessAway(thrown: unknown): void {
  if (toAppError(thrown).code !== 'store_unavailable') throw thrown;
}
