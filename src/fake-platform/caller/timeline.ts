// Who said or did what, and when in the call. Collects lines and passes them on; others display them.
import type { CallClock } from './call-clock.ts';

export interface TimelineEvent {
  /** ms since the call began. */
  readonly atMs: number;
  readonly who: 'caller' | 'server' | 'platform';
  /** A fact in snake_case, such as `prompt` or `falls_silent`. */
  readonly what: string;
  readonly detail?: string;
  /** The RPC that the fact belongs to, counted from 1; undefined when it belongs to none. */
  readonly turn?: number;
  /** Set on the first sign of a reply: ms since the end of the caller's input. */
  readonly latencyMs?: number;
}

/** The fact that the caller spoke to a bot that needs words, although the server has no recognizer. */
export const NO_RECOGNIZER = 'has_no_recognizer';
export const NO_RECOGNIZER_REMEDY =
  'the bot wants the words and gets none: set recognizer.engine, or start `parley models` and call with --models';

/** Most lines kept and shown of one call: a server that sends too much must not fill the memory. */
const MAX_EVENTS = 10_000;
/** Longest detail kept, characters. */
const MAX_DETAIL = 2000;

export class Timeline {
  readonly #events: TimelineEvent[] = [];
  readonly #clock: CallClock;
  readonly #onEvent: (event: TimelineEvent) => void;

  constructor(clock: CallClock, onEvent: (event: TimelineEvent) => void = () => undefined) {
    this.#clock = clock;
    this.#onEvent = onEvent;
  }

  /** Adds a line with the present time, whole ms. */
  add(
    who: TimelineEvent['who'],
    what: string,
    more: { readonly detail?: string | undefined; readonly turn?: number | undefined; readonly latencyMs?: number | undefined } = {},
  ): void {
    if (this.#events.length >= MAX_EVENTS) return;
    const event: TimelineEvent = {
      atMs: Math.round(this.#clock.nowMs()),
      who,
      what,
      ...(more.detail === undefined || more.detail === '' ? {} : { detail: more.detail.slice(0, MAX_DETAIL) }),
      ...(more.turn === undefined ? {} : { turn: more.turn }),
      ...(more.latencyMs === undefined ? {} : { latencyMs: Math.round(more.latencyMs) }),
    };
    this.#events.push(event);
    this.#onEvent(event);
  }

  /** All lines so far, in order. */
  get events(): readonly TimelineEvent[] {
    return this.#events;
  }
}
