// One RPC of a call as the platform keeps it: its purpose, its phase, and its reply. Decides nothing; the turn
// grammar does.
import type { CancelTimer } from '../../base/clock.ts';
import type { CallClock } from './call-clock.ts';
import type { LineTurn, TurnCut } from '../lines/line.ts';
import { SoundMeter, type SoundFacts } from './sound-meter.ts';
import type { TurnCheck, TurnKind } from './turn-check.ts';

/**
 * The phase of a turn: `listening` to the caller's audio, `awaiting` the reply to complete input, `set_aside` when the caller's
 * input is sent on another RPC and no reply is wanted, `over`.
 */
export type TurnPhase = 'listening' | 'awaiting' | 'set_aside' | 'over';

export interface Reply {
  /** The RPC, counted from 1. */
  readonly turn: number;
  readonly kind: TurnKind;
  /** ms from the end of the caller's input to the first sign of the reply; undefined when no input was measured. */
  readonly latencyMs: number | undefined;
  /** When the first sign of the reply (prompt, terminal event or closing FINAL) came, ms since the call began. */
  readonly atMs: number;
  /** Number of prompts; a stream of chunks counts as one. */
  readonly prompts: number;
  /** Length of the reply's audio, ms. */
  readonly audioMs: number;
  /** Longest silence between two sounds of the reply, ms. */
  readonly maxGapMs: number;
  /** When the longest silence began, ms since the call began; undefined when there was none. */
  readonly maxGapAtMs?: number;
  /** Texts of the prompts, where the server sends them. */
  readonly texts: readonly string[];
  readonly isInterrupted: boolean;
  /** How long the reply had been heard when the caller interrupted it, ms; undefined if it was not interrupted or not begun. */
  readonly heardMs?: number;
  /** Whether any sound of the reply was heard. For a reply without sound: whether the caller did not interrupt. */
  readonly wasHeard: boolean;
  /** Set when the server says that its bot failed and that this reply is the server's own apology. */
  readonly isApology?: true;
  /** All sound of the reply as it came, before any cut; undefined when the call keeps none. */
  readonly sound?: ReplySound;
}

export interface ReplySound {
  readonly facts: SoundFacts;
  /** Samples at 8 kHz, as they came; empty unless the call keeps them. */
  readonly pieces: readonly Int16Array[];
}

/** Most texts kept of one RPC: a server that never stops talking must not fill the memory. */
const MAX_TEXTS = 500;
/** Longest text kept, characters; longer than any real prompt. */
const MAX_TEXT = 10_000;

export class Turn {
  readonly id: number;
  check: TurnCheck;
  kind: TurnKind;
  phase: TurnPhase;
  /** When the caller's input was complete, ms since the call began. */
  inputEndMs: number | undefined;
  /** Whether the server heard speech on this RPC (G-36). */
  hasHeardSpeech = false;
  /** Whether the caller interrupted the prompts of the turn: what still comes is dropped (G-52). */
  isInterrupted = false;
  /** As {@link Reply.heardMs}. */
  heardMs: number | undefined;
  hasSounded = false;
  /** How RPCs of the turn were lost, each way once. */
  readonly cuts = new Set<TurnCut['kind']>();
  /** As {@link Reply.isApology}. */
  isApology = false;
  prompts = 0;
  audioMs = 0;
  readonly #clock: CallClock;
  readonly #onReply: (reply: Reply) => void;
  #texts: string[] = [];
  #graceUntilMs = 0;
  #line: LineTurn | undefined;
  #cancelWatch: CancelTimer = () => undefined;
  #replyAtMs: number | undefined;
  #latencyMs: number | undefined;
  #maxGapMs = 0;
  #maxGapAtMs: number | undefined;
  #sound: { readonly meter: SoundMeter; readonly pieces: Int16Array[] } | undefined;

  /** @param onReply - called at the first sign of the reply, with the reply so far. */
  constructor(
    clock: CallClock,
    id: number,
    kind: TurnKind,
    phase: TurnPhase,
    check: TurnCheck,
    onReply: (reply: Reply) => void = () => undefined,
  ) {
    this.#clock = clock;
    this.#onReply = onReply;
    this.id = id;
    this.kind = kind;
    this.phase = phase;
    this.check = check;
  }

  /** Sets the wire of this turn. Called once, right after the turn is opened. */
  attach(line: LineTurn): void {
    this.#line = line;
  }

  get line(): LineTurn {
    if (this.#line === undefined) throw new TypeError('a turn is used before its line is attached');
    return this.#line;
  }

  /** The turn was lost and starts again: answers until now do not count. @param check - checks the answers from now on. */
  beginAnew({ kind, againMs }: TurnCut, check: TurnCheck): void {
    this.check = check;
    this.cuts.add(kind);
    this.#graceUntilMs = this.#clock.nowMs() + againMs;
    this.hasHeardSpeech = false;
    this.hasSounded = false;
    this.heardMs = undefined;
    this.isApology = false;
    this.prompts = 0;
    this.audioMs = 0;
    this.#texts = [];
    this.#replyAtMs = undefined;
    this.#latencyMs = undefined;
    this.#maxGapMs = 0;
    this.#maxGapAtMs = undefined;
    this.#sound = undefined;
  }

  /** Whether a lost turn may still be sending its input again; then an answer may be late by that time and `limitMs`. */
  hasGrace(limitMs: number): boolean {
    return this.cuts.size > 0 && this.#clock.nowMs() < this.#graceUntilMs + limitMs;
  }

  /** Calls `onLate` after `limitMs`, unless this is called again before. */
  watch(limitMs: number, onLate: () => void): void {
    this.#cancelWatch();
    this.#cancelWatch = this.#clock.after(limitMs, onLate);
  }

  /** The turn is over; its timers stop. */
  finish(): void {
    this.phase = 'over';
    this.#cancelWatch();
  }

  /**
   * Notes the first prompt, terminal event or closing FINAL.
   *
   * @returns the latency when this was the first and the end of the input is known, ms.
   */
  noteReply(): number | undefined {
    if (this.#replyAtMs !== undefined) return undefined;
    this.#replyAtMs = this.#clock.nowMs();
    this.#latencyMs = this.inputEndMs === undefined ? undefined : this.#replyAtMs - this.inputEndMs;
    if (this.reply !== undefined) this.#onReply(this.reply);
    return this.#latencyMs;
  }

  /** A sound of this reply begins to be heard, after `gapMs` of silence. */
  noteSounding(gapMs: number): void {
    this.hasSounded = true;
    if (gapMs <= this.#maxGapMs) return;
    this.#maxGapMs = gapMs;
    this.#maxGapAtMs = this.#clock.nowMs() - gapMs;
  }

  /** Notes sound of this reply, 8 kHz; `isKept` when its samples are to be kept. */
  noteSound(samples: Int16Array, isKept: boolean): void {
    this.#sound ??= { meter: new SoundMeter(), pieces: [] };
    this.#sound.meter.push(samples);
    if (isKept) this.#sound.pieces.push(samples);
  }

  /** Adds the texts of prompts, except empty ones and ones already known. */
  noteTexts(texts: readonly string[]): void {
    for (const whole of texts) {
      if (this.#texts.length >= MAX_TEXTS) return;
      const text = whole.slice(0, MAX_TEXT);
      if (text !== '' && !this.#texts.includes(text)) this.#texts.push(text);
    }
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  /** As {@link Reply.wasHeard}. */
  get wasHeard(): boolean {
    return this.audioMs === 0 ? !this.isInterrupted : this.hasSounded;
  }

  /** The prompts of the turn in a few words; empty when there are none. */
  get summary(): string {
    if (this.prompts === 0) return '';
    const said = this.#texts.length > 0 ? `"${this.#texts.join(' ')}" ` : '';
    return `${said}${(this.audioMs / 1000).toFixed(1)} s`;
  }

  /** The reply so far; undefined while there is none. */
  get reply(): Reply | undefined {
    if (this.#replyAtMs === undefined) return undefined;
    return {
      turn: this.id,
      kind: this.kind,
      latencyMs: this.#latencyMs,
      atMs: this.#replyAtMs,
      prompts: this.prompts,
      audioMs: this.audioMs,
      maxGapMs: this.#maxGapMs,
      ...(this.#maxGapAtMs === undefined ? {} : { maxGapAtMs: this.#maxGapAtMs }),
      texts: [...this.#texts],
      isInterrupted: this.isInterrupted,
      ...(this.heardMs === undefined ? {} : { heardMs: this.heardMs }),
      wasHeard: this.wasHeard,
      ...(this.isApology && { isApology: true }),
      ...(this.#sound === undefined ? {} : { sound: { facts: this.#sound.meter.facts, pieces: this.#sound.pieces } }),
    };
  }
}
