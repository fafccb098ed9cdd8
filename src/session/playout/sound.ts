// Waiting for sound, whole or in pieces, never longer than a caller can be kept waiting. Knows no wire and no reply.
import { waitAtMost, type AbortReason } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { PromptAudio } from '../../dialog/output.ts';
import type { Prompt } from '../../dialog/reply.ts';
import type { PromptVoice, Sound } from '../ports.ts';

/** Longest wait for one sound or one piece of it, ms; beyond it a prompt travels as text, or ends where it is. */
const SOUND_LIMIT_MS = 5000;
/** For texts whose sound would come too late anyway: what is at hand is played, and nothing is made. */
const GIVEN_UP = AbortSignal.abort('deadline' satisfies AbortReason);

/** True for sound that is still being made. */
export function isStreamed(sound: Sound): sound is AsyncIterable<PromptAudio> {
  return sound !== undefined && Symbol.asyncIterator in sound;
}

/**
 * The sounds of one turn. Once one was late, nothing of its kind is waited for any more: a caller bears one such silence,
 * and not one per sentence.
 */
export class TurnSounds {
  readonly #voice: PromptVoice;
  readonly #clock: Clock;
  readonly #late = new Set<Prompt['kind']>();
  /** What {@link TurnSounds.areMute} has asked for already. */
  #asked: { readonly prompts: readonly Prompt[]; readonly sounds: readonly (Sound | Promise<Sound>)[] } | undefined;

  constructor(voice: PromptVoice, clock: Clock) {
    this.#voice = voice;
    this.#clock = clock;
  }

  /** Asks the voice for sounds, all at once; {@link TurnSounds.ready} waits for each. */
  ask(prompts: readonly Prompt[], signal: AbortSignal): readonly (Sound | Promise<Sound>)[] {
    if (this.#asked?.prompts === prompts) return this.#asked.sounds;
    return prompts.map((prompt) => this.#voice.render(prompt, prompt.kind === 'text' && this.#late.has('text') ? GIVEN_UP : signal));
  }

  /** Whether none of these recordings has a sound; asks for them, and waits for the first that has one. */
  async areMute(recordings: readonly Prompt[], signal: AbortSignal): Promise<boolean> {
    const sounds = [...this.ask(recordings, signal)];
    this.#asked = { prompts: recordings, sounds };
    for (const [index, prompt] of recordings.entries()) {
      const sound = await this.#waitedFor(prompt, sounds[index], signal);
      if (sound !== undefined || signal.aborted) return false;
      sounds[index] = undefined;
    }
    return true;
  }

  /**
   * What the voice has promised, whole or in pieces, which the caller closes; undefined when there is none, or it does not come in
   * time, or is not wanted any more.
   */
  async ready(prompt: Prompt, sound: Sound | Promise<Sound>, signal: AbortSignal): Promise<PromptAudio | Pieces | undefined> {
    const made = await this.#waitedFor(prompt, sound, signal);
    if (!isStreamed(made)) return made;
    return signal.aborted ? undefined : new Pieces(made, this.#clock, signal);
  }

  async #waitedFor(prompt: Prompt, sound: Sound | Promise<Sound>, signal: AbortSignal): Promise<Sound> {
    const isLate = this.#late.has(prompt.kind);
    if (sound instanceof Promise) {
      // What was asked for in time may be there by now.
      const waited = await waitAtMost(sound, isLate ? 0 : SOUND_LIMIT_MS, this.#clock, signal);
      if (waited.kind === 'value') return waited.value;
      if (waited.kind === 'timeout') this.giveUp(prompt);
      return undefined;
    }
    if (!isLate || prompt.kind !== 'text' || (sound !== undefined && !isStreamed(sound))) return sound;
    if (isStreamed(sound)) new Pieces(sound, this.#clock, signal).close();
    this.giveUp(prompt);
    return undefined;
  }

  /** A sound was late; the observer is notified. */
  giveUp(prompt: Prompt): void {
    this.#late.add(prompt.kind);
    this.#voice.late(prompt);
  }
}

/** The pieces of one streamed sound. Whoever made it calls `close`. */
export class Pieces {
  readonly #iterator: AsyncIterator<PromptAudio>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #isLate = false;

  constructor(sound: AsyncIterable<PromptAudio>, clock: Clock, signal: AbortSignal) {
    this.#iterator = sound[Symbol.asyncIterator]();
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Whether a piece did not come in time. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** The next piece; undefined when there is none, or when it does not come in time. */
  async next(): Promise<PromptAudio | undefined> {
    const waited = await waitAtMost(this.#iterator.next(), SOUND_LIMIT_MS, this.#clock, this.#signal);
    this.#isLate ||= waited.kind === 'timeout';
    return waited.kind === 'value' && waited.value.done !== true ? waited.value.value : undefined;
  }

  /** All that is left as one sound; undefined when there is none. */
  async whole(): Promise<PromptAudio | undefined> {
    const pieces: PromptAudio[] = [];
    for (let piece = await this.next(); piece !== undefined; piece = await this.next()) pieces.push(piece);
    if (pieces.length === 0) return undefined;
    return {
      mulaw: Buffer.concat(pieces.map(({ mulaw }) => mulaw)),
      durationMs: pieces.reduce((sum, { durationMs }) => sum + durationMs, 0),
    };
  }

  /** Tells the maker that no more is wanted; does not wait for it. */
  close(): void {
    this.#iterator.return?.().catch(() => undefined);
  }
}
