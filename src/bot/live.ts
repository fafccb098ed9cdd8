// What belongs to one call in one process: what a bot opens for it, and how it reports what it hears.
import type { JsonValue } from '../base/json.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';

/** `moved`: the call goes on in another process, from its state. */
export type LiveEnd = 'ended' | 'moved' | 'failed';

/** What belongs to one call in one process: a connection, a cache, work in progress. Never part of the state. */
export interface Live<S, L> {
  /**
   * Called once per call and process, before the first handler or frame. Synchronous: queue until connected. If it throws, the caller hears
   * an apology and is transferred.
   */
  readonly open: (context: LiveContext<S>) => L;
  /** Called once, after `session_end`. Waited for 2 s at most. */
  readonly close?: (live: L, why: LiveEnd) => void | Promise<void>;
}

/** What {@link Live.open} gets. */
export interface LiveContext<S> {
  readonly call: CallFacts;
  /** The state of a call that has moved here; undefined for a new call. */
  readonly state: S | undefined;
  readonly ear: BotEar;
  /** Aborts when the resource has been closed. */
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  readonly log: Logger;
  /**
   * Tells the bot that something came from outside: `woken` is called at the platform's next report of no input, so after `wakeMs` of
   * silence at the latest. One wake of each name waits, with the newest data, and 8 in all, also when the call moves; more are dropped and
   * logged. A wake whose handler is interrupted before it answers comes again. Has no effect after the call.
   *
   * @param name - 1 to 100 characters, not `timer`.
   * @param data - 2,000 characters of JSON at most.
   * @throws TypeError for another name or other data.
   */
  readonly wake: (name: string, data?: JsonValue) => void;
}

/**
 * Reports start and end of speech for a bot with `endpointing: 'bot'`. Has no effect for other bots, after the session, and out of order.
 */
export interface BotEar {
  /** The caller began to speak: stops a prompt that allows barge-in. */
  speechStarted(): void;
  /** The caller has finished: `speech_input` follows. */
  speechEnded(): void;
}
