// A voice that plays the sounds of a recording, each ready at the same time as there. For a text that is not in the recording it
// only estimates the length.
import { pause } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { DeliveryMode, PromptAudio } from '../../dialog/output.ts';
import type { Prompt } from '../../dialog/reply.ts';
import type { PromptVoice, Sound } from '../../session/ports.ts';
import type { Recording } from '../recording.ts';
import { isWithheld, soundDigest } from '../redaction.ts';
import { isCut, type TurnRecord, type TurnPrompt } from './recorded-turns.ts';

/** Approximate time that a voice takes for one character, ms. */
const MS_PER_CHARACTER = 65;
/** Assumed length of a recording that was not played in the call, ms. */
const UNKNOWN_FILE_MS = 1000;
/** A prompt below this fraction of the estimated length of its text is incomplete. */
const CUT_SHORT = 0.85;
/** Largest distance of a filler from the recorded one, ms: timers of the recorded call may have been late. */
const FILLER_LATE_MS = 50;
const BYTES_PER_MS = 8;
const SILENCE = 0xff;

export interface RecordedVoiceOptions {
  readonly turns: readonly TurnRecord[];
  readonly botSound: Recording['botSound'];
  readonly mode: DeliveryMode;
  readonly clock: Clock;
  /** Fillers of the engine. They have a sound only where the recording has them. */
  readonly fillers: ReadonlySet<string>;
}

export class RecordedVoice implements PromptVoice {
  readonly canSpeak: boolean;
  readonly #options: RecordedVoiceOptions;
  #msPerCharacter = MS_PER_CHARACTER;
  /** The recorded form of the turn that is being answered, and its prompts that the bot has not said again yet. */
  #turn: TurnRecord | undefined;
  #left: TurnPrompt[] = [];
  /** Whether the rest of this turn's reply was dropped. */
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
    // Without a voice, no sound is sent before the end of a reply.
    this.canSpeak = options.mode === 'chunk' || texts.some(({ durationMs }) => durationMs > 0);
  }

  /** From now on the bot answers this turn; undefined: a turn that is not in the recording. */
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
    // The bot goes on as soon as a text is known to have no sound; the text is sent with the end of the reply.
    const isHeld = sound !== undefined || said === this.#turn?.prompts.at(-1);
    return isHeld && said.atMs > this.#options.clock.monotonicMs() ? this.#later(said, sound, signal) : this.#said(said, sound);
  }

  /** When the next prompt is due that the bot has not said again yet, ms. */
  get nextMs(): number {
    return this.#left.find((said) => !this.#asked.has(said))?.atMs ?? Infinity;
  }

  late(): void {
    // No synthesizer works ahead here.
  }

  /** Whether the caller interrupted the reply while the prompt was still being synthesized. */
  #isCutShort(said: TurnPrompt, prompt: Prompt): boolean {
    if (!this.#isCut || this.#turn?.prompts.at(-1) !== said || prompt.kind !== 'text') return false;
    return said.durationMs < CUT_SHORT * prompt.text.length * this.#msPerCharacter;
  }

  /** The sound of a filler that the recording has at this time; undefined when it has none. */
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

  /** Waits for the time at which the sound was ready in the recording, and returns the sound. */
  async #later(said: TurnPrompt, sound: PromptAudio | undefined, signal: AbortSignal): Promise<Sound> {
    if (!(await this.#until(said.atMs, signal))) return undefined;
    // The engine may have asked for a filler without waiting for it, and the bot may say the same text.
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

/** Resolves only when `signal` aborts. */
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
