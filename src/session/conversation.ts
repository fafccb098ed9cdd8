// What there is of one call between its turns: its snapshot, what is being played, its open turns, and how it ends. The inputs feed
// it, the runner answers from it; it calls neither.
import type { Bot } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { DeliveryMode, FinalNext, ListenSettings } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { EngineParts } from './parts.ts';
import { Playout } from './playout/playout.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { OpenTurns } from './turn/open-turns.ts';
import type { Turn } from './turn/turn.ts';

/** How a call is to end. */
export interface PendingEnd {
  readonly next: FinalNext;
  readonly end: SessionEnd;
  /** What the home before was saying when it died or was left. Undefined: its farewell was said here. */
  readonly farewell?: readonly Prompt[];
}

/** What a conversation starts from. */
export interface ConversationStart {
  readonly bot: Bot;
  readonly snapshot: Snapshot;
  /** The call lives and dies with its wire. */
  readonly isTied: boolean;
  /** Was decided at the home before. */
  readonly pendingEnd: PendingEnd | undefined;
  /** What the caller is asked for. */
  readonly asked: ListenSettings;
}

/** Owned by a session. */
export class Conversation {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly mode: DeliveryMode;
  /** The call lives and dies with its wire: no other process can go on with it. */
  readonly isTied: boolean;
  readonly playout = new Playout();
  readonly open = new OpenTurns(this.playout);
  /** The newest; replaced with every answer. */
  snapshot: Snapshot;
  /** What the caller is asked for at present, every default filled in. */
  asked: ListenSettings;
  /** An input has come whole: a start that comes now begins the conversation anew (G-28). */
  hasBegun: boolean;
  /** Nothing is answered any more: it has ended, or its end is decided and has only to be delivered. */
  isOver: boolean;
  /** After a terminal event (G-7C), when nobody uses the session any more, and when the call goes on in another process. */
  isEnded = false;
  /** Since when the caller waits for an answer, in monotonic ms; undefined once something of one was heard. */
  waitingSinceMs: number | undefined;
  /** Why we end the call: its answer, or its next turn, transfers the caller (G-93). */
  leaving: 'too_long' | 'shutdown' | undefined;
  /** The terminal event is on its way, or delivered. */
  isFarewellWritten = false;
  readonly #onEnd: (end: SessionEnd | 'moved') => void;
  #pendingEnd: PendingEnd | undefined;
  #farewell: Turn | undefined;
  #hasMoved = false;

  /** @param onEnd - called once; `moved`: it goes on in another process. */
  constructor({ bot, snapshot, isTied, pendingEnd, asked }: ConversationStart, onEnd: (end: SessionEnd | 'moved') => void) {
    this.snapshot = snapshot;
    this.call = snapshot.call;
    this.mode = snapshot.mode;
    this.hasBegun = snapshot.started;
    this.bot = bot;
    this.isTied = isTied;
    this.asked = asked;
    this.isOver = pendingEnd !== undefined;
    this.#onEnd = onEnd;
    this.#pendingEnd = pendingEnd;
  }

  /** It goes on in another process. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /** A terminal event that was decided and not yet delivered. */
  get pendingEnd(): PendingEnd | undefined {
    return this.#pendingEnd;
  }

  /** A farewell of ours or of the bot was begun, whatever has become of it. */
  get hasFarewell(): boolean {
    return this.#farewell !== undefined;
  }

  /** The farewell is being spoken on an open turn, or its terminal event is on its way. */
  get isSayingFarewell(): boolean {
    return this.isFarewellWritten || (this.#farewell !== undefined && this.open.has(this.#farewell));
  }

  /** The newest snapshot, with what is being played now. */
  snapshotNow({ clock }: Pick<EngineParts, 'clock'>): Snapshot {
    return { ...this.snapshot, played: this.playout.played(clock.monotonicMs(), clock.nowMs()) };
  }

  /** An answer was lost before its caller heard it: as if it had not been given. @returns false when something else was answered since. */
  takeBack(answered: Snapshot, before: Snapshot, { clock }: Pick<EngineParts, 'clock'>): boolean {
    if (this.isOver || this.snapshot !== answered) return false;
    this.snapshot = before;
    if (before.played !== undefined) this.playout.restore(before.played, clock.monotonicMs(), clock.nowMs());
    return true;
  }

  /** A terminal event is decided and its farewell is spoken on `turn`: nothing of the caller is an input any more. */
  endsWith(pendingEnd: PendingEnd, turn: Turn): void {
    if (this.isEnded) return;
    this.#pendingEnd ??= pendingEnd;
    this.#farewell = turn;
    this.isOver = true;
  }

  /** A terminal event was delivered or received, or the call moves; the first end counts. */
  ends(end: SessionEnd | 'moved'): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.isOver = true;
    this.#hasMoved = end === 'moved';
    this.#pendingEnd = undefined;
    this.#onEnd(end);
  }
}
