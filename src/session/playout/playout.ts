// What the caller has heard: a clock for the delivered prompts. An estimate, because the platform does not report its playout.
// The clock starts with the first byte sent and never runs ahead of real time.
import { NOTHING_SAID, type Heard } from '../../dialog/heard.ts';
import type { PromptAudio, SpokenPrompt } from '../../dialog/output.ts';
import { heardOf, joined, partOf, playedBefore, restOf, textOf, type Played } from './played-prompt.ts';

const NOTHING_HEARD: Heard = { ...NOTHING_SAID, complete: false };

/** The result of a cut. */
export interface Cut {
  readonly heard: Heard;
  /** The unheard rest, from shortly before the cut. */
  readonly rest: readonly SpokenPrompt[];
  /** The part that was heard before the cut. */
  readonly before: Pick<Heard, 'ms' | 'text' | 'parts'>;
}

/** The reply that was playing when a snapshot was made: plain JSON, from which the next home makes its estimate. */
export interface PlayedReply {
  /** Text of the reply, or of its heard part if it was cut. */
  readonly text: string;
  /** Start of the reply's playout, ms since the epoch. */
  readonly beganAtMs: number;
  /** Length of the reply's audio, or of its heard part if it was cut, ms. */
  readonly soundMs: number;
  readonly bargeIn: boolean;
  /** False when the reply was cut or not fully delivered. */
  readonly isWhole: boolean;
}

/** The playout clock of one session. Times are monotonic ms. */
export class Playout {
  #played: Played[] = [];
  /** False when prompts of the reply were never sent. */
  #isWhole = true;
  /** Whether the last prompt is still being synthesized. */
  #isStreaming = false;
  /** Set when the reply was cut: its heard part. */
  #cutHeard: Heard | undefined;
  /** True when the last reply was never sent; the prompts here belong to an earlier one. */
  #isUnspoken = false;
  /** Whether the prompts come from a snapshot. */
  #isEstimated = false;
  /** As #isUnspoken, for an answer that is still in work and may be abandoned. */
  #isBeingDropped = false;
  /** The part that was heard before the reply was cut and resumed. */
  #before: Cut['before'] = NOTHING_SAID;

  /** Starts the next reply, after prompts that still play (G-22). */
  begin(nowMs: number): void {
    this.#played = this.#played.filter((played) => played.endMs > nowMs);
    this.#isWhole = true;
    this.#isStreaming = false;
    this.#cutHeard = undefined;
    this.#isUnspoken = false;
    this.#isBeingDropped = false;
    this.#isEstimated = false;
    this.#before = NOTHING_SAID;
  }

  /** Resumes a cut reply: its `rest` is queued next. */
  resume({ before }: Cut, nowMs: number): void {
    const isWhole = this.#isWhole;
    this.begin(nowMs);
    this.#isWhole = isWhole;
    this.#before = before;
  }

  /** A prompt was sent at `nowMs`; it plays after the earlier ones (G-22). Without audio, its length counts as 0. */
  queued(prompt: SpokenPrompt, nowMs: number): void {
    // The sound of the previous prompt broke off.
    this.#isWhole &&= !this.#isStreaming;
    const startMs = Math.max(nowMs, this.#played.at(-1)?.endMs ?? nowMs);
    const { audio } = prompt;
    const pieces = audio === undefined ? [] : [{ audio, startMs }];
    this.#played.push({ prompt, pieces, startMs, endMs: startMs + (audio?.durationMs ?? 0), isUnfinished: false });
    if (prompt.breaksOff === true) this.unfinished();
  }

  /** More pieces of the last queued prompt will follow. */
  unfinished(): void {
    const last = this.#played.at(-1);
    if (last === undefined) return;
    last.isUnfinished = true;
    this.#isStreaming = true;
  }

  /** The last queued prompt is complete. */
  finished(): void {
    const last = this.#played.at(-1);
    if (last === undefined) return;
    last.isUnfinished = false;
    this.#isStreaming = false;
  }

  /** Adds a piece to the last queued prompt. */
  extended(audio: PromptAudio, nowMs: number): void {
    const last = this.#played.at(-1);
    if (last === undefined) return;
    // The silence before a late piece does not count as heard.
    const startMs = Math.max(last.endMs, nowMs);
    last.pieces.push({ audio, startMs });
    last.endMs = startMs + audio.durationMs;
  }

  /**
   * The rest of this reply will not be sent, because of a barge-in or a broken stream.
   *
   * @param hasBegun - false when nothing of this reply was sent: then the earlier reply counts again if no other one follows.
   */
  dropped(hasBegun = true): void {
    if (!hasBegun) {
      this.#isBeingDropped = true;
      return;
    }
    this.#isWhole = false;
    if (this.#cutHeard !== undefined) this.#cutHeard = { ...this.#cutHeard, complete: false };
  }

  /** An answer ended and nothing of it was sent. @param isKept - whether it still counts as the last reply. */
  unspoken(isKept: boolean): void {
    this.#isUnspoken ||= isKept;
    this.#isBeingDropped = false;
  }

  /** Whether a prompt is playing. */
  isPlaying(nowMs: number): boolean {
    return this.remainingMs(nowMs) > 0;
  }

  /** Time until all prompts that were sent have played, ms. */
  remainingMs(nowMs: number): number {
    const last = this.#played.at(-1);
    return last === undefined ? 0 : Math.max(0, last.endMs - nowMs);
  }

  /** Time since the end of the last prompt, ms; negative while a prompt plays. */
  silentMs(nowMs: number): number {
    return nowMs - (this.#played.at(-1)?.endMs ?? -Infinity);
  }

  /** Whether an uninterruptible prompt is playing (G-37, G-51). */
  isProtected(nowMs: number): boolean {
    // Prompts follow without gaps, so the first unfinished one is playing.
    for (const { prompt, endMs } of this.#played) if (nowMs < endMs) return !prompt.bargeIn;
    return false;
  }

  /** How much of the last reply was heard by `nowMs`, or by its cut. */
  heard(nowMs: number): Heard {
    return this.#isUnheard ? NOTHING_HEARD : this.#heardHere(nowMs);
  }

  /**
   * As {@link Playout.heard}, for an input that may have to wait for an earlier answer; {@link Playout.settled} returns the final
   * value. Replies that begin meanwhile do not count as heard.
   */
  heardWhenComplete(nowMs: number): Heard {
    return this.#isUnspoken ? NOTHING_HEARD : this.#heardHere(nowMs);
  }

  /**
   * @param heard - from {@link Playout.heardWhenComplete}. @returns the same value, unless the previous reply was never
   * spoken.
   */
  settled(heard: Heard): Heard {
    return this.#isUnspoken ? NOTHING_HEARD : heard;
  }

  get #isUnheard(): boolean {
    return this.#isUnspoken || this.#isBeingDropped;
  }

  /** How much was heard of the last reply that was sent. */
  #heardHere(nowMs: number): Heard {
    if (this.#cutHeard !== undefined) return this.#cutHeard;
    let { ms } = this.#before;
    let complete = this.#isWhole && !this.#isStreaming;
    const texts = [this.#before.text];
    const parts = [...this.#before.parts];
    for (const played of this.#played) {
      ms += heardOf(played, nowMs);
      complete &&= nowMs >= played.endMs;
      texts.push(textOf(played, nowMs));
      if (played.prompt.isFiller !== true) parts.push(partOf(played, nowMs));
    }
    // Whole ms, rounded down.
    return { complete, ms: Math.floor(ms), text: joined(texts), parts, ...(this.#isEstimated && { estimated: true }) };
  }

  /** For a snapshot; undefined when nothing was sent. @param epochMs - `nowMs` as ms since the epoch. */
  played(nowMs: number, epochMs: number): PlayedReply | undefined {
    if (this.#isUnspoken) return { text: '', beganAtMs: epochMs, soundMs: 0, bargeIn: true, isWhole: false };
    const cut = this.#cutHeard;
    if (cut !== undefined) return { text: cut.text, beganAtMs: epochMs - cut.ms, soundMs: cut.ms, bargeIn: true, isWhole: false };
    const last = this.#played.at(-1);
    if (last === undefined) return undefined;
    const soundMs = this.#before.ms + this.#played.reduce((sum, played) => sum + heardOf(played, Infinity), 0);
    return {
      // For a sound that broke off, the words that were synthesized.
      text: joined([this.#before.text, ...this.#played.map((played) => textOf(played, Infinity))]),
      // Computed backward from the end, as if the reply had played without a pause.
      beganAtMs: epochMs - (nowMs - last.endMs) - soundMs,
      soundMs,
      bargeIn: this.#played.every(({ prompt }) => prompt.bargeIn),
      isWhole: this.#isWhole && !this.#isStreaming && !this.#isBeingDropped,
    };
  }

  /** Restores the playout of the previous home, which is an estimate until the next reply. */
  restore({ text, beganAtMs, soundMs, bargeIn, isWhole }: PlayedReply, nowMs: number, epochMs: number): void {
    // Clocks differ between machines: a start in the future counts as now.
    const startMs = nowMs - Math.max(0, epochMs - beganAtMs);
    this.begin(nowMs);
    this.#played = [playedBefore({ text, bargeIn, soundMs, startMs })];
    this.#isWhole = isWhole;
    this.#isEstimated = true;
  }

  /** Stops the clock: the platform drops all audio that has not played by `nowMs` (G-52). */
  cut(nowMs: number): Cut {
    const heard = this.heard(nowMs);
    const done = this.#played.filter((played) => played.endMs <= nowMs);
    const left = this.#played.filter((played) => played.endMs > nowMs);
    const before = {
      ms: done.reduce((sum, played) => sum + heardOf(played, nowMs), this.#before.ms),
      text: joined([this.#before.text, ...done.map((played) => textOf(played, nowMs))]),
      parts: [...this.#before.parts, ...done.filter(({ prompt }) => prompt.isFiller !== true).map((played) => partOf(played, nowMs))],
    };
    this.#cutHeard = this.#heardHere(nowMs);
    this.#isWhole &&= !this.#isStreaming;
    this.#played = [];
    // A reply of the previous home cannot resume, because its audio is not here.
    return { heard, rest: this.#isEstimated ? [] : left.map((played) => restOf(played, nowMs)), before };
  }
}
