// Waits for audio, whole or in pieces, for a limited time. Knows no wire and no reply.
import { waitAtMost, type AbortReason } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { PromptAudio } from '../../dialog/output.ts';
import type { Prompt, VoiceChoice } from '../../dialog/reply.ts';
import type { PromptVoice, Sound } from '../ports.ts';

/** Longest wait for a sound or a piece of one, ms; after it a prompt is sent as text, or ends early. */
const SOUND_LIMIT_MS = 5000;
/** For texts after a late one, of which only cached audio is used. */
const GIVEN_UP = AbortSignal.abort('deadline' satisfies AbortReason);

/** The requested sounds of prompts; some may still be pending. */
export type Sounds = readonly (Sound | Promise<Sound>)[];

/** Whether a sound is still being synthesized. */
export function isStreamed(sound: Sound): sound is AsyncIterable<PromptAudio> {
  return sound !== undefined && Symbol.asyncIterator in sound;
}

/** A prompt with the bot's choice of voice and language. A text in another language does not take the bot's voice. */
export function spokenBy(prompt: Prompt, bot: VoiceChoice): Prompt {
  return prompt.kind === 'text' && prompt.language === undefined ? { ...bot, ...prompt } : prompt;
}

/**
 * The sounds of one turn. After one late text, no further text is awaited, and likewise for recordings: a caller should hear one
 * long silence, not one per sentence.
 */
export class TurnSounds {
  readonly #voice: PromptVoice;
  readonly #clock: Clock;
  readonly #choice: VoiceChoice;
  readonly #late = new Set<Prompt['kind']>();
  /** The sounds that {@link TurnSounds.prepare} or {@link TurnSounds.areMute} requested. */
  #prepared: { readonly prompts: readonly Prompt[]; readonly sounds: Sounds } | undefined;

  /** @param choice - the bot's voice and language, for texts without their own. */
  constructor(voice: PromptVoice, clock: Clock, choice: VoiceChoice) {
    this.#voice = voice;
    this.#clock = clock;
    this.#choice = choice;
  }

  /** Requests all sounds at once; {@link TurnSounds.ready} waits for each. */
  ask(prompts: readonly Prompt[], signal: AbortSignal): Sounds {
    const prepared = this.#prepared;
    if (prepared?.prompts === prompts) {
      this.#prepared = undefined;
      return prepared.sounds;
    }
    return prompts.map((prompt) =>
      this.#voice.render(spokenBy(prompt, this.#choice), prompt.kind === 'text' && this.#late.has('text') ? GIVEN_UP : signal),
    );
  }

  /** Requests sounds now, which {@link TurnSounds.ask} returns later for the very same prompts. */
  prepare(prompts: readonly Prompt[], signal: AbortSignal): void {
    try {
      this.#prepared = { prompts, sounds: this.ask(prompts, signal) };
    } catch {
      // A defect of the voice, which the later `ask` throws again.
    }
  }

  /** Whether none of these recordings has audio; requests all and waits for the first one with audio. */
  async areMute(recordings: readonly Prompt[], signal: AbortSignal): Promise<boolean> {
    const sounds = [...this.ask(recordings, signal)];
    this.#prepared = { prompts: recordings, sounds };
    for (const [index, prompt] of recordings.entries()) {
      const sound = await this.#waitedFor(prompt, sounds[index], signal);
      if (sound !== undefined || signal.aborted) return false;
      sounds[index] = undefined;
    }
    return true;
  }

  /**
   * The requested sound, whole or in pieces that the calling code closes. Undefined when there is none, it is late, or no longer wanted.
   */
  async ready(prompt: Prompt, sound: Sound | Promise<Sound>, signal: AbortSignal): Promise<PromptAudio | Pieces | undefined> {
    const made = await this.#waitedFor(prompt, sound, signal);
    if (!isStreamed(made)) return made;
    return signal.aborted ? undefined : new Pieces(made, this.#clock, signal);
  }

  async #waitedFor(prompt: Prompt, sound: Sound | Promise<Sound>, signal: AbortSignal): Promise<Sound> {
    const isLate = this.#late.has(prompt.kind);
    if (sound instanceof Promise) {
      // A sound requested earlier may be ready.
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

  /** Notes a late sound and notifies the voice. */
  giveUp(prompt: Prompt): void {
    this.#late.add(prompt.kind);
    this.#voice.late(prompt);
  }
}

/** The pieces of one streamed sound. The creator calls `close`. */
export class Pieces {
  readonly #iterator: AsyncIterator<PromptAudio>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #isLate = false;
  #hasFailed = false;

  constructor(sound: AsyncIterable<PromptAudio>, clock: Clock, signal: AbortSignal) {
    this.#iterator = sound[Symbol.asyncIterator]();
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Whether a piece was late. */
  get isLate(): boolean {
    return this.#isLate;
  }

  /** Whether the pieces ended before the sound was complete. */
  get breaksOff(): boolean {
    return this.#isLate || this.#hasFailed;
  }

  /** The next piece; undefined at the end, or when the sound breaks off. */
  async next(): Promise<PromptAudio | undefined> {
    const failed = (): IteratorResult<PromptAudio> => {
      this.#hasFailed = true;
      return { done: true, value: undefined };
    };
    const waited = await waitAtMost(this.#iterator.next().catch(failed), SOUND_LIMIT_MS, this.#clock, this.#signal);
    this.#isLate ||= waited.kind === 'timeout';
    return waited.kind === 'value' && waited.value.done !== true ? waited.value.value : undefined;
  }

  /** The remaining pieces as one sound; undefined when there are none. */
  async whole(): Promise<PromptAudio | undefined> {
    const pieces: PromptAudio[] = [];
    for (let piece = await this.next(); piece !== undefined; piece = await this.next()) pieces.push(piece);
    if (pieces.length === 0) return undefined;
    return {
      mulaw: Buffer.concat(pieces.map(({ mulaw }) => mulaw)),
      durationMs: pieces.reduce((sum, { durationMs }) => sum + durationMs, 0),
    };
  }

  /** Cancels the synthesis; does not wait for its end. */
  close(): void {
    this.#iterator.return?.().catch(() => undefined);
  }
}
