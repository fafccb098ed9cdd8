// How the calls of a process that stops come to their end: open turns are finished, callers between two streams are waited
// for, and who is still there near the end is handed over. Knows nothing of how a session does that.
import { waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Session } from './session.ts';

/** Pause between two looks at the calls, ms. */
const LOOK_MS = 50;
/** Part of the time to stop, ms, that is kept for handing over the callers who are still there; half of it at most. */
const HANDOVER_MS = 5000;
/** Longest wait at the very end, ms: for terminal events that are written now and for bots that are told. */
const LAST_WAIT_MS = 1000;

/** What a process that stopped did not let come to its own end. */
export interface CutCalls {
  /** Turns that were not finished; their callers were handed over. */
  readonly turns: number;
  /** Calls that ended without a word, because none of their streams came any more. */
  readonly calls: number;
}

/** One stop of the process. */
export class Draining {
  readonly #live: () => Iterable<Session>;
  readonly #clock: Clock;
  readonly #canMove: boolean;
  readonly #handOverAtMs: number;
  readonly #deadlineMs: number;
  #look: Promise<void> | undefined;
  #turns = 0;
  #calls = 0;

  /**
   * The time runs from here.
   *
   * @param live - the sessions there are, also those that are over and remembered.
   * @param options.limitMs - until when all calls are over; a second more for what is written last.
   * @param options.canMove - other processes can go on with the calls: only turns that are being answered keep them here.
   */
  constructor(live: () => Iterable<Session>, { limitMs, canMove }: { readonly limitMs: number; readonly canMove: boolean }, clock: Clock) {
    this.#canMove = canMove;
    this.#live = live;
    this.#clock = clock;
    this.#deadlineMs = clock.monotonicMs() + limitMs;
    this.#handOverAtMs = this.#deadlineMs - Math.min(HANDOVER_MS, limitMs / 2);
  }

  /** Waits until no turn is open and no caller is to be back soon, or until it is time to hand over. */
  async untilHandOver(): Promise<void> {
    while (this.#clock.monotonicMs() < this.#handOverAtMs && this.#isBusy()) await this.#nextLook();
  }

  /**
   * Hands over everybody who is there, or comes back in time, and ends all sessions. Last words are heard to their end where
   * the time allows it.
   *
   * @param hurry - called when no time is left.
   */
  async handOver(hurry: () => void): Promise<CutCalls> {
    const left = [...this.#live()];
    // Last words that are being spoken are not cut yet.
    const farewells = left.filter(({ owed }) => owed !== undefined);
    const allLeft = Promise.all(left.map((session) => this.#seeOff(session)));
    await waitAtMost(allLeft, Math.max(0, this.#deadlineMs - this.#clock.monotonicMs()), this.#clock);
    this.#turns += openTurnsOf(farewells);
    hurry();
    // Callers of other processes who hung up here meanwhile: nothing is said to them, but their bots are told.
    const late = [...this.#live()].filter((session) => !left.includes(session)).map((session) => session.stop('shutdown'));
    await waitAtMost(Promise.all([allLeft, ...late]), LAST_WAIT_MS, this.#clock);
    return { turns: this.#turns, calls: this.#calls };
  }

  async #seeOff(session: Session): Promise<void> {
    if (this.#mayMove(session)) {
      // What is being answered has the rest of the time; its caller has no other server to be answered by.
      for (;;) {
        session.complete('silent');
        if (session.openTurns === 0 && (await session.moveAway())) return;
        if (this.#isOver) break;
        await this.#nextLook();
      }
    }
    await this.#leave(session);
    // Again for a turn that opened while the call was left, and for one that the caller comes back on.
    while (!session.isEnded && (session.openTurns > 0 || this.#isAwaited(session))) {
      if (session.openTurns > 0) await this.#leave(session);
      else await this.#nextLook();
    }
    if (!session.isEnded) this.#calls += 1;
    await session.stop('shutdown');
  }

  #leave(session: Session): Promise<void> {
    if (session.owed === undefined) this.#turns += session.openTurns;
    return session.leave('shutdown');
  }

  #isBusy(): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const session of this.#live()) if (session.openTurns > 0 || (!this.#mayMove(session) && session.isAwaited(nowMs))) return true;
    return false;
  }

  get #isOver(): boolean {
    return this.#clock.monotonicMs() >= this.#deadlineMs;
  }

  #mayMove(session: Session): boolean {
    return this.#canMove && !session.isTied;
  }

  #isAwaited(session: Session): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs < this.#deadlineMs && session.isAwaited(nowMs);
  }

  /** One timer for all who wait. */
  #nextLook(): Promise<void> {
    this.#look ??= new Promise((resolve) => {
      this.#clock.after(LOOK_MS, () => {
        this.#look = undefined;
        resolve();
      });
    });
    return this.#look;
  }
}

/** Turns that are not done, of all these sessions. */
export function openTurnsOf(sessions: Iterable<Session>): number {
  let open = 0;
  for (const session of sessions) open += session.openTurns;
  return open;
}
