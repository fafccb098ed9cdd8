// Recorded prompts: WAV files of one folder, converted to 8 kHz µ-law on first use. Opens nothing outside the folder,
// whatever name a bot gives. Knows nothing of bots and texts.
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import type { PromptAudio } from '../dialog/output.ts';
import { shownFile } from '../dialog/shown-file.ts';
import { LINE_RATE_HZ, MULAW_BYTES_PER_MS } from '../speech/audio-format.ts';
import { encodeMulaw } from '../speech/g711.ts';
import type { CreateResampler } from '../speech/resample.ts';
import { readWav, type MonoAudio } from '../speech/wav.ts';
import { MAX_PROMPT_MS, promptAudio } from './prompt-audio.ts';

/** Time between two checks of a loaded file for changes, ms. */
const TRUST_MS = 2000;
/** Approximate size of a cached failure, bytes. */
const FAILED_BYTES = 1000;

export interface PromptFilesOptions {
  readonly folder: string;
  readonly createResampler: CreateResampler;
  readonly clock: Clock;
  /** Longest recording, ms; default five minutes. */
  readonly maxDurationMs?: number;
  /** Largest file, bytes; default 64 MiB (five minutes of 44.1 kHz stereo are 53 MB). */
  readonly maxFileBytes?: number;
  /** Most bytes of loaded recordings, as µ-law; default 64 MiB. */
  readonly maxBytes?: number;
}

/** The cached state of one file name. */
interface Loaded {
  readonly audio: PromptAudio | AppError;
  /** Different after every change of the file. */
  readonly version: string;
  checkedMs: number;
}

/** The recordings of one folder. */
export class PromptFiles {
  readonly #options: Required<PromptFilesOptions>;
  readonly #loaded: LRUCache<string, Loaded>;
  readonly #loading = new Map<string, Promise<Loaded>>();

  constructor(options: PromptFilesOptions) {
    this.#options = { maxDurationMs: MAX_PROMPT_MS, maxFileBytes: 64 * 1024 * 1024, maxBytes: 64 * 1024 * 1024, ...options };
    this.#loaded = new LRUCache({
      maxSize: this.#options.maxBytes,
      sizeCalculation: ({ audio }) => FAILED_BYTES + (audio instanceof AppError ? 0 : audio.mulaw.length),
    });
  }

  /**
   * The audio of a recording; synchronous when it is loaded. After a change of the file, the old audio is played once more
   * while the new audio loads.
   *
   * @param file - a path below the folder, with `/` between its segments.
   * @throws AppError `prompt_unusable`, at once or as the rejection.
   */
  render(file: string): PromptAudio | Promise<PromptAudio> {
    const known = this.#loaded.get(file);
    if (known === undefined) return this.#load(file).then(audioOf);
    const isFresh = this.#options.clock.monotonicMs() - known.checkedMs < TRUST_MS;
    if (known.audio instanceof AppError && !isFresh) return this.#load(file).then(audioOf);
    if (!isFresh) void this.#load(file);
    return audioOf(known);
  }

  /** Never rejects: a failure is cached in place of the audio. */
  #load(file: string): Promise<Loaded> {
    let loading = this.#loading.get(file);
    if (loading === undefined) {
      loading = this.#read(file).then((loaded) => {
        this.#loading.delete(file);
        this.#loaded.set(file, loaded);
        return loaded;
      });
      this.#loading.set(file, loading);
    }
    return loading;
  }

  async #read(file: string): Promise<Loaded> {
    const checkedMs = this.#options.clock.monotonicMs();
    try {
      const path = await this.#pathOf(file);
      const { mtimeMs, size } = await stat(path);
      const version = `${path} ${String(mtimeMs)} ${String(size)}`;
      const known = this.#loaded.peek(file);
      if (known?.version === version) return { ...known, checkedMs };
      return { audio: promptAudio(await this.#decode(await this.#bytesOf(path))), version, checkedMs };
    } catch (cause) {
      return { audio: unusable(file, cause), version: '', checkedMs };
    }
  }

  async #pathOf(file: string): Promise<string> {
    const parts = file.split('/');
    if (
      isAbsolute(file) ||
      file.includes('\\') ||
      file.includes('\0') ||
      parts.some((part) => part === '' || part === '.' || part === '..')
    ) {
      throw new Reason('is not a path below the prompts folder');
    }
    const folder = await realpath(this.#options.folder);
    const path = await realpath(join(folder, ...parts));
    if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) throw new Reason('leads out of the prompts folder');
    return path;
  }

  async #bytesOf(path: string): Promise<Uint8Array> {
    // Does not block on a pipe, and follows no link that appeared after the check.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size, isFile } = await handle.stat().then((found) => ({ size: found.size, isFile: found.isFile() }));
      if (!isFile) throw new Reason('is not a file');
      if (size > this.#options.maxFileBytes) throw new Reason(`is larger than ${String(this.#options.maxFileBytes)} bytes`);
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  async #decode(bytes: Uint8Array): Promise<Uint8Array> {
    const recording = readWav(bytes);
    const { samples, sampleRateHz } = recording;
    if (samples.length === 0) throw new Reason('contains no audio');
    if (samples.length / sampleRateHz > this.#options.maxDurationMs / 1000) {
      throw new Reason(`is longer than ${String(this.#options.maxDurationMs)} ms`);
    }
    return sampleRateHz === LINE_RATE_HZ ? encodeMulaw(samples) : this.#resampled(recording);
  }

  /** Resamples one second of audio at a time, so that a long recording does not delay the calls. */
  async #resampled({ samples, sampleRateHz }: MonoAudio): Promise<Uint8Array> {
    const mulaw = new Uint8Array(Math.max(1, Math.round((samples.length / sampleRateHz) * 1000 * MULAW_BYTES_PER_MS)));
    const resampler = this.#options.createResampler(sampleRateHz, LINE_RATE_HZ);
    let at = 0;
    const append = (made: Int16Array): void => {
      const fitting = made.subarray(0, mulaw.length - at);
      encodeMulaw(fitting, mulaw.subarray(at, at + fitting.length));
      at += fitting.length;
    };
    try {
      for (let from = 0; from < samples.length; from += sampleRateHz) {
        append(resampler.push(samples.subarray(from, from + sampleRateHz)));
        await othersTurn();
      }
      append(resampler.flush());
    } finally {
      resampler.close();
    }
    return mulaw.subarray(0, at);
  }
}

/** Yields to the event loop. */
function othersTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Why a file is refused: completes a sentence that begins with the file's name. */
class Reason extends Error {}

function audioOf({ audio }: Loaded): PromptAudio {
  if (audio instanceof AppError) throw audio;
  return audio;
}

function unusable(file: string, cause: unknown): AppError {
  return new AppError('prompt_unusable', `the prompt file ${shownFile(file)} ${reasonOf(cause)}`, { cause });
}

function reasonOf(cause: unknown): string {
  if (cause instanceof Reason) return cause.message;
  if (cause instanceof AppError) return `is not usable: ${cause.message}`;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  return `cannot be read (${typeof code === 'string' ? code : 'unknown'})`;
}
