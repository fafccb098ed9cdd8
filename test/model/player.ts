// The platform's player as the reference sees it: prompts play one after the other from the moment they arrive (G-22), and
// what was not played is dropped when the caller acts (G-52).
import { UNHEARD, type HeardPart } from './rpc.ts';

interface Playing {
  /** Of a prompt that goes on after a cut: what is not said again. */
  readonly skippedMs: number;
  readonly startMs: number;
  endMs: number;
  /** Silence in it: what a late piece has left before it, up to where that begins. */
  readonly gaps: { readonly fromMs: number; readonly toMs: number }[];
  readonly bargeIn: boolean;
}

/** What the caller of one call hears. */
export class Player {
  #queue: Playing[] = [];
  /** The reply that is heard, or was last. */
  #reply = '';
  /** What was heard of it before it was cut and went on. */
  #beforeMs = 0;
  /** What will have been heard before, should it go on. */
  #beforeCutMs = 0;
  #isWhole = true;
  /** What was heard of a reply that was cut. */
  #cut: HeardPart | undefined;
  #begun = 0;
  #isInOnePiece = false;

  /** The reply that is heard, or was last. */
  get reply(): string {
    return this.#reply;
  }

  /** Of the newest prompt only one piece has come. */
  get isInOnePiece(): boolean {
    return this.#isInOnePiece;
  }

  /** How many replies have begun, fillers not counted. */
  get begun(): number {
    return this.#begun;
  }

  /** A reply begins, unless it has begun; what still plays comes before it. */
  begin(reply: string, nowMs: number, isFiller = false): void {
    if (reply === this.#reply) return;
    this.#reply = reply;
    if (!isFiller) this.#begun += 1;
    this.#beforeMs = 0;
    this.#queue = this.#queue.filter(({ endMs }) => endMs > nowMs);
    this.#isWhole = true;
    this.#cut = undefined;
  }

  /** The reply that was cut goes on in another one. */
  resume(reply: string, nowMs: number): void {
    this.begin(reply, nowMs);
    this.#beforeMs = this.#beforeCutMs;
  }

  add(
    { durationMs, bargeIn, skippedMs = 0 }: { durationMs: number; bargeIn: boolean; skippedMs?: number | undefined },
    nowMs: number,
  ): void {
    const startMs = Math.max(nowMs, this.#queue.at(-1)?.endMs ?? nowMs);
    this.#isInOnePiece = true;
    this.#queue.push({ startMs, endMs: startMs + durationMs, gaps: [], bargeIn, skippedMs });
  }

  /** The last prompt goes on with another piece. */
  extend(durationMs: number, nowMs: number): void {
    this.#isInOnePiece = false;
    const last = this.#queue.at(-1);
    if (last === undefined) return;
    if (nowMs > last.endMs) last.gaps.push({ fromMs: last.endMs, toMs: nowMs });
    last.endMs = Math.max(last.endMs, nowMs) + durationMs;
  }

  remainingMs(nowMs: number): number {
    return Math.max(0, (this.#queue.at(-1)?.endMs ?? 0) - nowMs);
  }

  isPlaying(nowMs: number): boolean {
    return this.remainingMs(nowMs) > 0;
  }

  /** A prompt plays that may not be cut (G-37, G-51). */
  isProtected(nowMs: number): boolean {
    return this.#queue.some(({ startMs, endMs, bargeIn }) => !bargeIn && startMs <= nowMs && nowMs < endMs);
  }

  heard(nowMs: number): HeardPart {
    if (this.#cut !== undefined) return this.#cut;
    let ms = this.#beforeMs;
    for (const playing of this.#queue) ms += soundBy(playing, nowMs);
    return { complete: this.#isWhole && !this.isPlaying(nowMs), ms };
  }

  /** @param dropped - what the reply had not said yet: nothing, its rest, or all of it because it had not begun. */
  cut(dropped: 'nothing' | 'rest' | 'all', nowMs: number): HeardPart {
    const { complete, ms } = this.heard(nowMs);
    const done = this.#queue.filter(({ endMs }) => endMs <= nowMs);
    this.#beforeCutMs = done.reduce((sum, playing) => sum + soundBy(playing, nowMs), this.#beforeMs);
    if (dropped === 'rest') this.#isWhole = false;
    // Of an answer that had not begun nothing was heard, and if nothing comes of it, the reply before it is the last one.
    this.#cut = { complete: complete && dropped !== 'rest', ms };
    this.#queue = [];
    return dropped === 'all' ? UNHEARD : this.#cut;
  }
}

function soundBy({ skippedMs, startMs, endMs, gaps }: Playing, nowMs: number): number {
  const untilMs = Math.min(nowMs, endMs);
  const silentMs = gaps.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(untilMs, toMs) - fromMs), 0);
  return skippedMs + Math.max(0, untilMs - startMs) - silentMs;
}
