// One call on our side: owns its turns and other parts, and ends them. Inputs go from the turns to `Inputs`, and from there
// to the bot runner.
import type { Bot } from '../bot/bot.ts';
import { wantsWords } from '../bot/catalog.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import { AppError } from '../base/errors.ts';
import { BotRunner } from './answer/bot-runner.ts';
import { pendingEndOf } from './answer/farewell.ts';
import { listenSettings } from './answer/final-next.ts';
import { timedListen } from './answer/waking.ts';
import { Conversation } from './conversation.ts';
import { LiveResource } from './live-resource.ts';
import type { EngineParts } from './parts.ts';
import type { TurnSink } from './ports.ts';
import type { Playout } from './playout/playout.ts';
import { SessionTimes } from './session-times.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { earOf, frameHook } from './turn/frame-hook.ts';
import { CallerAudio, listeningPatience } from './turn/caller-audio.ts';
import { Inputs } from './turn/inputs.ts';
import { TurnNames } from './turn/turn-names.ts';
import { Turn } from './turn/turn.ts';

/**
 * Most inputs and notifications that wait for the bot: a client that opens and cancels streams must not grow this queue.
 */
const MAX_QUEUED = 64;

export interface SessionParts extends EngineParts {
  /** Called once at the end of a session, before the bot is notified. */
  readonly onEnded: (call: CallFacts) => void;
}

export interface SessionStart {
  readonly bot: Bot;
  readonly snapshot: Snapshot;
  /** Whether the call ends with its connection: no other process can go on with it. */
  readonly isTied: boolean;
  /** How often the call has moved; undefined: a new call. */
  readonly generation?: number;
  /** Set when this conversation restarts another: the names of that one. */
  readonly names?: TurnNames;
}

/** One session, owned by `Sessions`. */
export class Session {
  readonly times: SessionTimes;
  readonly names: TurnNames;
  readonly #parts: SessionParts;
  readonly #conversation: Conversation;
  readonly #callerAudio: CallerAudio;
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
    const pendingEnd = pendingEndOf(snapshot, settings);
    const asked = listenSettings(timedListen(snapshot.listen, { bot, silentMs: snapshot.silentMs }, settings.listen), settings.listen);
    const isWithoutWords = parts.recognizer === undefined && wantsWords(bot);
    const ear = earOf({
      bot,
      callerAudio: () => callerAudio,
      mayStart: () => !conversation.isOver && !conversation.open.isBarred(clock.monotonicMs()),
    });
    const live = new LiveResource({
      ...{ bot, snapshot, ear, clock, log: parts.log },
      wake: (name, data) => {
        if (bot.woken === undefined || conversation.isOver || conversation.wakes.add(name, data)) return;
        parts.log.warn({ conversationId: call.conversationId, bot: bot.id }, 'more wakes wait than a call may have; the newest is dropped');
      },
      onFailed: (error) => observer.botFailed?.(call, `${call.conversationId}#live`, error),
    });
    const conversation: Conversation = new Conversation({ bot, live, snapshot, isTied, pendingEnd, asked, isWithoutWords }, (end) => {
      this.#ended(end);
    });
    conversation.recorder = parts.recorder?.begin(conversation);
    const callerAudio: CallerAudio = new CallerAudio({
      create: parts.createListener,
      onFrame: frameHook({
        ...{ bot, call, ear, live },
        onFailed: (error) => observer.botFailed?.(call, `${call.conversationId}#audio`, error),
      }),
      onSpeech:
        parts.recognizer?.open === undefined || bot.recognition === 'none'
          ? undefined
          : (mulaw) => {
              this.#inputs.spoken(mulaw);
            },
      isSelfEndpointing: bot.endpointing === 'bot',
    });
    const runner = new BotRunner(parts, conversation, callerAudio);
    this.#conversation = conversation;
    this.#callerAudio = callerAudio;
    this.#runner = runner;
    this.#inputs = new Inputs({ parts, conversation, callerAudio, runner, times: this.times });
    if (snapshot.played !== undefined) conversation.playout.restore(snapshot.played, nowMs, clock.nowMs());
    callerAudio.expect(listeningPatience(snapshot.listen, bot, settings));
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

  /** Set when the server ends the call: the reason. */
  get leaving(): Conversation['leaving'] {
    return this.#conversation.leaving;
  }

  /** The current snapshot. */
  get snapshot(): Snapshot {
    return this.#conversation.snapshotNow(this.#parts);
  }

  get isEnded(): boolean {
    return this.#conversation.isEnded;
  }

  /** Whether a farewell is being spoken, or could not be delivered. */
  get hasPendingEnd(): boolean {
    return this.#conversation.pendingEnd !== undefined;
  }

  /** Number of open turns. */
  get openTurns(): number {
    return this.#conversation.open.size;
  }

  /** Whether one more turn may open. */
  get hasRoom(): boolean {
    return this.#conversation.open.hasRoom && this.#runner.size < MAX_QUEUED;
  }

  /**
   * Takes the start of the conversation. @returns false when it has already begun or ended: then it must restart (G-28).
   */
  takeStart(): boolean {
    if (this.#conversation.hasBegun || this.isEnded) return false;
    this.#conversation.hasBegun = true;
    return true;
  }

  /** Time since the caller disappeared without a hang-up, ms; 0 while a turn is open or was closed properly. */
  vanishedForMs(nowMs: number): number {
    return this.#conversation.open.size > 0 ? 0 : this.times.vanishedForMs(nowMs);
  }

  /** Whether a caller without an open stream is expected back soon. */
  isAwaited(nowMs: number): boolean {
    return !this.isEnded && this.times.isAwaited(nowMs);
  }

  /**
   * Makes room for one more turn: completes the oldest interrupted one if necessary.
   *
   * @returns whether there is room.
   */
  makeRoom(): boolean {
    // An interrupted turn may be the one that ends the call.
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
    this.#parts.observer.turnStarted?.(this.call, turn.id, turn.trackingId, this.isTied ? 'websocket' : 'grpc');
    this.#conversation.recorder?.turnOpened(turn);
    this.#runner.notify({ type: 'turn_started' }, turn);
    return turn;
  }

  /**
   * Ends the call from our side: the turn that is being answered, or else the newest, transfers the caller; the others complete.
   * Without an open turn, the next turn transfers the caller.
   */
  async leave(end: 'too_long' | 'shutdown'): Promise<void> {
    const { open } = this.#conversation;
    this.#conversation.leaving ??= end;
    // The bot's own farewell already ends the call.
    if (this.hasPendingEnd) await this.#runner.done();
    // In a loop, because the first turn may be cancelled and another one may come meanwhile.
    for (let turn = open.keepLast(); turn !== undefined && !this.isEnded; turn = open.keepLast()) {
      // A running answer transfers the caller itself: two replies on one turn would cut each other.
      if (turn.takeOver()) turn.interrupt();
      else this.#runner.leave(turn, end);
      await this.#runner.done();
    }
    open.keepLast()?.finish('superseded');
  }

  /** Completes streams without input, unless they can go on at another home (G-13). */
  completeSilent(): void {
    this.#conversation.open.completeUnmovable();
  }

  /** Resolves when the bot's queued work is done. */
  workDone(): Promise<void> {
    return this.#runner.done();
  }

  /** Whether no turn keeps the call here. */
  get canMove(): boolean {
    return this.#conversation.open.canMove;
  }

  /** Gives back the streams that are open after {@link Session.moveAway}; they go on at the next home. */
  giveBack(): void {
    this.#conversation.open.giveBack();
  }

  /**
   * Ends the session because the call goes on in another process. The bot gets no end event.
   *
   * @returns false when a turn keeps the call here.
   */
  moveAway(): boolean {
    if (!this.canMove || this.#runner.size > 0) return false;
    this.#conversation.ends('moved');
    this.#callerAudio.close();
    return true;
  }

  /**
   * Ends the session and its turns: see {@link OpenTurns.stop}. Resolves when the bot was notified.
   *
   * @param end - `moved`: the call now lives in another process, and the bot here gets no event.
   */
  async stop(end: SessionEnd | 'moved'): Promise<void> {
    this.#conversation.ends(end);
    // In a loop, because a turn may have found the session before its end.
    do {
      this.#conversation.open.stop(end);
      await this.#runner.done();
    } while (this.openTurns > 0);
    this.#callerAudio.close();
  }

  #ended(end: SessionEnd | 'moved'): void {
    const { call } = this;
    this.times.ended(this.#parts.clock.monotonicMs());
    this.#inputs.close();
    this.#parts.onEnded(call);
    this.#parts.observer.sessionEnded?.(call, end);
    this.#conversation.recorder?.ended(end);
    if (end === 'moved') {
      this.#runner.moved();
      return;
    }
    // The call of a restarted conversation stays in the directory (G-28).
    if (end !== 'restarted') this.#parts.snapshots.forget(call);
    if (this.openTurns === 0) this.#callerAudio.close();
    this.#runner.end(end);
  }
}
