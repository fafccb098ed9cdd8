// Text to audio, synthesized once and cached in memory and on disk. A text may contain something that a caller said or pressed: only
// texts that were announced as static are stored on disk, texts that must not be cached are not kept at all, and no text is
// logged or used as a key. Keys are hashes.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { linkAbort, type LinkedAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { PromptAudio } from '../dialog/output.ts';
import type { Speech } from '../dialog/reply.ts';
import { LINE_RATE_HZ } from '../speech/audio-format.ts';
import { GrowingPrompt } from './growing-prompt.ts';
import { promptAudio } from './prompt-audio.ts';
import type { PromptDiskCache } from './prompt-disk-cache.ts';
import type { Synthesizer } from './synthesizer.ts';

/** Most announced texts; further ones stay in memory only. */
const MAX_ANNOUNCED = 10_000;
/** Most texts that are never evicted. */
const MAX_KEPT = 64;
/** Approximate overhead of a cached prompt, bytes. */
const ENTRY_BYTES = 300;

export interface PromptCacheOptions {
  /** Identifies the sound of a text, also when the synthesizer's package is missing; part of every key. Undefined without a synthesizer. */
  readonly soundName: ((speech: Speech) => string) | undefined;
  /** Undefined: only prompts stored on disk can be played. */
  readonly synthesizer: Synthesizer | undefined;
  /** Undefined: nothing is stored on disk. */
  readonly disk: PromptDiskCache | undefined;
  /** Most bytes of audio in memory; default 64 MiB. */
  readonly maxBytes?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A prompt that is being synthesized, with its waiting readers. */
interface Pending {
  /** The prompt in pieces, for readers that do not wait for the whole. */
  readonly growing: GrowingPrompt;
  readonly sound: Promise<PromptAudio | undefined>;
  readonly abort: LinkedAbort;
  waiting: number;
}

/** Synthesizes every text once. */
export class PromptCache {
  readonly #options: PromptCacheOptions;
  readonly #memory: LRUCache<string, PromptAudio>;
  /** Sounds that are never evicted; undefined until they are synthesized. */
  readonly #kept = new Map<string, PromptAudio | undefined>();
  readonly #announced = new Set<string>();
  readonly #pending = new Map<string, Pending>();
  readonly #storing = new Set<Promise<void>>();

  constructor(options: PromptCacheOptions) {
    this.#options = options;
    this.#memory = new LRUCache({
      maxSize: options.maxBytes ?? 64 * 1024 * 1024,
      sizeCalculation: ({ mulaw }) => mulaw.length + ENTRY_BYTES,
    });
  }

  /** Declares a text as static: it contains no caller data and may be stored on disk. */
  announce(speech: Speech): void {
    const key = this.#keyOf(speech);
    if (this.#announced.has(key) || this.#announced.size >= MAX_ANNOUNCED) return;
    this.#announced.add(key);
    const audio = this.#kept.get(key) ?? this.#memory.peek(key);
    if (audio !== undefined) this.#store(key, audio);
  }

  /**
   * Declares a static text whose audio is never evicted, and announces it. Beyond 64 such texts, further ones are only
   * announced.
   */
  keep(speech: Speech): void {
    this.announce(speech);
    const key = this.#keyOf(speech);
    if (this.#kept.has(key) || this.#kept.size >= MAX_KEPT) return;
    this.#kept.set(key, this.#memory.peek(key));
  }

  /**
   * The audio of a text; synchronous when it is in memory. Concurrent requests for one text share the work.
   *
   * @returns undefined without a synthesizer, or when `signal` aborts. The synthesis goes on while anyone waits for it.
   * @throws AppError `synthesis_failed` as the rejection.
   */
  render(speech: Speech, signal: AbortSignal): PromptAudio | undefined | Promise<PromptAudio | undefined> {
    const key = this.#keyOf(speech);
    const ready = this.#kept.get(key) ?? this.#memory.get(key);
    if (ready !== undefined) return ready;
    if (signal.aborted || !this.#canMake(key)) return undefined;
    const pending = this.#pending.get(key) ?? this.#begin(key, speech, false);
    return new Promise((resolve, reject) => {
      const leave = this.#join(key, pending, signal, () => {
        resolve(undefined);
      });
      pending.sound.finally(leave).then(resolve, reject);
    });
  }

  /**
   * Like {@link render}, but a text that is not in memory comes in pieces during its synthesis; later readers get all
   * pieces, too. After pieces that end without a failure, the whole audio is in memory, unless the text must not be cached.
   *
   * @returns pieces that can be read once. They end early when `signal` aborts or the reader leaves, and throw
   * AppError `synthesis_failed`.
   */
  stream(speech: Speech, signal: AbortSignal): PromptAudio | undefined | AsyncIterable<PromptAudio> {
    const key = this.#keyOf(speech);
    const ready = this.#kept.get(key) ?? this.#memory.get(key);
    if (ready !== undefined) return ready;
    if (signal.aborted || !this.#canMake(key)) return undefined;
    const pending = this.#pending.get(key) ?? this.#begin(key, speech, true);
    // Joins now and not with the first read: the reader may wait for something else first.
    const leave = this.#join(key, pending, signal, () => undefined);
    pending.sound.then(leave, leave);
    return pending.growing.read(signal, leave);
  }

  /** Waits for pending disk writes. Does not close the synthesizer: its creator does. */
  async close(): Promise<void> {
    for (const pending of this.#pending.values()) pending.abort.abort('shutdown');
    await Promise.all(this.#storing);
  }

  #canMake(key: string): boolean {
    return this.#options.synthesizer !== undefined || (this.#options.disk !== undefined && this.#announced.has(key));
  }

  #begin(key: string, speech: Speech, inPieces: boolean): Pending {
    const abort = linkAbort();
    const growing = new GrowingPrompt();
    const onPiece = (mulaw: Uint8Array): void => {
      growing.add(promptAudio(mulaw));
    };
    const sound = this.#make(key, speech, abort.signal, inPieces ? onPiece : undefined).finally(() => {
      if (this.#pending.get(key)?.abort === abort) this.#pending.delete(key);
    });
    // Also handles a failure after the last reader has left.
    sound.then(
      (audio) => {
        growing.finish(audio);
      },
      (thrown: unknown) => {
        growing.fail(thrown);
      },
    );
    const pending = { growing, sound, abort, waiting: 0 };
    this.#pending.set(key, pending);
    return pending;
  }

  async #make(
    key: string,
    speech: Speech,
    signal: AbortSignal,
    onPiece: ((mulaw: Uint8Array) => void) | undefined,
  ): Promise<PromptAudio | undefined> {
    const { synthesizer, disk, clock, log } = this.#options;
    const stored = this.#announced.has(key) ? await disk?.read(key) : undefined;
    if (stored !== undefined) return this.#remember(key, stored);
    if (synthesizer === undefined) return undefined;
    const startedMs = clock.monotonicMs();
    const mulaw = await synthesizer.speak(speech, signal, onPiece);
    const isStatic = this.#announced.has(key);
    const audio = isStatic || speech.cache !== false ? this.#remember(key, mulaw) : promptAudio(mulaw);
    // Only static texts are named: the hash of a text with a PIN can be reversed by trying all PINs.
    const name = isStatic ? { key: key.slice(0, 8), chars: speech.text.length } : {};
    log.debug({ ...name, tookMs: Math.round(clock.monotonicMs() - startedMs) }, 'synthesized a prompt');
    if (isStatic) this.#store(key, audio);
    return audio;
  }

  #remember(key: string, mulaw: Uint8Array): PromptAudio {
    const audio = promptAudio(mulaw);
    if (this.#kept.has(key)) this.#kept.set(key, audio);
    else this.#memory.set(key, audio);
    return audio;
  }

  #store(key: string, audio: PromptAudio): void {
    const { disk } = this.#options;
    if (disk === undefined) return;
    const stored = disk.write(key, audio.mulaw).finally(() => this.#storing.delete(stored));
    this.#storing.add(stored);
  }

  /** Adds a waiting reader. Returns a function that removes it; an abort removes it as well and calls `onAbort`. */
  #join(key: string, pending: Pending, signal: AbortSignal, onAbort: () => void): () => void {
    pending.waiting += 1;
    let isHere = true;
    const leave = (): void => {
      if (!isHere) return;
      isHere = false;
      signal.removeEventListener('abort', aborted);
      pending.waiting -= 1;
      // Finished work is no longer listed.
      if (pending.waiting > 0 || this.#pending.get(key) !== pending) return;
      // The next request starts anew instead of joining aborted work.
      this.#pending.delete(key);
      pending.abort.abort('superseded');
    };
    const aborted = (): void => {
      leave();
      onAbort();
    };
    signal.addEventListener('abort', aborted, { once: true });
    return leave;
  }

  #keyOf(speech: Speech): string {
    return createHash('sha256')
      .update(JSON.stringify([this.#options.soundName?.(speech) ?? 'none', LINE_RATE_HZ, speech.text]))
      .digest('hex');
  }
}
