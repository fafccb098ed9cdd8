// The voice of the engine: a prompt of any kind becomes ready audio, or nothing. Whatever goes wrong below is reported
// here, once per cause, and never reaches a call as an error. Knows no wire.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { AppError, toAppError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { PromptAudio } from '../dialog/output.ts';
import type { Prompt } from '../dialog/reply.ts';
import type { PromptVoice, Sound } from '../session/ports.ts';
import { promptAudio } from './prompt-audio.ts';
import { PromptCache } from './prompt-cache.ts';
import { PromptFiles } from './prompt-files.ts';
import { PromptDiskCache } from './prompt-disk-cache.ts';
import type { Synthesizer } from './synthesizer.ts';
import { findSynthesizer, soundName, type SynthesizerChoice, type SynthesizerParts } from './synthesizers/find-synthesizer.ts';
import type { VoiceObserver } from './voice-observer.ts';

/** One cause is logged again after this long at the earliest, ms. */
const REPORT_MS = 60_000;
/** Letters of a silent text that are shown to the operator. */
const SHOWN_CHARS = 40;

/** What warming up has brought. */
export interface Warmth {
  /** How many of the texts have sound now. */
  readonly spoken: number;
  /** The beginnings of those that have none. */
  readonly silent: readonly string[];
}

/** What a voice is made of. */
export interface PromptVoiceOptions {
  readonly cache: PromptCache;
  readonly files: PromptFiles;
  readonly synthesizer: Synthesizer | undefined;
  readonly observer?: VoiceObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Speaks texts through the cache, plays files of the prompts folder and passes ready audio on. */
export class CachingPromptVoice implements PromptVoice {
  readonly #options: PromptVoiceOptions;
  /** Ready audio by the identity of its bytes, so that a transport can know again what it has sent before. */
  readonly #ready = new WeakMap<Uint8Array, PromptAudio>();
  readonly #reported = new LRUCache<string, { readonly atMs: number; unsaid: number }>({ max: 256 });

  constructor(options: PromptVoiceOptions) {
    this.#options = options;
  }

  get canSpeak(): boolean {
    return this.#options.synthesizer !== undefined;
  }

  /**
   * See the port: a text that is not there yet comes in pieces where the synthesizer can do that. Texts spoken here stay
   * in memory; only those given to {@link warm} may lie on disk.
   */
  render(prompt: Prompt, signal: AbortSignal): Sound | Promise<Sound> {
    if (prompt.kind === 'audio') return this.#passOn(prompt.mulaw);
    const { cache, files, synthesizer } = this.#options;
    if (prompt.kind === 'file') return this.#guarded('file', signal, () => files.render(prompt.file));
    if (synthesizer?.speaksInPieces !== true) return this.#guarded('text', signal, () => cache.render(prompt.text, signal));
    const sound = cache.stream(prompt.text, signal);
    return sound === undefined || 'mulaw' in sound ? sound : this.#guardedPieces(sound, signal);
  }

  /** See the port. */
  late(prompt: Prompt): void {
    if (prompt.kind === 'file') this.#report('file', new AppError('prompt_unusable', 'a recording was not read in time'));
    else this.#report('text', new AppError('synthesis_failed', 'the synthesizer took longer than a caller is kept waiting'));
  }

  /**
   * Speaks static texts ahead of the calls, one after the other so that a call's own text waits for one at most.
   *
   * @param texts - texts without any caller data: they may be stored on disk.
   * @param signal - stops it; texts not reached count as silent.
   * @returns what has sound and what has none; never throws.
   */
  async warm(texts: readonly string[], signal: AbortSignal): Promise<Warmth> {
    const silent: string[] = [];
    const unique = [...new Set(texts)];
    for (const text of unique) {
      this.#options.cache.announce(text);
      const sound = await this.#guarded('text', signal, () => this.#options.cache.render(text, signal));
      if (sound === undefined) silent.push(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
    }
    return { spoken: unique.length - silent.length, silent };
  }

  /**
   * Like {@link warm}, for the few texts that must be at hand at every moment: no other prompt pushes their sound out of
   * memory.
   */
  keep(texts: readonly string[], signal: AbortSignal): Promise<Warmth> {
    for (const text of texts) this.#options.cache.keep(text);
    return this.warm(texts, signal);
  }

  /** Stops the synthesizer and waits for what is being stored. */
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

  /** The same pieces; a failure is reported and ends them. Leaving takes effect at once, also while one is waited for. */
  #guardedPieces(sound: AsyncIterable<PromptAudio>, signal: AbortSignal): AsyncIterable<PromptAudio> {
    const over = { done: true, value: undefined } as const;
    return {
      [Symbol.asyncIterator]: () => {
        const pieces = sound[Symbol.asyncIterator]();
        return {
          next: () =>
            pieces.next().catch((thrown: unknown) => {
              if (!signal.aborted) this.#report('text', thrown);
              return over;
            }),
          return: async () => (await pieces.return?.()) ?? over,
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

/** The operator's choices for the voice. */
export interface VoiceSettings {
  readonly synthesizer: SynthesizerChoice;
  /** Keeps spoken prompts; undefined: nothing is kept on disk. */
  readonly cacheFolder: string | undefined;
  /** Most bytes of spoken prompts, in memory and on disk each. */
  readonly cacheMaxBytes: number;
  readonly promptsFolder: string;
}

/**
 * Builds the voice from settings. The synthesizer starts with the first text that must be spoken. The caller closes it.
 *
 * @throws AppError `config_invalid` for a service's address that is not safe, `synthesis_failed` for a broken package.
 */
export function openPromptVoice(settings: VoiceSettings, parts: SynthesizerParts): CachingPromptVoice {
  const { clock, log, createResampler, observer } = parts;
  const { cacheFolder, cacheMaxBytes: maxBytes } = settings;
  const synthesizer = findSynthesizer(settings.synthesizer, parts);
  const name = soundName(settings.synthesizer);
  // Without a chosen voice no stored prompt can be the right one.
  const disk =
    cacheFolder === undefined || name === undefined ? undefined : new PromptDiskCache({ folder: cacheFolder, maxBytes, clock, log });
  const cache = new PromptCache({ soundName: name ?? 'none', synthesizer, disk, maxBytes, clock, log });
  const files = new PromptFiles({ folder: settings.promptsFolder, createResampler, clock });
  return new CachingPromptVoice({ cache, files, synthesizer, clock, log, ...(observer === undefined ? {} : { observer }) });
}
