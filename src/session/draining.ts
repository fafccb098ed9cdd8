// How the calls of a process that stops come to their end: open turns are finished, calls that may live elsewhere are released
// between two turns, callers of the others are waited for, and who is still there near the end is transferred.
import { waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Session } from './session.ts';

/** Pause between two checks of the calls, ms. */
const POLL_MS = 50;
/** Part of the time to stop, ms, that is kept for transferring the callers who are still there; half of it at most. */
const TRANSFER_MS = 5000;
/** Longest wait at the very end, ms: for terminal events that are written now and for notifying bots. */
const LAST_WAIT_MS = 1000;

/** What a process that stopped did not let come to its own end. */
export interface CutCalls {
  /** Turns that were not finished; their callers were transferred. */
  readonly turns: number;
  /** Calls that ended silently, because none of their streams came any more. */
  readonly calls: number;
}

/** How the process stops. */
export interface DrainingOptions {
  /** Until when all calls are over; a second more for what is written last. */
  readonly limitMs: number;
  /** Whether other processes could go on with the calls now: only turns that are being answered keep them here then. Asked at each check. */
  readonly canMove: () => boolean;
  /** Gives a call up that no turn keeps here. @returns false when one does by now. */
  readonly release: (session: Session) => Promise<boolean>;
}

/** One stop of the process. */
export class Draining {
  readonly #live: () => Iterable<Session>;
  readonly #clock: Clock;
  readonly #canMove: DrainingOptions['canMove'];
  readonly #release: DrainingOptions['release'];
  readonly #transferAtMs: number;
  readonly #deadlineMs: number;
  #poll: Promise<void> | undefined;
  #turns = 0;
  #calls = 0;

  /** The time runs from here. @param live - the sessions there are, also those that are over and remembered. */
  constructor(live: () => Iterable<Session>, { limitMs, canMove, release }: DrainingOptions, clock: Clock) {
    this.#canMove = canMove;
    this.#release = release;
    this.#live = live;
    this.#clock = clock;
    this.#deadlineMs = clock.monotonicMs() + limitMs;
    this.#transferAtMs = this.#deadlineMs - Math.min(TRANSFER_MS, limitMs / 2);
  }

  /** Releases calls between two turns, and waits until no turn is open and no caller is to be back soon, or until it is time to transfer. */
  async untilTransfer(): Promise<void> {
    for (;;) {
      const moving = [...this.#live()].filter((session) => this.#mayMove(session));
      const idle = moving.filter(({ canMove }) => canMove);
      await waitAtMost(Promise.all(idle.map((session) => this.#release(session))), LAST_WAIT_MS, this.#clock);
      if (this.#clock.monotonicMs() >= this.#transferAtMs || !this.#isBusy()) return;
      await this.#nextPoll();
    }
  }

  /**
   * Moves or transfers everybody who is there, or comes back in time, and ends all sessions. A farewell is heard to its end where
   * the time allows it.
   *
   * @param hurry - called when no time is left.
   */
  async transfer(hurry: () => void): Promise<CutCalls> {
    const left = [...this.#live()];
    // A farewell that is being spoken is not cut yet.
    const farewells = left.filter(({ hasPendingEnd }) => hasPendingEnd);
    const allLeft = Promise.all(left.map((session) => this.#moveOrTransfer(session)));
    await waitAtMost(allLeft, Math.max(0, this.#deadlineMs - this.#clock.monotonicMs()), this.#clock);
    this.#turns += openTurnsOf(farewells);
    hurry();
    await waitAtMost(allLeft, LAST_WAIT_MS, this.#clock);
    return { turns: this.#turns, calls: this.#calls };
  }

  async #moveOrTransfer(session: Session): Promise<void> {
    // What is being answered has the rest of the time; its caller has no other server to be answered by.
    while (this.#mayMove(session)) {
      session.completeSilent();
      if (session.canMove && (await this.#release(session))) return;
      if (this.#isOver) break;
      await this.#nextPoll();
    }
    await this.#leave(session);
    // Again for a turn that opened while the call was left, and for one that the caller comes back on.
    while (!session.isEnded && (session.openTurns > 0 || this.#isAwaited(session))) {
      if (session.openTurns > 0) await this.#leave(session);
      else await this.#nextPoll();
    }
    if (!session.isEnded) this.#calls += 1;
    await session.stop('shutdown');
  }

  #leave(session: Session): Promise<void> {
    if (!session.hasPendingEnd) this.#turns += session.openTurns;
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
    return this.#canMove() && !session.isTied && !session.isEnded;
  }

  #isAwaited(session: Session): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs < this.#deadlineMs && session.isAwaited(nowMs);
  }

  /** One timer for all who wait. */
  #nextPoll(): Promise<void> {
    this.#poll ??= new Promise((resolve) => {
      this.#clock.after(POLL_MS, () => {
        this.#poll = undefined;
        resolve();
      });
    });
    return this.#poll;
  }
}

/** Turns that are not done, of all these sessions. */
export function openTurnsOf(sessions: Iterable<Session>): number {
  let open = 0;
  for (const session of sessions) open += session.openTurns;
  return open;
}
