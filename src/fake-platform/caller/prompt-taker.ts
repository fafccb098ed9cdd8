// Queues the prompts of an answer on the playback clock and records what was said on which RPC.
import { AppError } from '../../base/errors.ts';
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import type { Answer, AnswerPrompt } from './answer.ts';
import type { Playback } from './playback.ts';
import { promptSound, type ChangeRate } from './prompt-sound.ts';
import type { Timeline } from './timeline.ts';
import type { Turn } from './turn.ts';

/** What to keep of the sound of replies: nothing, facts about it ({@link SoundFacts}), or facts and all samples. */
export type ReplySoundWish = 'none' | 'facts' | 'samples';

export class PromptTaker {
  readonly #playback: Playback;
  readonly #timeline: Timeline;
  readonly #changeRate: ChangeRate | undefined;
  readonly #wish: ReplySoundWish;

  constructor(playback: Playback, timeline: Timeline, changeRate: ChangeRate | undefined, wish: ReplySoundWish = 'none') {
    this.#playback = playback;
    this.#timeline = timeline;
    this.#changeRate = changeRate;
    this.#wish = wish;
  }

  /**
   * Queues all prompts of an answer in order (G-22). Prompts of an RPC that the caller interrupted are dropped.
   *
   * @returns what went wrong: `unplayable` says why; `isFull` when the server sent more than can be queued.
   */
  take(turn: Turn, { prompts, type, playsOn = false }: Answer): { readonly unplayable?: string; readonly isFull?: boolean } {
    let unplayable: string | undefined;
    for (const prompt of prompts) {
      if (turn.isInterrupted) continue;
      turn.noteTexts([prompt.text]);
      // The closing FINAL of a stream may carry an empty prompt (G-43).
      if (isEmpty(prompt)) continue;
      const samples = this.#samples(prompt);
      if (typeof samples === 'string') {
        unplayable = samples;
        continue;
      }
      const audioMs = samples.length / (LINE_RATE_HZ / 1000);
      // To the caller, several chunks are one prompt.
      const isMore = type === 'chunk' && turn.prompts > 0;
      if (!isMore) turn.prompts += 1;
      turn.audioMs += audioMs;
      if (this.#wish !== 'none') turn.noteSound(samples, this.#wish === 'samples');
      const latencyMs = turn.noteReply();
      if (!isMore)
        this.#timeline.add('server', 'prompt', { turn: turn.id, detail: describe(prompt, audioMs, type === 'chunk'), latencyMs });
      const isCancellable = type === 'partial' && !playsOn;
      if (!this.#playback.play({ turn: turn.id, samples, bargeIn: prompt.bargeIn, isCancellable })) return { isFull: true };
    }
    return unplayable === undefined ? {} : { unplayable };
  }

  #samples({ audio }: AnswerPrompt): Int16Array | string {
    try {
      return promptSound(audio, this.#changeRate);
    } catch (error) {
      if (error instanceof AppError) return error.message;
      throw error;
    }
  }
}

function isEmpty({ audio, text, uri }: AnswerPrompt): boolean {
  return audio.length === 0 && text === '' && uri === '';
}

function describe({ text, uri, audio, bargeIn }: AnswerPrompt, audioMs: number, isStream: boolean): string {
  const sound = audio.length === 0 ? 'no sound' : isStream ? 'streamed' : `${(audioMs / 1000).toFixed(1)} s`;
  return [text === '' ? '' : `"${text}"`, uri === '' ? '' : `at ${uri}`, sound, bargeIn ? 'barge-in' : '']
    .filter((part) => part !== '')
    .join(', ');
}
