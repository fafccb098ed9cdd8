// Makes the configured synthesizer.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { CreateResampler } from '../../speech/resample.ts';
import type { Synthesizer } from '../synthesizer.ts';
import { serviceObserver, type VoiceObserver } from '../voice-observer.ts';
import { findFliteWasm, fliteSoundName, FliteSynthesizer, type FliteVoice } from './flite.ts';
import { HttpSynthesizer, httpSoundName, type HttpSynthesizerOptions } from './http.ts';

/** The configured engine; `timeoutMs` is the longest time for one text. */
export type SynthesizerChoice =
  | { readonly engine: 'none' }
  | { readonly engine: 'flite'; readonly voice: FliteVoice; readonly timeoutMs: number }
  | ({ readonly engine: 'http' } & Omit<HttpSynthesizerOptions, 'createResampler' | 'clock' | 'observer'>);

export interface SynthesizerParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly createResampler: CreateResampler;
  readonly observer?: VoiceObserver;
}

/**
 * The configured synthesizer, not yet started. The caller closes it.
 *
 * @returns undefined when none is configured or its package is not installed.
 * @throws AppError `config_invalid` for an unsafe address, `synthesis_failed` for a broken package.
 */
export function findSynthesizer(
  choice: SynthesizerChoice,
  { clock, log, createResampler, observer }: SynthesizerParts,
): Synthesizer | undefined {
  switch (choice.engine) {
    case 'none':
      return undefined;
    case 'flite': {
      const wasmFile = findFliteWasm();
      return wasmFile === undefined ? undefined : new FliteSynthesizer({ wasmFile, voice: choice.voice, clock, limitMs: choice.timeoutMs });
    }
    case 'http': {
      const { engine: _, ...options } = choice;
      return new HttpSynthesizer({ ...options, createResampler, clock, observer: serviceObserver('synthesizer', observer, log) });
    }
  }
}

/**
 * The name under which the configured synthesizer's prompts are cached; available without its package, so that
 * prompts stored on another machine can be played. Undefined when none is configured.
 */
export function soundName(choice: SynthesizerChoice): string | undefined {
  switch (choice.engine) {
    case 'none':
      return undefined;
    case 'flite':
      return fliteSoundName(choice.voice);
    case 'http':
      return httpSoundName(choice);
  }
}
