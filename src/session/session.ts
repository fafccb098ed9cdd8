// One call on our side: what its open turns report (two of them are normal, G-50), the ear they share, and the queue that brings
// inputs to the bot one at a time and in order.
import type { Bot, NotifyingEvent } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { AudioInput } from '../dialog/input.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import type { Listen } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import { AppError } from '../base/errors.ts';
import type { BotRunner } from './answer/bot-runner.ts';
import { pendingEndOf } from './answer/farewell.ts';
import { notify } from './answer/notifications.ts';
import { WorkQueue } from './answer/work-queue.ts';
import { Conversation } from './conversation.ts';
import { logIds, type LoggedTurn } from './log-ids.ts';
import type { EngineParts } from './parts.ts';
import type { Playout } from './playout/playout.ts';
import type { TurnSink } from './ports.ts';
import { SessionTimes } from './session-times.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { frameHook } from './turn/bot-ear.ts';
import { Ear, listeningPatience } from './turn/ear.ts';
import { EarlyRecognition } from './turn/early-recognition.ts';
import { Interruption } from './turn/interruption.ts';
import { NextStream } from './turn/next-stream.ts';
import { TurnNames } from './turn/turn-names.ts';
import { Turn, type TurnHost, type TurnInput } from './turn/turn.ts';

/** Most inputs and notes that may wait for the bot: a client that opens and cancels streams must not grow the queue. */
const MAX_QUEUED = 64;

/** What a session is made of. */
export interface SessionParts extends EngineParts {
  readonly runner: BotRunner;
  /** Called once when a session is over, before the bot has been notified. */
  readonly onEnded: (call: CallFacts) => void;
}

/** What a session starts from. */
export interface SessionStart {
  readonly bot: Bot;
  readonly snapshot: Snapshot;
  /** The call lives and dies with its wire. */
  readonly isTied: boolean;
  /** How often the call has changed its home; undefined: it has just begun. */
  readonly generation?: number;
  /** Of the conversation before this one, which begins anew. */
  readonly names?: TurnNames;
}

/** One session. Made and thrown away by `Sessions`. */
export class Session implements TurnHost {
  readonly times: SessionTimes;
  readonly nextStream: NextStream;
  readonly names: TurnNames;
  readonly #parts: SessionParts;
  readonly #conversation: Conversation;
  readonly #ear: Ear;
  readonly #interruption: Interruption;
  readonly #early: EarlyRecognition | undefined;
  /** Brings one input after the other to the bot. */
  readonly #work: WorkQueue;
  #hasBegun: boolean;

  constructor({ bot, snapshot, isTied, generation, names }: SessionStart, parts: SessionParts) {
    const { call } = snapshot;
    const isRestored = generation !== undefined;
    const nowMs = parts.clock.monotonicMs();
    this.#parts = parts;
    this.#hasBegun = snapshot.started;
    this.names = names ?? new TurnNames(call.conversationId, snapshot.turns, generation);
    const events = {
      onListen: (listen: Listen) => {
        this.#listensFor(listen);
      },
      onEnd: (end: SessionEnd | 'moved') => {
        this.#ended(end);
      },
    };
    this.#conversation = new Conversation(snapshot, bot, isTied, events, pendingEndOf(snapshot, parts.settings));
    const { open, playout } = this.#conversation;
    this.#interruption = new Interruption(open, playout);
    this.#work = new WorkQueue((error) => {
      parts.log.error({ conversationId: call.conversationId, err: error }, 'work of a session failed');
    });
    this.#ear = new Ear({
      create: parts.createListener,
      onFrame: frameHook({
        bot,
        call,
        ear: () => this.#ear,
        mayStart: () => !this.#conversation.isOver && !this.#interruption.isBarred(parts.clock.monotonicMs()),
        onFailed: (error) => parts.observer.botFailed?.(call, `${call.conversationId}#audio`, error),
      }),
      isSelfEndpointing: bot.endpointing === 'bot',
    });
    this.#early = parts.recognizer === undefined || bot.recognition === 'none' ? undefined : new EarlyRecognition(parts.recognizer);
    this.times = new SessionTimes(nowMs, isRestored ? Math.max(0, parts.clock.nowMs() - call.startedAtMs) : 0);
    this.nextStream = new NextStream(nowMs, parts.settings.listen);
    if (snapshot.played !== undefined) playout.restore(snapshot.played, nowMs, parts.clock.nowMs());
    this.#listensFor(snapshot.listen);
    parts.observer.sessionStarted?.(call, isRestored);
  }

  get call(): CallFacts {
    return this.#conversation.call;
  }

  get mode(): DeliveryMode {
    return this.#conversation.mode;
  }

  get playout(): Playout {
    return this.#conversation.playout;
  }

  get isTied(): boolean {
    return this.#conversation.isTied;
  }

  /** Why we end the call, if we do. */
  get leaving(): Conversation['leaving'] {
    return this.#conversation.leaving;
  }

  /** What another process needs to go on with the call. */
  get snapshot(): Snapshot {
    return this.#conversation.snapshotNow(this.#parts);
  }

  get isEnded(): boolean {
    return this.#conversation.isEnded;
  }

  /** The farewell is being spoken, or was and could not be delivered. */
  get hasPendingEnd(): boolean {
    return this.#conversation.pendingEnd !== undefined;
  }

  /** Turns that are not done. */
  get openTurns(): number {
    return this.#conversation.open.size;
  }

  /** Whether one more turn may open. */
  get hasRoom(): boolean {
    return this.#conversation.open.hasRoom && this.#work.size < MAX_QUEUED;
  }

  /** Takes the start of the conversation. @returns false when it has begun here already, or is over: it begins anew (G-28). */
  takeStart(): boolean {
    if (this.#hasBegun || this.isEnded) return false;
    this.#hasBegun = true;
    return true;
  }

  /** How long the caller has been gone without a word, ms; 0 while a turn is open or was closed properly. */
  vanishedForMs(nowMs: number): number {
    return this.#conversation.open.size > 0 ? 0 : this.times.vanishedForMs(nowMs);
  }

  /** Asked while no stream is open: true while the caller is to be back on one soon. */
  isAwaited(nowMs: number): boolean {
    return !this.isEnded && this.nextStream.isAwaited(nowMs);
  }

  /**
   * Makes room for one more turn: of those whose replies nobody wants any more, the oldest is completed when it must be.
   *
   * @returns whether there is room.
   */
  makeRoom(): boolean {
    // A reply that we have cut ourselves says the farewell.
    const mayFinish = this.leaving === undefined && !this.hasPendingEnd && this.#work.size < MAX_QUEUED;
    if (!this.hasRoom && mayFinish) this.#conversation.open.finishInterrupted();
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
    const turn = new Turn(this.names.next(), this, sink);
    this.#conversation.open.add(turn);
    this.#parts.observer.turnStarted?.(this.call, turn.id, turn.trackingId);
    this.#notify({ type: 'turn_started' }, turn);
    return turn;
  }

  /**
   * Ends the call from our side: the turn that is being answered transfers the caller, or else the newest; others just
   * complete. Without an open turn the next one will.
   */
  async leave(end: 'too_long' | 'shutdown'): Promise<void> {
    const conversation = this.#conversation;
    const { open } = conversation;
    conversation.leaving ??= end;
    // The bot's own farewell is being spoken: it ends the call as well as ours.
    if (this.hasPendingEnd) await this.#work.done();
    // Again for a turn that came meanwhile, when the one before was cancelled.
    for (let turn = open.keepLast(); turn !== undefined && !this.isEnded; turn = open.keepLast()) {
      // Two replies on one turn would cut each other short: an answer that is under way transfers the caller itself.
      if (turn.takeOver()) turn.interrupt();
      else this.#work.add(() => this.#parts.runner.leave(conversation, turn, end));
      await this.#work.done();
    }
    open.keepLast()?.finish('superseded');
  }

  /** Completes streams on which the caller has done nothing yet, unless they can go on at another home (G-13). */
  completeSilent(): void {
    this.#conversation.open.completeUnmovable();
  }

  /** Resolves when what was asked of the bot so far is done. */
  workDone(): Promise<void> {
    return this.#work.done();
  }

  /** No turn keeps the call here. */
  get canMove(): boolean {
    return this.#conversation.open.canMove;
  }

  /** Gives the streams that are open after {@link Session.moveAway} back: they go on at the next home. */
  giveBack(): void {
    this.#conversation.open.giveBack();
  }

  /**
   * The call may go on in another process: the bot is notified of no end.
   *
   * @returns false when a turn keeps it here: nothing is done.
   */
  moveAway(): boolean {
    if (!this.canMove || this.#work.size > 0) return false;
    this.#conversation.ends('moved');
    this.#ear.close();
    return true;
  }

  /**
   * Ends a session that nobody uses any more, or may use, and its turns: see {@link OpenTurns.stop}. Waits until the bot was notified.
   *
   * @param end - `moved`: the call lives in another process by now, and its bot is notified of nothing here.
   */
  async stop(end: SessionEnd | 'moved'): Promise<void> {
    this.#conversation.ends(end);
    // Again for a turn that had the session in its hand already.
    do {
      this.#conversation.open.stop(end);
      await this.#work.done();
    } while (this.openTurns > 0);
    this.#ear.close();
  }

  // What turns ask for (TurnHost).

  touched(): void {
    this.times.touched(this.#parts.clock.monotonicMs());
  }

  listen(turn: Turn, input: AudioInput): void {
    if (this.isEnded) return;
    if (this.hasPendingEnd) {
      this.#settle(turn);
      return;
    }
    this.#ear.note(input);
    const nowMs = this.times.lastInputMs;
    const isPlaying = this.playout.isPlaying(nowMs);
    // G-51: what is said into a prompt that cannot be cut is not input.
    if (this.#interruption.isBarred(nowMs, isPlaying)) return;
    // A reply in the making is as easily lost to a cough as one that is heard; not when we end the call: it may never be spoken.
    this.#ear.hear(turn, input.audio, isPlaying || (this.leaving === undefined && this.#conversation.open.isReplying));
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
    if (!this.#interruption.by(by, turn, spared, nowMs)) return;
    const heard = this.playout.heard(nowMs);
    this.#parts.observer.bargeIn?.(this.call, turn.id, by, heard.ms);
    this.#notify({ type: 'barge_in', by, heard }, turn);
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
    // The farewell is being spoken, or was: nobody waits behind it for an answer that does not come (G-7C).
    if (this.isEnded || this.#conversation.isSayingFarewell) {
      if (this.#conversation.hasMoved) turn.giveBack();
      else turn.finish('superseded');
      return;
    }
    const cut = this.#interruption.takeCut(turn);
    const recognition = act.kind === 'speech' ? this.#early?.take() : undefined;
    const completeAtMs = this.#parts.clock.monotonicMs();
    const heard = this.playout.heardWhenComplete(completeAtMs);
    this.#work.add(() => this.#parts.runner.answer(this.#conversation, turn, { act, completeAtMs, heard, cut, recognition }));
  }

  hungUp(turn: Turn): void {
    this.#conversation.ends('caller');
    // The platform still waits for these streams to complete; nothing is owed on them any more.
    for (const other of this.#conversation.open.list()) if (other !== turn) other.finish('hang_up', 'hang_up');
    turn.write({ kind: 'final', mode: this.mode, prompts: [], next: { kind: 'gone' } });
    turn.finish('hang_up', 'hang_up');
  }

  refused(turn: Turn): void {
    this.#parts.log.warn(logIds(this.call, turn), 'a second input on one stream was refused');
  }

  closed(turn: Turn, end: TurnEnd): void {
    this.#conversation.open.delete(turn);
    // What was begun to be recognized of it and never became an input must not become that of another turn.
    if (this.#ear.leave(turn)) this.#early?.drop();
    this.#parts.observer.turnEnded?.(this.call, turn.id, end);
    this.#notify({ type: 'turn_ended', reason: end }, turn);
    if (this.#conversation.open.size > 0) return;
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.isEnded) this.#ear.close();
    else if (end === 'hang_up') {
      this.times.vanished(nowMs);
      this.nextStream.cancelled(nowMs);
    } else this.nextStream.closed(nowMs, this.playout.remainingMs(nowMs));
  }

  #listensFor(listen: Listen): void {
    this.nextStream.listensFor(listen);
    this.#ear.expect(listeningPatience(listen, this.#conversation.bot, this.#parts.settings));
  }

  #ended(end: SessionEnd | 'moved'): void {
    const { call } = this;
    this.times.ended(this.#parts.clock.monotonicMs());
    this.#parts.onEnded(call);
    this.#parts.observer.sessionEnded?.(call, end);
    if (end === 'moved') return;
    // One that begins anew goes on living here (G-28).
    if (end !== 'restarted') this.#parts.snapshots.forget(call);
    if (this.openTurns === 0) this.#ear.close();
    this.#notify({ type: 'session_end', by: end }, { id: `${call.conversationId}#end` });
    this.#work.add(() => {
      this.#conversation.snapshot = { ...this.#conversation.snapshot, state: null };
      return Promise.resolve();
    });
  }

  /** The stream of the farewell broke: the terminal event goes out on the next one, whatever comes on it. */
  #settle(turn: Turn): void {
    if (this.#conversation.isSayingFarewell || turn.takeOver()) return;
    this.#work.add(() => this.#parts.runner.settle(this.#conversation, turn));
  }

  #notify(event: NotifyingEvent, turn: LoggedTurn): void {
    // Its end is the last thing a bot hears of a session.
    const isEnd = event.type === 'session_end';
    const conversation = this.#conversation;
    if (!conversation.bot.notes.has(event.type) || (this.isEnded && !isEnd)) return;
    this.#work.add(async () => {
      // After an end of ours a bot is notified of nothing more.
      if (isEnd || !conversation.hasFarewell) await notify(this.#parts, conversation, event, turn);
    });
  }
}
