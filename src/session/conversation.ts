// What there is of one call between its turns: its snapshot, what is being played, its open turns, and how it ends. The session
// feeds it, the runner answers from it; it calls neither.
import type { Bot } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { DeliveryMode, FinalNext } from '../dialog/output.ts';
import type { Listen, Prompt } from '../dialog/reply.ts';
import type { EngineParts } from './parts.ts';
import { Playout } from './playout/playout.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { OpenTurns } from './turn/open-turns.ts';
import type { Turn } from './turn/turn.ts';

/** How a call is to end: what the platform is told, and what that means. */
export interface PendingEnd {
  readonly next: FinalNext;
  readonly end: SessionEnd;
  /** What the home before was saying when it died or was left. Undefined: its farewell was said here. */
  readonly farewell?: readonly Prompt[];
}

/** What happens in a conversation. */
export interface ConversationEvents {
  /** What the next input is listened for has changed. */
  readonly onListen: (listen: Listen) => void;
  /** It is over, once; `moved`: it goes on in another process. */
  readonly onEnd: (end: SessionEnd | 'moved') => void;
}

/** Owned by a session. */
export class Conversation {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly mode: DeliveryMode;
  /** The call lives and dies with its wire: no other process can go on with it. */
  readonly isTied: boolean;
  readonly playout = new Playout();
  readonly open = new OpenTurns();
  /** The newest; replaced with every answer. */
  snapshot: Snapshot;
  /** Since when the caller waits for an answer, in monotonic ms; undefined once something of one was heard. */
  waitingSinceMs: number | undefined;
  /** Why we end the call: its answer, or its next turn, transfers the caller (G-93). */
  leaving: 'too_long' | 'shutdown' | undefined;
  readonly #events: ConversationEvents;
  /** The terminal event is on its way, or delivered. */
  isFarewellWritten = false;
  #pendingEnd: PendingEnd | undefined;
  #farewell: Turn | undefined;
  #end: SessionEnd | 'moved' | undefined;

  /** @param pendingEnd - was decided at the home before. */
  constructor(snapshot: Snapshot, bot: Bot, isTied: boolean, events: ConversationEvents, pendingEnd?: PendingEnd) {
    this.snapshot = snapshot;
    this.call = snapshot.call;
    this.mode = snapshot.mode;
    this.bot = bot;
    this.isTied = isTied;
    this.#events = events;
    this.#pendingEnd = pendingEnd;
  }

  /** True after a terminal event (G-7C), when nobody uses the session any more, and when the call goes on in another process. */
  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** It goes on in another process. */
  get hasMoved(): boolean {
    return this.#end === 'moved';
  }

  /** A terminal event that was decided and not yet delivered. */
  get pendingEnd(): PendingEnd | undefined {
    return this.#pendingEnd;
  }

  /** Whether nothing is answered any more: it has ended, or its end is decided and has only to be delivered. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#pendingEnd !== undefined;
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
    this.listensFor(before.listen);
    return true;
  }

  listensFor(listen: Listen): void {
    this.#events.onListen(listen);
  }

  /** A terminal event is decided and its farewell is spoken on `turn`: nothing of the caller is an input any more. */
  endsWith(pendingEnd: PendingEnd, turn: Turn): void {
    if (this.isEnded) return;
    this.#pendingEnd ??= pendingEnd;
    this.#farewell = turn;
  }

  /** A terminal event was delivered or received, or the call moves; the first end counts. */
  ends(end: SessionEnd | 'moved'): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#pendingEnd = undefined;
    this.#events.onEnd(end);
  }
}
