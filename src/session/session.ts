// One call on our side: its open turns (two of them are normal, G-50), the ear they share, and the queue that brings
// inputs to the bot one at a time and in order.
import { AppError } from '../base/errors.ts';
import type { Bot, NotifyingEvent } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { AudioInput } from '../dialog/input.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import type { Listen } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import { AnswerLimit } from './answer-limit.ts';
import { frameHook } from './bot-ear.ts';
import { Ear } from './ear.ts';
import { EarlyRecognition } from './early-recognition.ts';
import { Elsewhere } from './elsewhere.ts';
import { Playback } from './heard.ts';
import { Interruption } from './interruption.ts';
import { listeningPatience } from './listening-patience.ts';
import { logIds, type LoggedTurn } from './log-ids.ts';
import { NextStream } from './next-stream.ts';
import { OpenTurns } from './open-turns.ts';
import type { CaughtUp, OwedEnd, RunningSession } from './parts.ts';
import type { Interrupted, KeptCall, OpenedCall, TurnSink } from './ports.ts';
import type { SessionParts, SessionStartingPoint } from './session-parts.ts';
import { SessionTimes } from './session-times.ts';
import { Turn, type TurnHost, type TurnInput } from './turn.ts';
import { TurnNames } from './turn-names.ts';
import { WorkQueue } from './work-queue.ts';

/** Most inputs and notes that may wait for the bot: a client that opens and cancels streams must not grow the queue. */
const MAX_QUEUED = 64;

/** One session. Made and thrown away by `Sessions`. */
export class Session implements TurnHost, RunningSession {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly mode: DeliveryMode;
  readonly playback = new Playback();
  readonly answerLimit = new AnswerLimit();
  readonly times: SessionTimes;
  /** No other process can go on with the call. */
  readonly isTied: boolean;
  readonly restarts: number;
  isKept: boolean;
  leaving: 'too_long' | 'shutdown' | undefined;
  readonly #parts: SessionParts;
  readonly #ear: Ear;
  readonly #open = new OpenTurns();
  readonly #interruption = new Interruption(this.#open, this.playback);
  readonly #elsewhere: Elsewhere;
  readonly #names: TurnNames;
  readonly #early: EarlyRecognition | undefined;
  readonly nextStream: NextStream;
  /** Brings one input after the other to the bot. */
  readonly #work: WorkQueue;
  #owed: OwedEnd | undefined;
  /** The turn on which the last words are spoken. */
  #farewell: Turn | undefined;
  #end: SessionEnd | 'moved' | undefined;
  #hasBegun: boolean;

  constructor(point: SessionStartingPoint, parts: SessionParts) {
    const { call, bot, mode, turns, listen, isTied = false, isContinued = false, hasBegun = false, restarts = 0 } = point;
    this.call = call;
    this.bot = bot;
    this.mode = mode;
    this.isTied = isTied;
    this.restarts = restarts;
    this.isKept = isContinued;
    this.#hasBegun = hasBegun;
    this.#parts = parts;
    this.#names = new TurnNames(call.conversationId, turns);
    this.#elsewhere = new Elsewhere(call, this.playback, parts.shared?.interruptions);
    this.#work = new WorkQueue((error) => {
      parts.log.error({ conversationId: call.conversationId, err: error }, 'work of a session failed');
    });
    this.#ear = new Ear({
      create: parts.createListener,
      onFrame: frameHook({
        bot,
        call,
        ear: () => this.#ear,
        mayStart: () => this.#owed === undefined && !this.#interruption.isBarred(parts.clock.monotonicMs()),
        onFailed: (error) => parts.observer.botFailed?.(call, `${call.conversationId}#audio`, error),
      }),
      isSelfEndpointing: bot.endpointing === 'bot',
    });
    this.#early = parts.recognizer === undefined || bot.recognition === 'none' ? undefined : new EarlyRecognition(parts.recognizer);
    const nowMs = parts.clock.monotonicMs();
    this.times = new SessionTimes(nowMs, isContinued ? Math.max(0, parts.clock.nowMs() - call.startedAtMs) : 0);
    this.nextStream = new NextStream(nowMs, parts.settings.listen);
    this.listensFor(listen);
    parts.observer.sessionStarted?.(call, isContinued);
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** It is over here because another process goes on with the call. */
  get hasMoved(): boolean {
    return this.#end === 'moved';
  }

  get owed(): OwedEnd | undefined {
    return this.#owed;
  }

  /** Turns that are not done. */
  get openTurns(): number {
    return this.#open.size;
  }

  /** Whether one more turn may open. */
  get hasRoom(): boolean {
    return this.#open.hasRoom && this.#work.size < MAX_QUEUED;
  }

  /** Takes the start of the conversation. @returns false when it has begun here already, or is over: it begins anew (G-28). */
  takeStart(): boolean {
    if (this.#hasBegun || this.isEnded) return false;
    this.#hasBegun = true;
    return true;
  }

  /** How long the caller has been gone without a word, ms; 0 while a turn is open or was closed properly. */
  vanishedForMs(nowMs: number): number {
    return this.#open.size > 0 ? 0 : this.times.vanishedForMs(nowMs);
  }

  /** Asked while no stream is open: true while the caller is to be back on one soon. */
  isAwaited(nowMs: number): boolean {
    return !this.isEnded && this.nextStream.isAwaited(nowMs);
  }

  /** True when nothing of the call happens here and its caller should have come back by now. */
  isLeftAlone(nowMs: number): boolean {
    return !this.isTied && !this.isEnded && this.#open.size + this.#work.size === 0 && !this.isAwaited(nowMs);
  }

  /**
   * Makes room for one more turn: of those whose replies nobody wants any more, the oldest is completed when it must be.
   *
   * @returns whether there is room.
   */
  makeRoom(): boolean {
    // A reply that we have cut ourselves says the last words.
    const mayFinish = this.leaving === undefined && this.#owed === undefined && this.#work.size < MAX_QUEUED;
    if (!this.hasRoom && mayFinish) this.#open.finishInterrupted();
    return this.hasRoom;
  }

  /**
   * Opens a turn.
   *
   * @param isHangUp - a hang-up always finds a place.
   * @throws AppError `overloaded` when the session has too many open turns.
   */
  beginTurn(sink: TurnSink, isHangUp = false): Turn {
    if (!isHangUp && !this.hasRoom) {
      throw new AppError('overloaded', 'the conversation has too many open streams or waiting inputs');
    }
    const turn = new Turn(this.#names.next(), this, sink);
    this.#open.add(turn);
    this.#parts.observer.turnStarted?.(this.call, turn.id, turn.trackingId);
    this.#note({ type: 'turn_started' }, turn);
    return turn;
  }

  /**
   * Ends the call from our side: the turn that is being answered hands the caller over, or else the newest; others just
   * complete. Without an open turn the next one will.
   */
  async leave(end: 'too_long' | 'shutdown'): Promise<void> {
    this.leaving ??= end;
    // The bot's own goodbye is being spoken: it ends the call as well as ours.
    if (this.#owed !== undefined) await this.#work.done();
    // Again for a turn that came meanwhile, when the one before was cancelled.
    for (let turn = this.#open.keepLast(); turn !== undefined && !this.isEnded; turn = this.#open.keepLast()) {
      // Two mouths on one turn would cut each other short: an answer that is under way hands the caller over itself.
      if (turn.takeOver()) turn.interrupt();
      else this.#work.add(() => this.#parts.runner.leave(this, turn, end));
      await this.#work.done();
    }
    this.#open.keepLast()?.finish('superseded');
  }

  /** A stream opens here: another process may have had the turns before it. */
  opened({ place, kept }: OpenedCall): void {
    this.#names.place = place;
    if (kept === undefined) return;
    const nowMs = this.#found(kept);
    // What is being answered or noted here is newer than what was kept when the stream opened.
    if (this.#work.size > 0) return;
    this.#elsewhere.told(kept, nowMs);
    this.listensFor(kept.record.listen);
  }

  /** The caller acts on a turn that another process has: mouths here stop, and after a hang-up nothing is wanted here any more. */
  interruptedElsewhere({ place, isHangUp }: Interrupted): void {
    if (isHangUp) for (const turn of this.#open.list()) turn.finish('hang_up', 'hang_up');
    // Nobody takes a call from its wire but a conversation that begins anew on another.
    if (isHangUp && this.isTied && !this.isEnded) this.#isOver('moved');
    this.#interruption.elsewhere(place, this.#parts.clock.monotonicMs());
  }

  /** Nothing more is said on these streams: see {@link OpenTurns.complete}. */
  complete(which: 'silent' | 'all'): void {
    this.#open.complete(which);
  }

  /** The call goes on in another process, its bot is told of no end. @returns false when a turn is open: nothing is done. */
  async moveAway(): Promise<boolean> {
    await this.#work.done();
    if (this.#open.size > 0) return false;
    if (this.#end === undefined) this.#isOver('moved');
    this.#ear.close();
    return true;
  }

  /** Ends a session that nobody uses any more, or may use, and its turns: see {@link OpenTurns.stop}. Waits until the bot was told. */
  async stop(end: SessionEnd): Promise<void> {
    this.ends(end);
    if (end === 'restarted') this.#elsewhere.restarts(this.#names.place);
    // Again for a turn that had the session in its hand already.
    do {
      this.#open.stop(end);
      await this.#work.done();
    } while (this.#open.size > 0);
    this.#ear.close();
  }

  // What turns ask for (TurnHost).

  touched(): void {
    this.times.touched(this.#parts.clock.monotonicMs());
  }

  listen(turn: Turn, input: AudioInput): void {
    if (this.isEnded) return;
    if (this.#owed !== undefined) {
      this.#settle(turn);
      return;
    }
    this.#ear.note(input);
    const nowMs = this.times.lastInputMs;
    const isPlaying = this.playback.isPlaying(nowMs);
    // G-51: what is said into a prompt that cannot be cut is not input.
    if (this.#interruption.isBarred(nowMs, isPlaying)) return;
    // A reply in the making is as easily lost to a cough as one that is heard; not when we end the call: it may never be spoken.
    this.#ear.hear(turn, input.audio, isPlaying || (this.leaving === undefined && this.#open.isReplying));
  }

  cutSpeech(turn: Turn): void {
    this.#ear.cut(turn);
    // The ear had moved on, so nothing was heard to the end.
    if (turn.state === 'hearing') turn.finish('nothing_said');
  }

  endSuspected(isSuspected: boolean): void {
    if (isSuspected) this.#early?.begin(this.#ear.utteranceSoFar());
    else this.#early?.drop();
  }

  takeUtterance(): Utterance {
    return this.#ear.takeUtterance();
  }

  callerActed(turn: Turn, by: 'speech' | 'keys', spared?: Turn): void {
    if (by === 'keys') this.nextStream.keyPressed();
    const nowMs = this.#parts.clock.monotonicMs();
    const hasCut = this.#interruption.by(by, turn, spared, nowMs);
    this.#elsewhere.acted(turn, by, hasCut, nowMs);
    if (!hasCut) return;
    const heard = this.playback.heard(nowMs);
    this.#parts.observer.bargeIn?.(this.call, turn.id, by, heard.ms);
    this.#note({ type: 'barge_in', by, heard }, turn);
  }

  inputStarted(turn: Turn): void {
    this.#early?.reset();
    this.#parts.observer.inputStarted?.(this.call, turn.id);
  }

  inputComplete(turn: Turn, act: TurnInput): void {
    // G-64: the digits of a one-key menu come without START_OF_DTMF.
    if (act.kind === 'dtmf') this.callerActed(turn, 'keys', turn);
    this.nextStream.inputComplete();
    this.#hasBegun = true;
    if (act.kind === 'speech') this.#parts.observer.inputEnded?.(this.call, turn.id);
    // Last words are being spoken, or were: nobody waits behind them for an answer that does not come (G-7C).
    if (this.isEnded || this.#isSayingGoodbye) {
      turn.finish('superseded');
      return;
    }
    const cut = this.#interruption.takeCut(turn);
    const recognition = act.kind === 'speech' ? this.#early?.take() : undefined;
    const completeAtMs = this.#parts.clock.monotonicMs();
    const heard = this.playback.heardWhenComplete(completeAtMs);
    this.#work.add(() => this.#parts.runner.answer(this, turn, { act, completeAtMs, heard, cut, recognition }));
  }

  hungUp(turn: Turn): void {
    this.#elsewhere.hungUp(turn);
    this.ends('caller');
    for (const other of this.#open.list()) {
      // The platform still waits for these streams to complete; nothing is owed on them any more.
      if (other !== turn) other.finish('hang_up', 'hang_up');
    }
    turn.write({ kind: 'final', mode: this.mode, prompts: [], next: { kind: 'gone' } });
    turn.finish('hang_up', 'hang_up');
  }

  refused(turn: Turn): void {
    this.#parts.log.warn(logIds(this.call, turn), 'a second input on one stream was refused');
  }

  closed(turn: Turn, end: TurnEnd): void {
    this.#open.delete(turn);
    // What was begun to be recognized of it and never became an input must not become that of another turn.
    if (this.#ear.leave(turn)) this.#early?.drop();
    this.#parts.observer.turnEnded?.(this.call, turn.id, end);
    this.#note({ type: 'turn_ended', reason: end }, turn);
    if (this.#open.size > 0) return;
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.isEnded) this.#ear.close();
    else if (end === 'hang_up') {
      this.times.vanished(nowMs);
      this.nextStream.cancelled(nowMs);
    } else this.nextStream.closed(nowMs, this.playback.remainingMs(nowMs));
  }

  // What the runner asks for (RunningSession).

  caughtUp(kept: KeptCall, turn: Turn): CaughtUp | undefined {
    return this.#elsewhere.caughtUp(kept, turn, this.#found(kept));
  }

  listensFor(listen: Listen): void {
    this.nextStream.listensFor(listen);
    this.#ear.expect(listeningPatience(listen, this.bot, this.#parts.settings));
  }

  owes(owed: OwedEnd, turn: Turn): void {
    if (this.isEnded) return;
    this.#owed ??= owed;
    this.#farewell = turn;
  }

  ends(end: SessionEnd): void {
    if (this.#end !== undefined) return;
    this.#isOver(end);
    if (this.#open.size === 0) this.#ear.close();
    this.#note({ type: 'session_end', by: end }, { id: `${this.call.conversationId}#end` });
    this.#work.add(() => this.#parts.runner.close(this));
  }

  /** @returns now, in monotonic ms. */
  #found(kept: KeptCall): number {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#elsewhere.hasToldEnd(kept)) this.#owed = undefined;
    this.isKept = true;
    this.#hasBegun ||= kept.record.started;
    this.#names.goOnFrom(kept.record.turns);
    this.times.recordUsed(nowMs);
    return nowMs;
  }

  #isOver(end: SessionEnd | 'moved'): void {
    this.#end = end;
    this.times.ended(this.#parts.clock.monotonicMs());
    this.#owed = undefined;
    this.#parts.onEnded(this.call);
    this.#parts.observer.sessionEnded?.(this.call, end);
  }

  get #isSayingGoodbye(): boolean {
    return this.#farewell !== undefined && this.#open.has(this.#farewell);
  }

  /** The stream of the last words broke: the terminal event goes out on the next one, whatever comes on it. */
  #settle(turn: Turn): void {
    if (this.#isSayingGoodbye || turn.takeOver()) return;
    this.#work.add(() => this.#parts.runner.settle(this, turn));
  }

  #note(event: NotifyingEvent, turn: LoggedTurn): void {
    // Its end is the last thing a bot hears of a session.
    const isEnd = event.type === 'session_end';
    if (!this.bot.notes.has(event.type) || (this.isEnded && !isEnd)) return;
    const sinceMs = this.#parts.clock.monotonicMs();
    this.#work.add(async () => {
      // After an end of ours a bot is told nothing more, and nobody behind waits for a store that is asked in vain.
      if (isEnd || this.#farewell === undefined) await this.#parts.runner.note(this, event, turn, sinceMs);
    });
  }
}
