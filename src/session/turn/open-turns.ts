// The turns of one session that are not done: two of them are normal (G-50). Knows who is the newest, which replies the caller cuts
// short by acting over them, and nothing of what a turn is about.
import { AppError } from '../../base/errors.ts';
import type { BargeIn } from '../../bot/bot.ts';
import type { SessionEnd } from '../../dialog/ending.ts';
import type { Cut, Playout } from '../playout/playout.ts';
import type { Turn } from './turn.ts';

/** Most turns of one session that may be open at once. The grammar needs two; the rest is slack for late closes. */
const MAX_OPEN_TURNS = 8;

/** Owned by a session. Times are monotonic ms. */
export class OpenTurns {
  readonly #playout: Playout;
  /** The newest last: turns are added as they open. */
  readonly #turns = new Set<Turn>();
  /** The reply that the caller's speech has cut, and the turn it came on: in case it was no speech. */
  #cut: { readonly turn: Turn; readonly reply: Cut } | undefined;

  /** @param playout - of what is said on them. */
  constructor(playout: Playout) {
    this.#playout = playout;
  }

  get size(): number {
    return this.#turns.size;
  }

  get hasRoom(): boolean {
    return this.#turns.size < MAX_OPEN_TURNS;
  }

  /**
   * True while a prompt may not be cut: one is being heard, or still to be spoken on one of them (G-37, G-51).
   *
   * @param isPlaying - of the playout at `nowMs`: prompts that were heard to their end, which nobody cuts, are not looked through.
   */
  isBarred(nowMs: number, isPlaying = this.#playout.isPlaying(nowMs)): boolean {
    if (isPlaying && this.#playout.isProtected(nowMs)) return true;
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

  /** @returns whether none is left. */
  delete(turn: Turn): boolean {
    this.#turns.delete(turn);
    return this.#turns.size === 0;
  }

  has(turn: Turn): boolean {
    return this.#turns.has(turn);
  }

  /** Those that are open now, in a list of its own: what is done to a turn may close it. */
  list(): readonly Turn[] {
    return [...this.#turns];
  }

  /**
   * The caller acted on a turn: cuts the reply that is being made and the prompts that are being heard.
   *
   * @param spared - the turn that goes on.
   * @returns true when something was cut.
   */
  cutBy(act: BargeIn['by'], turn: Turn, spared: Turn | undefined, nowMs: number): boolean {
    // Whatever the speech was, nothing is said into the keys that follow.
    if (act === 'keys') this.#cut = undefined;
    // A protected prompt goes on, whatever a client sends (G-37).
    if (this.isBarred(nowMs)) return false;
    if (act === 'keys') for (const other of this.list()) if (other !== turn) other.keyElsewhere();
    const isPlaying = this.#playout.isPlaying(nowMs);
    const interrupted = this.list().filter((other) => other !== spared && other.interrupt());
    const isInterrupted = interrupted.length > 0;
    if (!isPlaying && !isInterrupted) return false;
    const reply = this.#playout.cut(nowMs);
    if (isInterrupted) this.#playout.dropped(isPlaying || interrupted.some(({ hasSpoken }) => hasSpoken));
    // A reply that was still being made cannot go on where it was.
    this.#cut = act === 'speech' && !isInterrupted ? { turn, reply } : undefined;
    return true;
  }

  /** An input is complete: what the speech on its turn had cut. Remembered no longer. */
  takeCut(turn: Turn): Cut | undefined {
    const cut = this.#cut;
    this.#cut = undefined;
    return cut?.turn === turn ? cut.reply : undefined;
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
