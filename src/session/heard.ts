// What the caller has heard: a clock over the prompts that were handed to the platform. An estimate, because the
// platform says nothing of its player; it starts with the first byte sent and never runs ahead of real time.
import { randomUUID } from 'node:crypto';
import { NOTHING_SAID, type Heard } from '../dialog/heard.ts';
import type { PromptAudio, SpokenPrompt } from '../dialog/output.ts';
import { heardOf, partOf, playedElsewhere, restOf, textOf, type Played, type SpokenPart } from './played-prompt.ts';

const NOTHING_HEARD: Heard = { ...NOTHING_SAID, complete: false };

/** What a cut left behind. */
export interface Cut {
  readonly heard: Heard;
  /** The prompts that were not heard to their end, from a little before the cut on. */
  readonly rest: readonly SpokenPrompt[];
  /** Those before them. */
  readonly before: Pick<Heard, 'ms' | 'text'>;
  /** Another process said them: `rest` is without sound. */
  readonly isToldOf: boolean;
}

/** What a caller hears, told to another process: plain JSON. Times are ms, relative to the moment it was told. */
export interface Spoken {
  /** The playback clock that tells. */
  readonly by: string;
  /** How often it has told before. */
  readonly tellings: number;
  /** The prompts that are being heard and those behind them. */
  readonly prompts: readonly SpokenPart[];
  /** False when prompts of the reply were never handed over. */
  readonly isWhole: boolean;
  /** What was heard of a reply that was cut. */
  readonly cutHeard?: Heard;
  /** The last reply was never handed over: all this is of an earlier one. */
  readonly isUnspoken?: true;
  /** What was heard of the reply before it was cut and went on. */
  readonly before: Pick<Heard, 'ms' | 'text'>;
}

/** The playback clock of one session. Times are monotonic ms. */
export class Playback {
  /** Among those of all processes; made when it is first told. */
  #name: string | undefined;
  #tellings = 0;
  /** What was taken over last. */
  #lastTold: Pick<Spoken, 'by' | 'tellings'> | undefined;
  #played: Played[] = [];
  /** False when prompts of the reply were never handed over. */
  #isWhole = true;
  /** Its last prompt is unfinished. */
  #isStreaming = false;
  /** What was heard of a reply that was cut. */
  #cutHeard: Heard | undefined;
  /** The last reply was never handed over: what is known here is of an earlier one. */
  #isUnspoken = false;
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
    this.#before = NOTHING_SAID;
  }

  /** A reply that was cut goes on: its `rest` is queued next. */
  resume({ before }: Cut, nowMs: number): void {
    const isWhole = this.#isWhole;
    this.begin(nowMs);
    this.#isWhole = isWhole;
    this.#before = before;
  }

  /** A prompt was handed over at `nowMs`; it plays after those before it (G-22). Without sound it takes no time here. */
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

  /** An answer is over of which nothing was handed over. @param isKept - its bot goes on from it, and it is the last reply. */
  unspoken(isKept: boolean): void {
    this.#isUnspoken ||= isKept;
    this.#isBeingDropped = false;
  }

  /** True while prompts are being heard. */
  isPlaying(nowMs: number): boolean {
    return this.remainingMs(nowMs) > 0;
  }

  /** How long the prompts that were handed over still play. */
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
   * The same for an input that may have to wait for the answer before it: {@link Playback.settled} says at last what it was.
   * Replies that begin in between were not heard when it came.
   */
  heardWhenComplete(nowMs: number): Heard {
    return this.#isUnspoken ? NOTHING_HEARD : this.#heardHere(nowMs);
  }

  /** @param heard - of {@link Playback.heardWhenComplete}. @returns it, unless the reply before the input was never spoken. */
  settled(heard: Heard): Heard {
    return this.#isUnspoken ? NOTHING_HEARD : heard;
  }

  get #isUnheard(): boolean {
    return this.#isUnspoken || this.#isBeingDropped;
  }

  /** Of the last reply that was handed over. */
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
    return { complete, ms: Math.floor(ms), text: joined(texts) };
  }

  /** For another process, where the caller may be heard next. */
  tell(nowMs: number): Spoken {
    this.#name ??= randomUUID();
    this.#tellings += 1;
    return {
      by: this.#name,
      tellings: this.#tellings - 1,
      prompts: this.#played.map((played) => partOf(played, nowMs)),
      isWhole: this.#isWhole && !this.#isStreaming,
      ...(this.#cutHeard === undefined ? {} : { cutHeard: this.#cutHeard }),
      ...(this.#isUnheard ? { isUnspoken: true } : {}),
      before: this.#before,
    };
  }

  /**
   * Takes over what was told last.
   *
   * @returns false when this clock has told it itself or taken it over before, and knows better.
   */
  told(spoken: Spoken, nowMs: number): boolean {
    const { by, tellings } = spoken;
    if (by === this.#name || (by === this.#lastTold?.by && tellings === this.#lastTold.tellings)) return false;
    this.#lastTold = { by, tellings };
    this.#played = spoken.prompts.map((part) => playedElsewhere(part, nowMs));
    this.#isWhole = spoken.isWhole;
    this.#isStreaming = false;
    this.#cutHeard = spoken.cutHeard;
    this.#isUnspoken = spoken.isUnspoken === true;
    this.#isBeingDropped = false;
    this.#before = spoken.before;
    return true;
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
    const isToldOf = left.some((played) => played.isToldOf === true);
    return { heard, rest: left.map((played) => restOf(played, nowMs)), before, isToldOf };
  }
}

/** The same, told so much later, ms: its times are relative to the moment it is told. */
export function toldLater(spoken: Spoken, laterMs: number): Spoken {
  if (laterMs === 0) return spoken;
  return {
    ...spoken,
    prompts: spoken.prompts.map((part) => ({ ...part, startMs: part.startMs - laterMs, endMs: part.endMs - laterMs })),
  };
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}
