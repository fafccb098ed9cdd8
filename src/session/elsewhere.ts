// What a session does because another process may have the turn before or after: tells that the caller interrupts, and
// catches up on what was said there. Without other processes it does nothing.
import type { BargeIn } from '../bot/bot.ts';
import type { CallKey } from '../dialog/call.ts';
import type { Playback } from './heard.ts';
import type { CaughtUp } from './parts.ts';
import type { Interruptions, KeptCall } from './ports.ts';
import { isEndTold } from './reply-looks.ts';
import type { Turn } from './turn.ts';

/** Owned by a session. Times are monotonic ms. */
export class Elsewhere {
  readonly #call: CallKey;
  readonly #playback: Playback;
  readonly #interruptions: Interruptions | undefined;
  /** What the caller began on a turn here over words that may be said elsewhere. */
  #act: { readonly turn: Turn; readonly by: BargeIn['by']; readonly atMs: number } | undefined;

  constructor(call: CallKey, playback: Playback, interruptions: Interruptions | undefined) {
    this.#call = call;
    this.#playback = playback;
    this.#interruptions = interruptions;
  }

  /** The caller spoke or pressed a key: mouths elsewhere have to stop (G-53). @param hasCut - what was being said is known here. */
  acted(turn: Turn, by: BargeIn['by'], hasCut: boolean, nowMs: number): void {
    if (this.#interruptions === undefined) return;
    this.#act = hasCut ? undefined : { turn, by, atMs: nowMs };
    this.#interruptions.tell(this.#call, { place: turn.place, isHangUp: false });
  }

  /** The caller hung up: nobody listens to mouths elsewhere. */
  hungUp({ place }: Turn): void {
    this.#interruptions?.tell(this.#call, { place, isHangUp: true });
  }

  /** The conversation begins anew on a stream that opened here at `place` (G-28). */
  restarts(place: number): void {
    this.#interruptions?.tell(this.#call, { place, isHangUp: true });
  }

  /** A stream opened here, or an input is answered: what was told of the words before counts from now on. */
  told({ spoken }: KeptCall, nowMs: number): boolean {
    return spoken !== undefined && this.#playback.told(spoken, nowMs);
  }

  /** Whether an end of the call that is owed here was handed over, by another process or on an older stream. */
  hasToldEnd(kept: KeptCall): boolean {
    return this.#interruptions !== undefined && isEndTold(kept);
  }

  /** See {@link RunningSession.caughtUp}. */
  caughtUp(kept: KeptCall, turn: Turn, nowMs: number): CaughtUp | undefined {
    const act = this.#act?.turn === turn ? this.#act : undefined;
    this.#act = undefined;
    if (!this.told(kept, nowMs)) return undefined;
    if (act === undefined) return {};
    const { by, atMs } = act;
    // The other process was told in time and stopped, or it was done, and the platform alone has stopped the prompt (G-52).
    const isCutThere = kept.spoken?.cutHeard !== undefined;
    if (isCutThere) return { bargeIn: { type: 'barge_in', by, heard: this.#playback.heard(nowMs) } };
    if (!this.#playback.isPlaying(atMs) || this.#playback.isProtected(atMs)) return {};
    const cut = this.#playback.cut(atMs);
    return { bargeIn: { type: 'barge_in', by, heard: cut.heard }, ...(by === 'speech' ? { cut } : {}) };
  }
}
