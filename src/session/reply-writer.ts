// Turns prompts into outputs and hands them to the wire: the only code that waits for a slow reader. Knows nothing of
// bots; a turn that was interrupted gets its closing message and no more sound.
import type { Clock } from '../base/clock.ts';
import { waitAtMost } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { DeliveryMode, FinalNext, PromptAudio, SpokenPrompt } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { Playback } from './heard.ts';
import type { PromptVoice } from './ports.ts';
import type { Turn } from './turn.ts';

/** What a writer needs; `slowReaderMs` bounds each wait for the client to read. */
export interface ReplyWriterOptions {
  readonly turn: Turn;
  readonly mode: DeliveryMode;
  readonly voice: PromptVoice;
  readonly playback: Playback;
  readonly clock: Clock;
  readonly slowReaderMs: number;
  /** The first sound of this turn is on the wire. */
  readonly onFirstAudio: () => void;
}

/** The mouth of one turn. */
export class ReplyWriter {
  readonly #options: ReplyWriterOptions;
  /** Prompts that travel with the final: all in WAV mode (G-41), those without sound in chunk mode (G-43). */
  readonly #withFinal: SpokenPrompt[] = [];
  #hasSpoken = false;
  #lastBargeIn = false;

  constructor(options: ReplyWriterOptions) {
    this.#options = options;
  }

  /**
   * Speaks prompts ahead of the final; in WAV mode they are kept for it. Says nothing more once the turn is interrupted.
   *
   * @throws AppError `slow_reader`.
   */
  speak(prompts: readonly Prompt[]): Promise<void> {
    return this.#speak(prompts, this.#options.turn.signal);
  }

  /**
   * Speaks the rest and writes the turn's one FINAL (G-14, G-43).
   *
   * @param isTerminal - the caller cannot cut such prompts, and hears them even after talking over what came before (G-55).
   * @throws AppError `slow_reader`.
   */
  async finish(prompts: readonly Prompt[], next: FinalNext, isTerminal: boolean): Promise<void> {
    const { turn, mode, playback, clock } = this.#options;
    const unwanted = isTerminal ? turn.over : turn.signal;
    await this.#speak(isTerminal ? prompts.map(uncuttable) : prompts, unwanted);
    const kept = unwanted.aborted ? [] : isTerminal ? this.#withFinal.map(uncuttable) : this.#withFinal;
    for (const { audio, bargeIn } of kept) {
      if (audio !== undefined) playback.queued(audio.durationMs, bargeIn, clock.monotonicMs());
    }
    if (kept.some((prompt) => prompt.audio !== undefined)) this.#spoken();
    turn.holdsFloor = false;
    // Nothing follows, so nobody waits until the client has read it.
    turn.write({ kind: 'final', mode, prompts: kept, next, bargeIn: this.#lastBargeIn && !isTerminal });
  }

  async #speak(prompts: readonly Prompt[], unwanted: AbortSignal): Promise<void> {
    const { turn, voice, clock } = this.#options;
    // All are asked for at once, so that the second is ready when the first has been sent.
    const sounds = prompts.map((prompt) => voice.render(prompt, unwanted));
    for (const [index, prompt] of prompts.entries()) {
      turn.holdsFloor = prompts.slice(index).some((left) => !left.bargeIn);
      const sound = sounds[index];
      // The voice's own bound would let the next input wait for a sound that nobody wants any more.
      const audio = sound instanceof Promise ? await valueUnlessAborted(sound, clock, unwanted) : sound;
      if (unwanted.aborted) break;
      await this.#say({ audio, text: prompt.kind === 'text' ? prompt.text : undefined, bargeIn: prompt.bargeIn }, unwanted);
    }
    turn.holdsFloor = false;
  }

  async #say(prompt: SpokenPrompt, unwanted: AbortSignal): Promise<void> {
    const { audio, bargeIn } = prompt;
    // A recording that cannot be played has no text to fall back to.
    if (audio === undefined && prompt.text === undefined) return;
    if (!isSounding(prompt) || this.#options.mode === 'wav') {
      this.#withFinal.push(prompt);
      return;
    }
    this.#spoken();
    this.#lastBargeIn = bargeIn;
    this.#options.playback.queued(audio?.durationMs ?? 0, bargeIn, this.#options.clock.monotonicMs());
    if (!this.#options.turn.write({ kind: 'prompt', prompt })) await this.#drained(unwanted);
  }

  #spoken(): void {
    if (this.#hasSpoken) return;
    this.#hasSpoken = true;
    this.#options.onFirstAudio();
  }

  async #drained(unwanted: AbortSignal): Promise<void> {
    const { turn, clock, slowReaderMs } = this.#options;
    const drained = new Promise<void>((resolve) => {
      turn.onceDrained(resolve);
    });
    const waited = await waitAtMost(drained, slowReaderMs, clock, unwanted);
    if (waited.kind === 'timeout') {
      throw new AppError('slow_reader', 'the client did not read its prompts in time', { details: { limitMs: slowReaderMs } });
    }
  }
}

/** Longest wait for one sound, ms; beyond it the prompt travels as text. Above what the voice allows itself. */
const SOUND_LIMIT_MS = 15_000;

async function valueUnlessAborted<T>(work: Promise<T>, clock: Clock, signal: AbortSignal): Promise<T | undefined> {
  const waited = await waitAtMost(work, SOUND_LIMIT_MS, clock, signal);
  return waited.kind === 'value' ? waited.value : undefined;
}

function isSounding(prompt: SpokenPrompt): prompt is SpokenPrompt & { readonly audio: PromptAudio } {
  return prompt.audio !== undefined;
}

function uncuttable<P extends { readonly bargeIn: boolean }>(prompt: P): P {
  return prompt.bargeIn ? { ...prompt, bargeIn: false } : prompt;
}
