// Ends the calls of a stopping process: finishes open turns, releases calls that can move between two turns, waits
// for the callers of the other calls, and transfers the remaining callers near the end.
import { waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Session } from './session.ts';

/** Pause between two checks of the calls, ms. */
const POLL_MS = 50;
/** Time at the end that is reserved for transfers, ms; at most half of the limit. */
const TRANSFER_MS = 5000;
/** Longest wait at the very end, ms: for the last terminal events and bot notifications. */
const LAST_WAIT_MS = 1000;

/** Calls and turns that the shutdown cut. */
export interface CutCalls {
  /** Unfinished turns; their callers were transferred. */
  readonly turns: number;
  /** Calls that ended silently, because no stream came on which to transfer the caller. */
  readonly calls: number;
}

export interface DrainingOptions {
  /** Longest time until all calls have ended, ms; the last writes may take one second more. */
  readonly limitMs: number;
  /**
   * Whether other processes could take over the calls now; then only turns in work keep a call here. Called at each check.
   */
  readonly canMove: () => boolean;
  /** Releases a call that no turn keeps here. @returns false when a turn keeps it after all. */
  readonly release: (session: Session) => Promise<boolean>;
}

/** One shutdown. */
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

  /** Starts the time limit. @param live - all sessions, including ended ones that are still kept. */
  constructor(live: () => Iterable<Session>, { limitMs, canMove, release }: DrainingOptions, clock: Clock) {
    this.#canMove = canMove;
    this.#release = release;
    this.#live = live;
    this.#clock = clock;
    this.#deadlineMs = clock.monotonicMs() + limitMs;
    this.#transferAtMs = this.#deadlineMs - Math.min(TRANSFER_MS, limitMs / 2);
  }

  /**
   * Releases calls between two turns. Waits until no turn is open and no caller is expected back, or until the time reserved
   * for transfers.
   */
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
   * Moves or transfers all callers who are on the line or come back in time, and ends all sessions. A farewell plays to its
   * end if the time allows.
   *
   * @param hurry - called when no time is left.
   */
  async transfer(hurry: () => void): Promise<CutCalls> {
    const left = [...this.#live()];
    // Farewells that are in work are not cut yet.
    const farewells = left.filter(({ hasPendingEnd }) => hasPendingEnd);
    const allLeft = Promise.all(left.map((session) => this.#moveOrTransfer(session)));
    await waitAtMost(allLeft, Math.max(0, this.#deadlineMs - this.#clock.monotonicMs()), this.#clock);
    this.#turns += openTurnsOf(farewells);
    hurry();
    await waitAtMost(allLeft, LAST_WAIT_MS, this.#clock);
    return { turns: this.#turns, calls: this.#calls };
  }

  async #moveOrTransfer(session: Session): Promise<void> {
    // Turns that are in work get the rest of the time.
    while (this.#mayMove(session)) {
      session.completeSilent();
      if (session.canMove && (await this.#release(session))) return;
      if (this.#isOver) break;
      await this.#nextPoll();
    }
    await this.#leave(session);
    // In a loop, because further turns may open meanwhile.
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

  /** One timer for all waits. */
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

/** Number of open turns of these sessions. */
export function openTurnsOf(sessions: Iterable<Session>): number {
  let open = 0;
  for (const session of sessions) open += session.openTurns;
  return open;
}
