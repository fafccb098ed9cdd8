// What the caller cuts short by acting over it: the reply that is being made and the prompts that are being heard. Remembers
// what speech has cut, in case it was no speech.
import type { BargeIn } from '../../bot/bot.ts';
import type { Cut, Playout } from '../playout/playout.ts';
import type { OpenTurns } from './open-turns.ts';
import type { Turn } from './turn.ts';

/** Owned by a session. Times are monotonic ms. */
export class Interruption {
  readonly #open: OpenTurns;
  readonly #playout: Playout;
  /** The reply that the caller's speech has cut, and the turn it came on. */
  #cut: { readonly turn: Turn; readonly reply: Cut } | undefined;

  constructor(open: OpenTurns, playout: Playout) {
    this.#open = open;
    this.#playout = playout;
  }

  /**
   * True while a prompt may not be cut (G-37, G-51).
   *
   * @param isPlaying - of the playout at `nowMs`: prompts that were heard to their end, which nobody cuts, are not looked through.
   */
  isBarred(nowMs: number, isPlaying = this.#playout.isPlaying(nowMs)): boolean {
    return (isPlaying && this.#playout.isProtected(nowMs)) || this.#open.isFloorHeld;
  }

  /**
   * The caller acted on a turn.
   *
   * @param spared - the turn that goes on.
   * @returns true when something was cut.
   */
  by(act: BargeIn['by'], turn: Turn, spared: Turn | undefined, nowMs: number): boolean {
    // Whatever the speech was, nothing is said into the keys that follow.
    if (act === 'keys') this.#cut = undefined;
    // A protected prompt goes on, whatever a client sends (G-37).
    if (this.isBarred(nowMs)) return false;
    if (act === 'keys') for (const other of this.#open.list()) if (other !== turn) other.keyElsewhere();
    const isPlaying = this.#playout.isPlaying(nowMs);
    const interrupted = this.#open.interrupt(spared);
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
}
