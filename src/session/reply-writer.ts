// Turns prompts into outputs and hands them to the wire: the only code that waits for a slow reader. Knows nothing of
// bots; a turn that was interrupted gets its closing message and no more sound.
import type { Clock } from '../base/clock.ts';
import { waitAtMost } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { DeliveryMode, FinalNext, Output, PromptAudio, SpokenPrompt } from '../dialog/output.ts';
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
  /** Aborts when nobody can be spoken to any more; an interruption of the turn alone does not. */
  readonly signal: AbortSignal;
  /** The first sound of this turn is on the wire. */
  readonly onFirstAudio: () => void;
}

/** The mouth of one turn. */
export class ReplyWriter {
  readonly #options: ReplyWriterOptions;
  /** Prompts that travel with the final: all in WAV mode (G-41), those without sound in chunk mode (G-43). */
  #withFinal: SpokenPrompt[] = [];
  #hasSpoken = false;

  constructor(options: ReplyWriterOptions) {
    this.#options = options;
  }

  /** Speaks prompts ahead of the final; in WAV mode they are kept for it. @throws AppError `slow_reader`. */
  async speak(prompts: readonly Prompt[], uncut = false): Promise<void> {
    const { voice, signal } = this.#options;
    // All are asked for at once, so that the second is ready when the first has been sent.
    const sounds = prompts.map((prompt) => voice.render(prompt, signal));
    for (const [index, prompt] of prompts.entries()) {
      const sound = sounds[index];
      const audio = sound instanceof Promise ? await sound : sound;
      if (this.#isCut(uncut)) return;
      await this.#say({ audio, text: prompt.kind === 'text' ? prompt.text : undefined, bargeIn: prompt.bargeIn });
    }
  }

  /**
   * Speaks the rest and closes the turn's output with its one FINAL (G-14, G-43).
   *
   * @param uncut - terminal replies are spoken even when the caller talked over what came before (G-55).
   * @throws AppError `slow_reader`.
   */
  async finish(prompts: readonly Prompt[], next: FinalNext, uncut: boolean): Promise<void> {
    await this.speak(prompts, uncut);
    const { mode, playback, clock } = this.#options;
    const kept = this.#isCut(uncut) ? [] : this.#withFinal;
    for (const { audio, bargeIn } of kept) {
      if (audio !== undefined) playback.queued(audio.durationMs, bargeIn, clock.monotonicMs());
    }
    if (kept.some((prompt) => prompt.audio !== undefined)) this.#spoken();
    await this.#write({ kind: 'final', mode, prompts: kept, next });
  }

  async #say(prompt: SpokenPrompt): Promise<void> {
    const { audio, bargeIn } = prompt;
    if (!isSounding(prompt) || this.#options.mode === 'wav') {
      this.#withFinal.push(prompt);
      return;
    }
    this.#spoken();
    this.#options.playback.queued(audio?.durationMs ?? 0, bargeIn, this.#options.clock.monotonicMs());
    await this.#write({ kind: 'prompt', prompt });
  }

  #spoken(): void {
    if (this.#hasSpoken) return;
    this.#hasSpoken = true;
    this.#options.onFirstAudio();
  }

  #isCut(uncut: boolean): boolean {
    const { turn } = this.#options;
    return turn.state === 'done' || (turn.signal.aborted && !uncut);
  }

  async #write(output: Output): Promise<void> {
    const { turn, clock, slowReaderMs, signal } = this.#options;
    if (turn.write(output) || turn.state === 'done') return;
    const drained = new Promise<void>((resolve) => {
      turn.onceDrained(resolve);
    });
    const waited = await waitAtMost(drained, slowReaderMs, clock, signal);
    if (waited.kind === 'timeout') {
      throw new AppError('slow_reader', 'the client did not read its prompts in time', { details: { limitMs: slowReaderMs } });
    }
  }
}

function isSounding(prompt: SpokenPrompt): prompt is SpokenPrompt & { readonly audio: PromptAudio } {
  return prompt.audio !== undefined;
}
