// The open turns of a session; two are normal (G-50). Knows their order and which replies a barge-in cuts, but not
// their inputs.
import { AppError } from '../../base/errors.ts';
import type { BargeIn } from '../../bot/bot.ts';
import type { SessionEnd } from '../../dialog/ending.ts';
import type { Cut, Playout } from '../playout/playout.ts';
import type { Turn } from './turn.ts';

/** Most open turns of a session. Two are needed; the others allow for streams that close late. */
const MAX_OPEN_TURNS = 8;

/** Owned by a session. Times are monotonic ms. */
export class OpenTurns {
  readonly #playout: Playout;
  /** In the order in which they opened. */
  readonly #turns = new Set<Turn>();
  /** Set when speech has cut a reply: that reply and the turn of the speech, kept for a false interruption. */
  #cut: { readonly turn: Turn; readonly reply: Cut } | undefined;

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
   * Whether an uninterruptible prompt is playing or still to be played (G-37, G-51).
   *
   * @param isPlaying - whether anything is playing at `nowMs`; avoids a scan of finished prompts.
   */
  isBarred(nowMs: number, isPlaying = this.#playout.isPlaying(nowMs)): boolean {
    if (isPlaying && this.#playout.isProtected(nowMs)) return true;
    for (const turn of this.#turns) if (turn.holdsFloor) return true;
    return false;
  }

  /** Whether a turn is being answered. */
  get isReplying(): boolean {
    for (const turn of this.#turns) if (turn.isReplying) return true;
    return false;
  }

  /** Whether every turn can go on at another home. */
  get canMove(): boolean {
    for (const turn of this.#turns) if (!turn.mayGiveBack) return false;
    return true;
  }

  add(turn: Turn): void {
    this.#turns.add(turn);
  }

  /** @returns whether no turn is left. */
  delete(turn: Turn): boolean {
    this.#turns.delete(turn);
    return this.#turns.size === 0;
  }

  has(turn: Turn): boolean {
    return this.#turns.has(turn);
  }

  /** A copy, so that turns may be closed during an iteration. */
  list(): readonly Turn[] {
    return [...this.#turns];
  }

  /**
   * Barge-in: cuts the reply in work and the prompts that are playing.
   *
   * @param spared - the turn that goes on.
   * @returns true when something was cut.
   */
  cutBy(act: BargeIn['by'], turn: Turn, spared: Turn | undefined, nowMs: number): boolean {
    // No prompt resumes while the caller presses keys.
    if (act === 'keys') this.#cut = undefined;
    // An uninterruptible prompt plays on, whatever a client sends (G-37).
    if (this.isBarred(nowMs)) return false;
    if (act === 'keys') for (const other of this.list()) if (other !== turn) other.keyElsewhere();
    const isPlaying = this.#playout.isPlaying(nowMs);
    const interrupted = this.list().filter((other) => other !== spared && other.interrupt());
    const isInterrupted = interrupted.length > 0;
    if (!isPlaying && !isInterrupted) return false;
    const reply = this.#playout.cut(nowMs);
    if (isInterrupted) this.#playout.dropped(isPlaying || interrupted.some(({ hasSpoken }) => hasSpoken));
    // A reply in work cannot resume.
    this.#cut = act === 'speech' && !isInterrupted ? { turn, reply } : undefined;
    return true;
  }

  /** Returns and forgets the reply that the speech on this turn has cut. */
  takeCut(turn: Turn): Cut | undefined {
    const cut = this.#cut;
    this.#cut = undefined;
    return cut?.turn === turn ? cut.reply : undefined;
  }

  /** Completes the oldest interrupted turn, if any. */
  finishInterrupted(): void {
    this.list()
      .find(({ state, isReplying }) => state === 'answering' && !isReplying)
      ?.finish('interrupted');
  }

  /** Completes the turns without input, or all turns. */
  complete(which: 'silent' | 'all'): void {
    for (const turn of this.list()) {
      if (turn.isSilent) turn.finish('nothing_said');
      else if (which === 'all') turn.finish('superseded');
    }
  }

  /** Completes the turns without input that cannot go on at another home. */
  completeUnmovable(): void {
    for (const turn of this.list()) if (turn.isSilent && !turn.mayGiveBack) turn.finish('nothing_said');
  }

  /** The call moves: see {@link Turn.giveBack}. */
  giveBack(): void {
    for (const turn of this.list()) turn.giveBack();
  }

  /** Ends all turns together with the session: completes them when the call goes on (G-28), otherwise fails them. */
  stop(end: SessionEnd | 'moved'): void {
    for (const turn of this.list()) {
      if (end === 'restarted' || end === 'moved') turn.finish('superseded');
      else turn.fail(new AppError('turn_timeout', 'nothing came on the stream for too long'), end === 'failed' ? 'failed' : 'deadline');
    }
  }

  /**
   * Completes all turns except one: the newest one that is being answered, so that its answer is heard, or else the newest one.
   *
   * @returns the excepted turn; undefined when none is open.
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
