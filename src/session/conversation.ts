// The state of a call: snapshot, playout, open turns and end. The inputs and the bot runner use it; it calls neither of them.
import type { Bot } from '../bot/bot.ts';
import { Wakes } from '../bot/wakes.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { DeliveryMode, FinalNext, ListenSettings } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import { QuestionNames } from './answer/question-names.ts';
import type { LiveResource } from './live-resource.ts';
import type { EngineParts } from './parts.ts';
import type { CallRecorder, Expected } from './ports.ts';
import { Playout } from './playout/playout.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import { OpenTurns } from './turn/open-turns.ts';
import type { Turn } from './turn/turn.ts';

/** An end of the call that was decided and is not delivered yet. */
export interface PendingEnd {
  readonly next: FinalNext;
  readonly end: SessionEnd;
  /** Set when the previous home may not have delivered the farewell: its prompts. Undefined: it was spoken here. */
  readonly farewell?: readonly Prompt[];
}

export interface ConversationStart {
  readonly bot: Bot;
  readonly live: LiveResource;
  readonly snapshot: Snapshot;
  /** Whether the call ends with its connection: no other process can go on with it. */
  readonly isTied: boolean;
  /** Set when the previous home had already decided the end. */
  readonly pendingEnd: PendingEnd | undefined;
  /** The current listen settings. */
  readonly asked: ListenSettings;
  /** Whether the bot wants words but the server has no recognizer. */
  readonly isWithoutWords: boolean;
}

/** Owned by a session. */
export class Conversation {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly live: LiveResource;
  readonly mode: DeliveryMode;
  /** Whether the bot wants words but the server has no recognizer. */
  readonly isWithoutWords: boolean;
  /** Whether the call ends with its connection: no other process can go on with it. */
  readonly isTied: boolean;
  readonly playout = new Playout();
  readonly open = new OpenTurns(this.playout);
  /** Events from outside of the call that wait for the bot. */
  readonly wakes: Wakes;
  /** The current listen settings, with all defaults. */
  asked: ListenSettings;
  /** Whether a complete input has come: then a further start restarts the conversation (G-28). */
  hasBegun: boolean;
  /** Whether no more input is answered, because the call has ended or its end is decided. */
  isOver: boolean;
  /** True after a terminal event (G-7C), after the end of the session, and after a move. */
  isEnded = false;
  /** Set while the caller waits for an answer to become audible: since when, monotonic ms. */
  waitingSinceMs: number | undefined;
  /** When the platform last got its listen settings, monotonic ms. */
  listeningSinceMs = -Infinity;
  // These two stand together, because every frame of a recorded call needs them.
  /** Undefined: the call is not recorded. */
  recorder: CallRecorder | undefined;
  #isInputSensitive = false;
  #snapshot: Snapshot;
  readonly questions = new QuestionNames();
  /** Set when the server ends the call: the current answer or the next turn transfers the caller (G-93). */
  leaving: 'too_long' | 'shutdown' | undefined;
  /** Whether the terminal event was written. */
  isFarewellWritten = false;
  readonly #onEnd: (end: SessionEnd | 'moved') => void;
  #pendingEnd: PendingEnd | undefined;
  #farewell: Turn | undefined;
  #hasMoved = false;

  /** @param onEnd - called once; `moved`: the call goes on in another process. */
  constructor(
    { bot, live, snapshot, isTied, pendingEnd, asked, isWithoutWords }: ConversationStart,
    onEnd: (end: SessionEnd | 'moved') => void,
  ) {
    this.#snapshot = snapshot;
    this.snapshot = snapshot;
    this.call = snapshot.call;
    this.wakes = new Wakes(snapshot.wakes);
    this.mode = snapshot.mode;
    this.isWithoutWords = isWithoutWords;
    this.hasBegun = snapshot.started;
    this.bot = bot;
    this.live = live;
    this.isTied = isTied;
    this.asked = asked;
    this.isOver = pendingEnd !== undefined;
    this.#onEnd = onEnd;
    this.#pendingEnd = pendingEnd;
  }

  /** The newest snapshot; replaced with every answer. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  set snapshot(snapshot: Snapshot) {
    this.#snapshot = snapshot;
    this.#isInputSensitive = snapshot.listen.sensitive === true || snapshot.lastWasSensitive === true;
  }

  /** Whether the caller's current input may be sensitive, or the rest of a sensitive one (G-83). */
  get isInputSensitive(): boolean {
    return this.#isInputSensitive;
  }

  /** Whether a sensitive input has been requested in this call: from then on prompts and state may repeat it. */
  get isSensitive(): boolean {
    return this.snapshot.sensitive;
  }

  /** Whether the call goes on in another process. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /** Set when a terminal event was decided and is not delivered yet. */
  get pendingEnd(): PendingEnd | undefined {
    return this.#pendingEnd;
  }

  /** The caller's language, BCP 47; undefined when it is unknown. */
  get callerLanguage(): string | undefined {
    return this.snapshot.listen.language ?? this.bot.speaks?.language;
  }

  /** What the recognizer should expect of the caller's answer. */
  get expected(): Expected {
    return { language: this.callerLanguage, hints: this.snapshot.listen.hints };
  }

  /** Whether a farewell has begun. */
  get hasFarewell(): boolean {
    return this.#farewell !== undefined;
  }

  /** Whether a farewell is being spoken on an open turn, or its terminal event was written. */
  get isSayingFarewell(): boolean {
    return this.isFarewellWritten || (this.#farewell !== undefined && this.open.has(this.#farewell));
  }

  /** The newest snapshot, with the present state of the playout. */
  snapshotNow({ clock }: Pick<EngineParts, 'clock'>): Snapshot {
    const { waiting: wakes } = this.wakes;
    return { ...this.snapshot, wakes, played: this.playout.played(clock.monotonicMs(), clock.nowMs()) };
  }

  /** Saves the call in the background, unless it has ended, moved, or ends with its connection. */
  save(parts: Pick<EngineParts, 'clock' | 'snapshots'>): void {
    if (!this.isTied && !this.isEnded) parts.snapshots.save(this.call, this.snapshotNow(parts));
  }

  /**
   * Undoes an answer that was lost before the caller heard it. @returns false when another input has been answered since.
   */
  takeBack(answered: Snapshot, before: Snapshot, { clock }: Pick<EngineParts, 'clock'>): boolean {
    if (this.isOver || this.snapshot !== answered) return false;
    this.snapshot = before;
    this.wakes.takeBack(before.wakes ?? []);
    if (before.played !== undefined) this.playout.restore(before.played, clock.monotonicMs(), clock.nowMs());
    return true;
  }

  /** A terminal event is decided and its farewell is spoken on `turn`: later input is ignored. */
  endsWith(pendingEnd: PendingEnd, turn: Turn): void {
    if (this.isEnded) return;
    this.#pendingEnd ??= pendingEnd;
    this.#farewell = turn;
    this.isOver = true;
  }

  /** The call ended or moves; only the first call counts. */
  ends(end: SessionEnd | 'moved'): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.isOver = true;
    this.#hasMoved = end === 'moved';
    this.#pendingEnd = undefined;
    this.#onEnd(end);
  }
}
