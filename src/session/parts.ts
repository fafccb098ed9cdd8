// What the engine is made of, and what the bot runner sees of a session.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { BargeIn, Bot } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd } from '../dialog/ending.ts';
import type { DeliveryMode, FinalNext } from '../dialog/output.ts';
import type { Listen } from '../dialog/reply.ts';
import type { AnswerLimit } from './answer-limit.ts';
import type { Cut, Playback } from './heard.ts';
import type { Interruptions, KeptCall, PromptVoice, Recognizer, SessionObserver, SessionStore } from './ports.ts';
import type { EngineSettings } from './settings.ts';
import type { Turn } from './turn.ts';

/** The rooms beside the engine and its settings. */
export interface EngineParts {
  readonly settings: EngineSettings;
  readonly store: SessionStore;
  /** There where other processes share the store: the next turn of a call may come to one of them. */
  readonly shared?: { readonly interruptions: Interruptions } | undefined;
  readonly voice: PromptVoice;
  readonly recognizer: Recognizer | undefined;
  readonly observer: SessionObserver;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the process begins to wait for the end of its calls: a reply is spoken as fast as it can be sent. */
  readonly closing: AbortSignal;
  /** Aborts when the process has no time left: a terminal event no longer waits until the last words were heard. */
  readonly hurry: AbortSignal;
}

/** A session as the bot runner sees it. */
export interface RunningSession {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly mode: DeliveryMode;
  readonly playback: Playback;
  readonly answerLimit: AnswerLimit;
  /** The store has a record of the call that others find. */
  readonly isKept: boolean;
  /** See {@link SessionStartingPoint.restarts}. */
  readonly restarts: number;
  /** True after a terminal event (G-7C), when nobody uses the session any more, and when the call goes on elsewhere. */
  readonly isEnded: boolean;
  /** A terminal event that was decided and not yet handed over. */
  readonly owed: OwedEnd | undefined;
  /** Why we end the call: its answer, or its next turn, hands the caller over (G-93). */
  readonly leaving: 'too_long' | 'shutdown' | undefined;
  /**
   * Another process may have had the turn before; called with the call as it was claimed.
   *
   * @returns what the caller did on `turn` over words that were not known here; undefined when nothing of that is new.
   */
  caughtUp(kept: KeptCall, turn: Turn): CaughtUp | undefined;
  /** What the next input is listened for has changed. */
  listensFor(listen: Listen): void;
  /** A terminal event is decided and its last words are spoken on `turn`: nothing of the caller is an input any more. */
  owes(owed: OwedEnd, turn: Turn): void;
  /** A terminal event was handed over or received; the first end counts. */
  ends(end: SessionEnd): void;
  /** See {@link OpenTurns.complete}. */
  complete(which: 'silent' | 'all'): void;
}

/** What a session has learned of the turn before, which another process had. */
export interface CaughtUp {
  /** The caller cut what was being said there. */
  readonly bargeIn?: BargeIn;
  /** What can go on of it. */
  readonly cut?: Cut;
}

/** How a call is to end: what the platform is told, and what that means. */
export interface OwedEnd {
  readonly next: FinalNext;
  readonly end: SessionEnd;
}
