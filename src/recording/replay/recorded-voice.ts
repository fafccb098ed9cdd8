// A voice whose sounds are those of a recording, and are ready when they were ready there. Of texts that were not said there it knows
// only about how long they take.
import { pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { DeliveryMode, PromptAudio } from '../../dialog/output.ts';
import type { Prompt } from '../../dialog/reply.ts';
import type { PromptVoice, Sound } from '../../session/ports.ts';
import type { Recording } from '../recording.ts';
import { isWithheld, soundDigest } from '../redaction.ts';
import { isCut, type TurnRecord, type TurnPrompt } from './recorded-turns.ts';

/** About how long a voice takes for one character, ms. */
const MS_PER_CHARACTER = 65;
/** Assumed length of a recording that was not played in the call, ms. */
const UNKNOWN_FILE_MS = 1000;
/** A prompt that is shorter than this part of what its text takes is not whole. */
const CUT_SHORT = 0.85;
/** Largest distance of a filler from the recorded one, ms: its timer was late there. */
const FILLER_LATE_MS = 50;
const BYTES_PER_MS = 8;
const SILENCE = 0xff;

export interface RecordedVoiceOptions {
  readonly turns: readonly TurnRecord[];
  readonly botSound: Recording['botSound'];
  readonly mode: DeliveryMode;
  readonly clock: Clock;
  /** What the engine says while a bot takes its time. Said only where it was said in the recording. */
  readonly fillers: ReadonlySet<string>;
}

export class RecordedVoice implements PromptVoice {
  readonly canSpeak: boolean;
  readonly #options: RecordedVoiceOptions;
  #msPerCharacter = MS_PER_CHARACTER;
  /** The turn that is answered, as it was, and what the bot has not said again yet. */
  #turn: TurnRecord | undefined;
  #left: TurnPrompt[] = [];
  /** Whether the rest of its reply was not wanted any more. */
  #isCut = false;
  readonly #asked = new WeakSet<TurnPrompt>();

  constructor(options: RecordedVoiceOptions) {
    this.#options = options;
    const texts = options.turns.flatMap(({ prompts }) => prompts).filter(({ text }) => text !== undefined);
    const whole = options.turns
      .flatMap((turn) => (isCut(turn, options.turns) ? [] : turn.prompts))
      .filter(({ text, durationMs }) => typeof text === 'string' && durationMs > 0);
    const characters = whole.reduce((sum, { text }) => sum + (typeof text === 'string' ? text.length : 0), 0);
    if (characters > 0) this.#msPerCharacter = whole.reduce((sum, { durationMs }) => sum + durationMs, 0) / characters;
    // Without a voice there is nothing to send before the end of a reply.
    this.canSpeak = options.mode === 'chunk' || texts.some(({ durationMs }) => durationMs > 0);
  }

  /** The bot answers this turn from now on; undefined: one that was not recorded. */
  answers(turn: TurnRecord | undefined): void {
    this.#turn = turn;
    this.#isCut = turn !== undefined && isCut(turn, this.#options.turns);
    this.#left = (turn?.prompts ?? []).filter(({ isFiller }) => isFiller !== true);
  }

  render(prompt: Prompt, signal: AbortSignal): Sound | Promise<Sound> {
    if (prompt.kind === 'text' && !this.canSpeak) return undefined;
    const filler = this.#fillerNow(prompt);
    if (filler !== undefined) return filler;
    const said = this.#left.find((left) => isSame(left, prompt)) ?? this.#left.find(({ text }) => isWithheld(text));
    if (said === undefined) return this.#unknown(prompt, signal);
    this.#asked.add(said);
    const [first, ...more] = said.pieces;
    if (more.length > 0 || this.#isCutShort(said, prompt)) return this.#inPieces(said, prompt, signal);
    const sound = first === undefined || first.durationMs === 0 ? undefined : this.#soundOf(first, prompt);
    // When it is known that a text has no sound, the bot goes on; it is sent with the end of the reply.
    const isHeld = sound !== undefined || said === this.#turn?.prompts.at(-1);
    return isHeld && said.atMs > this.#options.clock.monotonicMs() ? this.#later(said, sound, signal) : this.#said(said, sound);
  }

  /** When the bot says next what it has not said again yet, ms. */
  get nextMs(): number {
    return this.#left.find((said) => !this.#asked.has(said))?.atMs ?? Infinity;
  }

  late(): void {
    // Nobody waits for a synthesizer here.
  }

  /** Whether the synthesis of a prompt was not over when the caller interrupted the reply. */
  #isCutShort(said: TurnPrompt, prompt: Prompt): boolean {
    if (!this.#isCut || this.#turn?.prompts.at(-1) !== said || prompt.kind !== 'text') return false;
    return said.durationMs < CUT_SHORT * prompt.text.length * this.#msPerCharacter;
  }

  /** The sound of a filler that was said now. It is ready at once, or it is not said. */
  #fillerNow(prompt: Prompt): PromptAudio | undefined {
    if (!this.#isFiller(prompt)) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    for (const { prompts } of this.#options.turns) {
      const said = prompts.find((one) => one.isFiller === true && isSame(one, prompt) && Math.abs(one.atMs - nowMs) < FILLER_LATE_MS);
      const [first] = said?.pieces ?? [];
      if (first !== undefined) return this.#soundOf(first);
    }
    return undefined;
  }

  #isFiller(prompt: Prompt): boolean {
    return prompt.kind === 'text' && this.#options.fillers.has(prompt.text);
  }

  #said(said: TurnPrompt, sound: PromptAudio | undefined): PromptAudio | undefined {
    this.#left = this.#left.filter((left) => left !== said);
    return sound;
  }

  #unknown(prompt: Prompt, signal: AbortSignal): Sound | Promise<Sound> {
    if (this.#isCut) return never(signal);
    if (prompt.kind === 'audio') return { mulaw: prompt.mulaw, durationMs: prompt.mulaw.length / BYTES_PER_MS };
    if (this.#isFiller(prompt)) return undefined;
    for (const { prompts } of this.#options.turns) {
      const said = prompts.find((other) => isSame(other, prompt));
      if (said !== undefined && said.durationMs > 0) return silence(said.durationMs);
    }
    return silence(prompt.kind === 'text' ? prompt.text.length * this.#msPerCharacter : UNKNOWN_FILE_MS);
  }

  #soundOf({ sound, durationMs }: TurnPrompt['pieces'][number], prompt?: Prompt): PromptAudio {
    if (prompt?.kind === 'audio') return { mulaw: prompt.mulaw, durationMs: prompt.mulaw.length / BYTES_PER_MS };
    if (sound === undefined || isWithheld(sound)) return silence(durationMs);
    return { mulaw: this.#options.botSound.subarray(sound.from, sound.from + sound.bytes), durationMs };
  }

  /** The sound when it was ready. */
  async #later(said: TurnPrompt, sound: PromptAudio | undefined, signal: AbortSignal): Promise<Sound> {
    if (!(await this.#until(said.atMs, signal))) return undefined;
    // The engine may have asked for a filler, which it does not wait for; the bot may say the same.
    return typeof said.text === 'string' && this.#options.fillers.has(said.text) ? sound : this.#said(said, sound);
  }

  async *#inPieces(said: TurnPrompt, prompt: Prompt, signal: AbortSignal): AsyncGenerator<PromptAudio> {
    const isCutShort = this.#isCutShort(said, prompt);
    this.#said(said, undefined);
    for (const piece of said.pieces) {
      await this.#until(piece.atMs, signal);
      yield this.#soundOf(piece);
    }
    if (isCutShort) await never(signal);
  }

  #until(atMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const leftMs = atMs - clock.monotonicMs();
    return leftMs > 0 ? pause(leftMs, clock, signal) : Promise.resolve(true);
  }
}

function isSame({ text, source }: TurnPrompt, prompt: Prompt): boolean {
  switch (prompt.kind) {
    case 'text':
      return text === prompt.text;
    case 'file':
      return text === undefined && (source === undefined || source === prompt.file);
    case 'audio':
      return text === undefined && (source === undefined || source === soundDigest(prompt.mulaw));
  }
}

/** Comes when nobody wants it any more. */
function never(signal: AbortSignal): Promise<Sound> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => {
      resolve(undefined);
    });
  });
}

function silence(durationMs: number): PromptAudio {
  return { mulaw: new Uint8Array(Math.round(durationMs * BYTES_PER_MS)).fill(SILENCE), durationMs };
}
