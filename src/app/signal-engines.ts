// Loads the two WASM modules of the speech room once and checks their exports.
import loadFvad from '@echogarden/fvad-wasm';
import loadSpeex from '@echogarden/speex-resampler-wasm/simd';
import { AppError } from '../base/errors.ts';
import type { SignalEngines } from '../speech/engines.ts';
import { resamplerMaker, type SpeexModule } from '../speech/resample.ts';
import { detectorMaker, type FvadModule } from '../speech/vad.ts';

/** The two compiled modules. */
export interface SignalModules {
  readonly fvad: FvadModule;
  readonly speex: SpeexModule;
}

/**
 * Loads detector and resampler. They live as long as the process.
 *
 * @throws AppError `internal` when an installed package has other exports than expected.
 */
export function loadSignalEngines(): Promise<SignalEngines> {
  engines ??= loadSignalModules().then(
    ({ fvad, speex }) => ({ createDetector: detectorMaker(fvad), createResampler: resamplerMaker(speex) }),
    (thrown: unknown) => {
      // The next server of this process tries again.
      engines = undefined;
      throw thrown;
    },
  );
  return engines;
}

/** One pair for all servers of a process, because each module takes 34 MB of memory. */
let engines: Promise<SignalEngines> | undefined;

/** The modules themselves, to observe their memory. @throws as {@link loadSignalEngines}. */
export async function loadSignalModules(): Promise<SignalModules> {
  const [fvad, speex] = await Promise.all([loadFvad(), loadSpeex()]);
  if (!isFvad(fvad)) throw unexpected('@echogarden/fvad-wasm');
  if (!isSpeex(speex)) throw unexpected('@echogarden/speex-resampler-wasm');
  return { fvad, speex };
}

function isFvad(module: unknown): module is FvadModule {
  return hasView(module, 'HEAP16', Int16Array) && FVAD_FUNCTIONS.every((name) => hasFunction(module, name));
}

function isSpeex(module: unknown): module is SpeexModule {
  return (
    hasView(module, 'HEAP16', Int16Array) &&
    hasView(module, 'HEAPU32', Uint32Array) &&
    SPEEX_FUNCTIONS.every((name) => hasFunction(module, name))
  );
}

const FVAD_FUNCTIONS = [
  '_malloc',
  '_fvad_new',
  '_fvad_free',
  '_fvad_reset',
  '_fvad_set_mode',
  '_fvad_set_sample_rate',
  '_fvad_process',
] as const satisfies readonly (keyof FvadModule)[];

const SPEEX_FUNCTIONS = [
  '_malloc',
  '_speex_resampler_init',
  '_speex_resampler_skip_zeros',
  '_speex_resampler_reset_mem',
  '_speex_resampler_get_input_latency',
  '_speex_resampler_process_int',
  '_speex_resampler_destroy',
] as const satisfies readonly (keyof SpeexModule)[];

function hasFunction(module: object, name: string): boolean {
  return typeof Reflect.get(module, name) === 'function';
}

function hasView(module: unknown, name: string, view: Int16ArrayConstructor | Uint32ArrayConstructor): module is object {
  return typeof module === 'object' && module !== null && Reflect.get(module, name) instanceof view;
}

function unexpected(name: string): AppError {
  return new AppError('internal', `${name} does not offer what it was built against; install the locked version`, { details: { name } });
}
