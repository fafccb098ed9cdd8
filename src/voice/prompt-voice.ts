// The voice of the engine: turns a prompt of any kind into ready audio, or none. Failures are reported here, once
// per cause, and never reach a call as an error. Knows no wire.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { PromptAudio } from '../dialog/output.ts';
import type { Prompt, Speech } from '../dialog/reply.ts';
import type { PromptVoice, Sound } from '../session/ports.ts';
import { promptAudio } from './prompt-audio.ts';
import { PromptCache } from './prompt-cache.ts';
import { PromptFiles } from './prompt-files.ts';
import { PromptDiskCache } from './prompt-disk-cache.ts';
import type { Synthesizer } from './synthesizer.ts';
import { findSynthesizer, soundNames, type SynthesizerChoice, type SynthesizerParts } from './synthesizers/find-synthesizer.ts';
import type { VoiceObserver } from './voice-observer.ts';

/** Shortest time between two log lines about one cause, ms. */
const REPORT_MS = 60_000;
const OVER = { done: true, value: undefined } as const;
/** Characters of a silent text that are shown to the operator. */
const SHOWN_CHARS = 40;

/** The result of {@link CachingPromptVoice.warm}. */
export interface Warmth {
  /** How many of the texts have audio. */
  readonly spoken: number;
  /** The beginnings of the texts without audio. */
  readonly silent: readonly string[];
}

export interface PromptVoiceOptions {
  readonly cache: PromptCache;
  readonly files: PromptFiles;
  readonly synthesizer: Synthesizer | undefined;
  readonly observer?: VoiceObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Speaks texts through the cache, plays files of the prompts folder, and passes ready audio through. */
export class CachingPromptVoice implements PromptVoice {
  readonly #options: PromptVoiceOptions;
  /** Ready audio by the identity of its bytes, so that a transport recognizes audio it has sent before. */
  readonly #ready = new WeakMap<Uint8Array, PromptAudio>();
  readonly #reported = new LRUCache<string, { readonly atMs: number; unsaid: number }>({ max: 256 });

  constructor(options: PromptVoiceOptions) {
    this.#options = options;
  }

  get canSpeak(): boolean {
    return this.#options.synthesizer !== undefined;
  }

  /**
   * See {@link PromptVoice.render}: a text that is not cached comes in pieces if the synthesizer can do that. Such texts stay in
   * memory; only texts given to {@link warm} may be stored on disk.
   */
  render(prompt: Prompt, signal: AbortSignal): Sound | Promise<Sound> {
    if (prompt.kind === 'audio') return this.#passOn(prompt.mulaw);
    const { cache, files, synthesizer } = this.#options;
    if (prompt.kind === 'file') return this.#guarded('file', signal, () => files.render(prompt.file));
    if (synthesizer?.speaksInPieces !== true) return this.#guarded('text', signal, () => cache.render(prompt, signal));
    const sound = cache.stream(prompt, signal);
    return sound === undefined || 'mulaw' in sound ? sound : this.#guardedPieces(sound, signal);
  }

  /** See {@link PromptVoice.late}. */
  late(prompt: Prompt): void {
    if (prompt.kind === 'file') this.#report('file', new AppError('prompt_unusable', 'a recording was not read in time'));
    else this.#report('text', new AppError('synthesis_failed', 'the synthesizer took too long for a waiting caller'));
  }

  /**
   * Speaks static texts before the calls come, one at a time, so that a call's own text waits for at most one of them.
   *
   * @param texts - without any caller data, because they may be stored on disk.
   * @param signal - stops the work; texts that were not reached count as silent.
   * @returns which texts have audio; never throws.
   */
  async warm(texts: readonly Speech[], signal: AbortSignal): Promise<Warmth> {
    const silent: string[] = [];
    const different = unique(texts);
    for (const speech of different) {
      const { text } = speech;
      this.#options.cache.announce(speech);
      const sound = await this.#guarded('text', signal, () => this.#options.cache.render(speech, signal));
      if (sound === undefined) silent.push(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
    }
    return { spoken: different.length - silent.length, silent };
  }

  /** Like {@link warm}, for the few texts that must always be ready: their audio is never evicted from memory. */
  keep(texts: readonly Speech[], signal: AbortSignal): Promise<Warmth> {
    for (const speech of texts) this.#options.cache.keep(speech);
    return this.warm(texts, signal);
  }

  /** Stops the synthesizer and waits for pending disk writes. */
  async close(): Promise<void> {
    await Promise.all([this.#options.cache.close(), this.#options.synthesizer?.close()]);
  }

  #passOn(mulaw: Uint8Array): PromptAudio | undefined {
    if (mulaw.length === 0) return undefined;
    let audio = this.#ready.get(mulaw);
    if (audio === undefined) {
      audio = promptAudio(mulaw);
      this.#ready.set(mulaw, audio);
    }
    return audio;
  }

  #guarded(
    kind: 'text' | 'file',
    signal: AbortSignal,
    render: () => PromptAudio | undefined | Promise<PromptAudio | undefined>,
  ): PromptAudio | undefined | Promise<PromptAudio | undefined> {
    const failed = (thrown: unknown): undefined => {
      if (!signal.aborted) this.#report(kind, thrown);
    };
    try {
      const sound = render();
      return sound instanceof Promise ? sound.catch(failed) : sound;
    } catch (thrown) {
      failed(thrown);
      return undefined;
    }
  }

  /** The same pieces; reports a failure and rethrows it. A reader may leave at any time, even during a wait. */
  #guardedPieces(sound: AsyncIterable<PromptAudio>, signal: AbortSignal): AsyncIterable<PromptAudio> {
    return {
      [Symbol.asyncIterator]: () => {
        const pieces = sound[Symbol.asyncIterator]();
        return {
          next: () =>
            pieces.next().catch((thrown: unknown) => {
              if (!signal.aborted) this.#report('text', thrown);
              throw thrown;
            }),
          return: async () => (await pieces.return?.()) ?? OVER,
        };
      },
    };
  }

  #report(kind: 'text' | 'file', thrown: unknown): void {
    const { clock, log, observer } = this.#options;
    const error = toAppError(thrown, kind === 'text' ? 'synthesis_failed' : 'prompt_unusable');
    try {
      observer?.promptFailed?.(kind, error.code);
    } catch (cause) {
      log.error({ err: cause }, 'an observer of the voice failed');
    }
    const cause = `${error.code} ${error.message}`;
    const last = this.#reported.get(cause);
    if (last !== undefined && clock.monotonicMs() - last.atMs < REPORT_MS) {
      last.unsaid += 1;
      return;
    }
    this.#reported.set(cause, { atMs: clock.monotonicMs(), unsaid: 0 });
    log.warn({ code: error.code, kind, unsaid: last?.unsaid ?? 0 }, `a prompt has no sound: ${error.message}`);
  }
}

/** The operator's settings of the voice. */
export interface VoiceSettings {
  readonly synthesizer: SynthesizerChoice;
  /** Folder of stored prompts; undefined: nothing is stored on disk. */
  readonly cacheFolder: string | undefined;
  /** Most bytes of prompts, in memory and again on disk. */
  readonly cacheMaxBytes: number;
  readonly promptsFolder: string;
}

/**
 * Builds the voice from settings. The synthesizer starts with the first text. The calling code closes the voice.
 *
 * @throws AppError `config_invalid` for an unsafe address of a service, `synthesis_failed` for a broken package.
 */
export function openPromptVoice(settings: VoiceSettings, parts: SynthesizerParts): CachingPromptVoice {
  const { clock, log, createResampler, observer } = parts;
  const { cacheFolder, cacheMaxBytes: maxBytes } = settings;
  const synthesizer = findSynthesizer(settings.synthesizer, parts);
  const soundName = soundNames(settings.synthesizer);
  // Without a configured voice no stored prompt has a matching key.
  const disk =
    cacheFolder === undefined || soundName === undefined ? undefined : new PromptDiskCache({ folder: cacheFolder, maxBytes, clock, log });
  const cache = new PromptCache({ soundName, synthesizer, disk, maxBytes, clock, log });
  const files = new PromptFiles({ folder: settings.promptsFolder, createResampler, clock });
  return new CachingPromptVoice({ cache, files, synthesizer, clock, log, ...(observer === undefined ? {} : { observer }) });
}

function unique(speeches: readonly Speech[]): readonly Speech[] {
  return [...new Map(speeches.map((speech) => [JSON.stringify([speech.text, speech.voice, speech.language]), speech])).values()];
}
