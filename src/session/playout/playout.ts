// What the caller has heard: a clock over the prompts that were handed to the platform. An estimate, because the
// platform says nothing of its player; it starts with the first byte sent and never runs ahead of real time.
import { NOTHING_SAID, type Heard } from '../../dialog/heard.ts';
import type { PromptAudio, SpokenPrompt } from '../../dialog/output.ts';
import { heardOf, joined, playedBefore, restOf, textOf, type Played } from './played-prompt.ts';

const NOTHING_HEARD: Heard = { ...NOTHING_SAID, complete: false };

/** What a cut left behind. */
export interface Cut {
  readonly heard: Heard;
  /** The prompts that were not heard to their end, from a little before the cut on. */
  readonly rest: readonly SpokenPrompt[];
  /** Those before them. */
  readonly before: Pick<Heard, 'ms' | 'text'>;
}

/** What was being played when a snapshot was made, as far as the next home can estimate from it what is heard: plain JSON. */
export interface PlayedReply {
  /** What it says, or what was heard of it when it was cut. */
  readonly text: string;
  /** When it began to be heard, ms since the epoch. */
  readonly beganAtMs: number;
  /** How much sound it has, or was heard when it was cut, ms. */
  readonly soundMs: number;
  readonly bargeIn: boolean;
  /** False when it was cut, or prompts of it were never delivered. */
  readonly isWhole: boolean;
}

/** The playout clock of one session. Times are monotonic ms. */
export class Playout {
  #played: Played[] = [];
  /** False when prompts of the reply were never sent. */
  #isWhole = true;
  /** Its last prompt is unfinished. */
  #isStreaming = false;
  /** What was heard of a reply that was cut. */
  #cutHeard: Heard | undefined;
  /** The last reply was never sent: what is known here is of an earlier one. */
  #isUnspoken = false;
  /** What is heard is estimated from a snapshot. */
  #isEstimated = false;
  /** So it is with an answer that is still being made, and that may be given up. */
  #isBeingDropped = false;
  /** What was heard of the reply before it was cut and went on. */
  #before: Cut['before'] = NOTHING_SAID;

  /** The next reply begins. What is still being played stays before it (G-22). */
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

  /** A reply that was cut goes on: its `rest` is queued next. */
  resume({ before }: Cut, nowMs: number): void {
    const isWhole = this.#isWhole;
    this.begin(nowMs);
    this.#isWhole = isWhole;
    this.#before = before;
  }

  /** A prompt was sent at `nowMs`; it plays after those before it (G-22). Without sound it takes no time here. */
  queued(prompt: SpokenPrompt, nowMs: number): void {
    const startMs = Math.max(nowMs, this.#played.at(-1)?.endMs ?? nowMs);
    const { audio } = prompt;
    const pieces = audio === undefined ? [] : [{ audio, startMs }];
    this.#played.push({ prompt, pieces, startMs, endMs: startMs + (audio?.durationMs ?? 0), isUnfinished: false });
  }

  /** Of the prompt that was queued last only the first piece is made. */
  unfinished(): void {
    const last = this.#played.at(-1);
    if (last === undefined) return;
    last.isUnfinished = true;
    this.#isStreaming = true;
  }

  /** All pieces of it are here. */
  finished(): void {
    const last = this.#played.at(-1);
    if (last === undefined) return;
    last.isUnfinished = false;
    this.#isStreaming = false;
  }

  /** A further piece of the prompt that was queued last. */
  extended(audio: PromptAudio, nowMs: number): void {
    const last = this.#played.at(-1);
    if (last === undefined) return;
    // A piece that comes late leaves a silence before it, which is no part of what is heard.
    const startMs = Math.max(last.endMs, nowMs);
    last.pieces.push({ audio, startMs });
    last.endMs = startMs + audio.durationMs;
  }

  /**
   * Prompts of this reply will not be sent: the caller acted over it, or its stream died.
   *
   * @param hasBegun - false when it has no prompt here yet: what was heard before is an earlier reply, and counts again when
   *   it turns out that there is none after it.
   */
  dropped(hasBegun = true): void {
    if (!hasBegun) {
      this.#isBeingDropped = true;
      return;
    }
    this.#isWhole = false;
    if (this.#cutHeard !== undefined) this.#cutHeard = { ...this.#cutHeard, complete: false };
  }

  /** An answer is over of which nothing was sent. @param isKept - its bot goes on from it, and it is the last reply. */
  unspoken(isKept: boolean): void {
    this.#isUnspoken ||= isKept;
    this.#isBeingDropped = false;
  }

  /** True while prompts are being heard. */
  isPlaying(nowMs: number): boolean {
    return this.remainingMs(nowMs) > 0;
  }

  /** How long the prompts that were sent still play. */
  remainingMs(nowMs: number): number {
    const last = this.#played.at(-1);
    return last === undefined ? 0 : Math.max(0, last.endMs - nowMs);
  }

  /** True while a prompt is being heard that may not be cut (G-37, G-51). */
  isProtected(nowMs: number): boolean {
    // Nothing begins later than what is before it ends, so the first that is not over is the one that is heard.
    for (const { prompt, endMs } of this.#played) if (nowMs < endMs) return !prompt.bargeIn;
    return false;
  }

  /** What was heard of the last reply by `nowMs`, or by the moment it was cut. */
  heard(nowMs: number): Heard {
    return this.#isUnheard ? NOTHING_HEARD : this.#heardHere(nowMs);
  }

  /**
   * The same for an input that may have to wait for the answer before it: {@link Playout.settled} says at last what it was.
   * Replies that begin in between were not heard when it came.
   */
  heardWhenComplete(nowMs: number): Heard {
    return this.#isUnspoken ? NOTHING_HEARD : this.#heardHere(nowMs);
  }

  /** @param heard - of {@link Playout.heardWhenComplete}. @returns it, unless the reply before the input was never spoken. */
  settled(heard: Heard): Heard {
    return this.#isUnspoken ? NOTHING_HEARD : heard;
  }

  get #isUnheard(): boolean {
    return this.#isUnspoken || this.#isBeingDropped;
  }

  /** Of the last reply that was sent. */
  #heardHere(nowMs: number): Heard {
    if (this.#cutHeard !== undefined) return this.#cutHeard;
    let { ms } = this.#before;
    let complete = this.#isWhole && !this.#isStreaming;
    const texts = [this.#before.text];
    for (const played of this.#played) {
      ms += heardOf(played, nowMs);
      complete &&= nowMs >= played.endMs;
      texts.push(textOf(played, nowMs));
    }
    // The clock has fractions, and bots get whole ms; never more than was heard.
    return { complete, ms: Math.floor(ms), text: joined(texts), ...(this.#isEstimated && { estimated: true }) };
  }

  /** For a snapshot; undefined when nothing was said. @param epochMs - the same moment in ms since the epoch. */
  played(nowMs: number, epochMs: number): PlayedReply | undefined {
    if (this.#isUnspoken) return { text: '', beganAtMs: epochMs, soundMs: 0, bargeIn: true, isWhole: false };
    const cut = this.#cutHeard;
    if (cut !== undefined) return { text: cut.text, beganAtMs: epochMs - cut.ms, soundMs: cut.ms, bargeIn: true, isWhole: false };
    const last = this.#played.at(-1);
    if (last === undefined) return undefined;
    const soundMs = this.#before.ms + this.#played.reduce((sum, played) => sum + heardOf(played, Infinity), 0);
    return {
      text: joined([this.#before.text, ...this.#played.map(({ prompt }) => prompt.text ?? '')]),
      // It ends when it ends: as if it had been said without a pause.
      beganAtMs: epochMs - (nowMs - last.endMs) - soundMs,
      soundMs,
      bargeIn: this.#played.every(({ prompt }) => prompt.bargeIn),
      isWhole: this.#isWhole && !this.#isStreaming && !this.#isBeingDropped,
    };
  }

  /** Goes on from what the home before has left; what is heard is an estimate until the next reply. */
  restore({ text, beganAtMs, soundMs, bargeIn, isWhole }: PlayedReply, nowMs: number, epochMs: number): void {
    // Clocks of two machines differ: what began in the future begins now.
    const startMs = nowMs - Math.max(0, epochMs - beganAtMs);
    this.begin(nowMs);
    this.#played = [playedBefore({ text, bargeIn, soundMs, startMs })];
    this.#isWhole = isWhole;
    this.#isEstimated = true;
  }

  /** Stops the clock: what was not played by `nowMs` is dropped by the platform (G-52). */
  cut(nowMs: number): Cut {
    const heard = this.heard(nowMs);
    const done = this.#played.filter((played) => played.endMs <= nowMs);
    const left = this.#played.filter((played) => played.endMs > nowMs);
    const before = {
      ms: done.reduce((sum, played) => sum + heardOf(played, nowMs), this.#before.ms),
      text: joined([this.#before.text, ...done.map((played) => textOf(played, nowMs))]),
    };
    this.#cutHeard = this.#heardHere(nowMs);
    this.#isWhole &&= !this.#isStreaming;
    this.#played = [];
    // The sound of a reply of the home before is not here: it cannot go on.
    return { heard, rest: this.#isEstimated ? [] : left.map((played) => restOf(played, nowMs)), before };
  }
}
