// One call on our side: its turns open here, its parts are made here, and it ends here. What turns bring goes to the inputs, and from
// these to the runner of its bot.
import type { Bot } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import { AppError } from '../base/errors.ts';
import { BotRunner } from './answer/bot-runner.ts';
import { pendingEndOf } from './answer/farewell.ts';
import { listenSettings } from './answer/final-next.ts';
import { Conversation } from './conversation.ts';
import type { EngineParts } from './parts.ts';
import type { TurnSink } from './ports.ts';
import type { Playout } from './playout/playout.ts';
import { SessionTimes } from './session-times.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { frameHook } from './turn/bot-ear.ts';
import { Ear, listeningPatience } from './turn/ear.ts';
import { Inputs } from './turn/inputs.ts';
import { TurnNames } from './turn/turn-names.ts';
import { Turn } from './turn/turn.ts';

/** Most inputs and notes that may wait for the bot: a client that opens and cancels streams must not grow the queue. */
const MAX_QUEUED = 64;

/** What a session is made of. */
export interface SessionParts extends EngineParts {
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
export class Session {
  readonly times: SessionTimes;
  readonly names: TurnNames;
  readonly #parts: SessionParts;
  readonly #conversation: Conversation;
  readonly #ear: Ear;
  readonly #runner: BotRunner;
  readonly #inputs: Inputs;

  constructor({ bot, snapshot, isTied, generation, names }: SessionStart, parts: SessionParts) {
    const { clock, observer, settings } = parts;
    const { call } = snapshot;
    const isRestored = generation !== undefined;
    const nowMs = clock.monotonicMs();
    this.#parts = parts;
    this.names = names ?? new TurnNames(call.conversationId, snapshot.turns, generation);
    this.times = new SessionTimes(nowMs, isRestored ? Math.max(0, clock.nowMs() - call.startedAtMs) : 0);
    const [pendingEnd, asked] = [pendingEndOf(snapshot, settings), listenSettings(snapshot.listen, settings.listen)];
    const conversation = new Conversation({ bot, snapshot, isTied, pendingEnd, asked }, (end) => {
      this.#ended(end);
    });
    const ear: Ear = new Ear({
      create: parts.createListener,
      onFrame: frameHook({
        bot,
        call,
        ear: () => ear,
        mayStart: () => !conversation.isOver && !conversation.open.isBarred(clock.monotonicMs()),
        onFailed: (error) => observer.botFailed?.(call, `${call.conversationId}#audio`, error),
      }),
      isSelfEndpointing: bot.endpointing === 'bot',
    });
    const runner = new BotRunner(parts, conversation, ear);
    this.#conversation = conversation;
    this.#ear = ear;
    this.#runner = runner;
    this.#inputs = new Inputs({ parts, conversation, ear, runner, times: this.times });
    if (snapshot.played !== undefined) conversation.playout.restore(snapshot.played, nowMs, clock.nowMs());
    ear.expect(listeningPatience(snapshot.listen, bot, settings));
    observer.sessionStarted?.(call, isRestored);
  }

  get call(): CallFacts {
    return this.#conversation.call;
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
    return this.#conversation.open.hasRoom && this.#runner.size < MAX_QUEUED;
  }

  /** Takes the start of the conversation. @returns false when it has begun here already, or is over: it begins anew (G-28). */
  takeStart(): boolean {
    if (this.#conversation.hasBegun || this.isEnded) return false;
    this.#conversation.hasBegun = true;
    return true;
  }

  /** How long the caller has been gone without a hang-up, ms; 0 while a turn is open or was closed properly. */
  vanishedForMs(nowMs: number): number {
    return this.#conversation.open.size > 0 ? 0 : this.times.vanishedForMs(nowMs);
  }

  /** Asked while no stream is open: true while the caller is to be back on one soon. */
  isAwaited(nowMs: number): boolean {
    return !this.isEnded && this.times.isAwaited(nowMs);
  }

  /**
   * Makes room for one more turn: of those whose replies nobody wants any more, the oldest is completed when it must be.
   *
   * @returns whether there is room.
   */
  makeRoom(): boolean {
    // A reply that we have cut ourselves says the farewell.
    const mayFinish = this.leaving === undefined && !this.hasPendingEnd && this.#runner.size < MAX_QUEUED;
    if (!this.hasRoom && mayFinish) this.#conversation.open.finishInterrupted();
    return this.hasRoom;
  }

  /**
   * Opens a turn.
   *
   * @param isHangUp - a hang-up is never refused.
   * @throws AppError `overloaded` when the session has too many open turns.
   */
  beginTurn(sink: TurnSink, isHangUp = false): Turn {
    if (!isHangUp && !this.hasRoom) {
      throw new AppError('overloaded', 'the conversation has too many open streams or waiting inputs');
    }
    const turn = new Turn(this.names.next(), this.#conversation, this.#inputs, sink);
    this.#conversation.open.add(turn);
    this.#parts.observer.turnStarted?.(this.call, turn.id, turn.trackingId);
    this.#runner.notify({ type: 'turn_started' }, turn);
    return turn;
  }

  /**
   * Ends the call from our side: the turn that is being answered transfers the caller, or else the newest; others just
   * complete. Without an open turn the next one will.
   */
  async leave(end: 'too_long' | 'shutdown'): Promise<void> {
    const { open } = this.#conversation;
    this.#conversation.leaving ??= end;
    // The bot's own farewell is being spoken: it ends the call as well as ours.
    if (this.hasPendingEnd) await this.#runner.done();
    // Again for a turn that came meanwhile, when the one before was cancelled.
    for (let turn = open.keepLast(); turn !== undefined && !this.isEnded; turn = open.keepLast()) {
      // Two replies on one turn would cut each other short: an answer that is under way transfers the caller itself.
      if (turn.takeOver()) turn.interrupt();
      else this.#runner.leave(turn, end);
      await this.#runner.done();
    }
    open.keepLast()?.finish('superseded');
  }

  /** Completes streams on which the caller has done nothing yet, unless they can go on at another home (G-13). */
  completeSilent(): void {
    this.#conversation.open.completeUnmovable();
  }

  /** Resolves when what was asked of the bot so far is done. */
  workDone(): Promise<void> {
    return this.#runner.done();
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
    if (!this.canMove || this.#runner.size > 0) return false;
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
    // Again for a turn that had found the session before it ended.
    do {
      this.#conversation.open.stop(end);
      await this.#runner.done();
    } while (this.openTurns > 0);
    this.#ear.close();
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
    this.#runner.end(end);
  }
}
