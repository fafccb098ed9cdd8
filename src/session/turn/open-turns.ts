// The turns of one session that are not done: two of them are normal (G-50). Knows who is the newest, and nothing of what a
// turn is about.
import { AppError } from '../../base/errors.ts';
import type { SessionEnd } from '../../dialog/ending.ts';
import type { Turn } from './turn.ts';

/** Most turns of one session that may be open at once. The grammar needs two; the rest is slack for late closes. */
const MAX_OPEN_TURNS = 8;

/** Owned by a session. */
export class OpenTurns {
  /** The newest last: turns are added as they open. */
  readonly #turns = new Set<Turn>();

  get size(): number {
    return this.#turns.size;
  }

  get hasRoom(): boolean {
    return this.#turns.size < MAX_OPEN_TURNS;
  }

  /** True while a prompt that may not be cut is still to be spoken on one of them (G-37). */
  get isFloorHeld(): boolean {
    for (const turn of this.#turns) if (turn.holdsFloor) return true;
    return false;
  }

  /** True while one of them is being answered. */
  get isReplying(): boolean {
    for (const turn of this.#turns) if (turn.isReplying) return true;
    return false;
  }

  /** Each of them can go on at another home. */
  get canMove(): boolean {
    for (const turn of this.#turns) if (!turn.mayGiveBack) return false;
    return true;
  }

  add(turn: Turn): void {
    this.#turns.add(turn);
  }

  delete(turn: Turn): void {
    this.#turns.delete(turn);
  }

  has(turn: Turn): boolean {
    return this.#turns.has(turn);
  }

  /** Those that are open now, in a list of its own: what is done to a turn may close it. */
  list(): readonly Turn[] {
    return [...this.#turns];
  }

  /** Interrupts all but `spared`. @returns those that had something to interrupt. */
  interrupt(spared: Turn | undefined): readonly Turn[] {
    return this.list().filter((turn) => turn !== spared && turn.interrupt());
  }

  /** Completes the oldest of those whose replies nobody wants any more, if there is one. */
  finishInterrupted(): void {
    this.list()
      .find(({ state, isReplying }) => state === 'answering' && !isReplying)
      ?.finish('interrupted');
  }

  /** Completes those on which the caller has done nothing yet, or all of them. */
  complete(which: 'silent' | 'all'): void {
    for (const turn of this.list()) {
      if (turn.isSilent) turn.finish('nothing_said');
      else if (which === 'all') turn.finish('superseded');
    }
  }

  /** Completes those on which the caller has done nothing yet, except those that can go on at another home. */
  completeUnmovable(): void {
    for (const turn of this.list()) if (turn.isSilent && !turn.mayGiveBack) turn.finish('nothing_said');
  }

  /** The call lives elsewhere from now on: see {@link Turn.giveBack}. */
  giveBack(): void {
    for (const turn of this.list()) turn.giveBack();
  }

  /** Ends all, because the session ends: as too old, or complete where the call goes on without it (G-28). */
  stop(end: SessionEnd | 'moved'): void {
    for (const turn of this.list()) {
      if (end === 'restarted' || end === 'moved') turn.finish('superseded');
      else turn.fail(new AppError('turn_timeout', 'nothing came on the stream for too long'), end === 'failed' ? 'failed' : 'deadline');
    }
  }

  /**
   * Completes all but the one to end a call on: the newest that is being answered, because nobody would hear its answer
   * otherwise, or else the newest.
   *
   * @returns it; undefined when none is open.
   */
  keepLast(): Turn | undefined {
    const turns = this.list();
    const kept = turns.findLast(({ isReplying }) => isReplying) ?? turns.at(-1);
    for (const turn of turns) {
      if (turn !== kept) turn.finish(isNewer(turn, kept) && turn.isSilent ? 'nothing_said' : 'superseded');
    }
    return kept;
  }
}

function isNewer(turn: Turn, other: Turn | undefined): boolean {
  return other !== undefined && turn.number > other.number;
}
