// Waiting for sound, whole or in pieces, never longer than a caller can be kept waiting.
import { waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { PromptAudio } from '../dialog/output.ts';
import type { Sound } from './ports.ts';

/** Longest wait for one sound or one piece of it, ms; beyond it a prompt travels as text. */
const SOUND_LIMIT_MS = 5000;

/** True for sound that is still being made. */
export function isStreamed(sound: Sound): sound is AsyncIterable<PromptAudio> {
  return sound !== undefined && Symbol.asyncIterator in sound;
}

/** What a voice has promised, or undefined when it does not come in time or is not wanted any more. */
export async function ready(sound: Sound | Promise<Sound>, clock: Clock, signal: AbortSignal): Promise<Sound> {
  if (!(sound instanceof Promise)) return sound;
  const waited = await waitAtMost(sound, SOUND_LIMIT_MS, clock, signal);
  return waited.kind === 'value' ? waited.value : undefined;
}

/** The pieces of one streamed sound. Whoever made it calls `close`. */
export class Pieces {
  readonly #iterator: AsyncIterator<PromptAudio>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;

  constructor(sound: AsyncIterable<PromptAudio>, clock: Clock, signal: AbortSignal) {
    this.#iterator = sound[Symbol.asyncIterator]();
    this.#clock = clock;
    this.#signal = signal;
  }

  /** The next piece; undefined when there is none, or when it does not come in time. */
  async next(): Promise<PromptAudio | undefined> {
    const waited = await waitAtMost(this.#iterator.next(), SOUND_LIMIT_MS, this.#clock, this.#signal);
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
