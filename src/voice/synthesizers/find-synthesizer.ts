// Makes the configured synthesizer.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { CreateResampler } from '../../speech/resample.ts';
import type { Speech } from '../../dialog/reply.ts';
import type { Synthesizer } from '../synthesizer.ts';
import { serviceObserver, type VoiceObserver } from '../voice-observer.ts';
import { findFliteWasm, fliteSoundName, FliteSynthesizer } from './flite.ts';
import { HttpSynthesizer, httpSoundName, type HttpSynthesizerOptions } from './http.ts';
import type { ConfiguredVoices } from './voice-of.ts';

/** The configured synthesizer; `timeoutMs` is the longest time for one text. */
export type SynthesizerChoice =
  | { readonly engine: 'none' }
  | ({ readonly engine: 'flite'; readonly timeoutMs: number } & ConfiguredVoices)
  | ({ readonly engine: 'http' } & Omit<HttpSynthesizerOptions, 'createResampler' | 'clock' | 'observer'>);

export interface SynthesizerParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly createResampler: CreateResampler;
  readonly observer?: VoiceObserver;
}

/**
 * The configured synthesizer, not yet started. The calling code closes it.
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
      const { engine: _, timeoutMs: limitMs, ...voices } = choice;
      return wasmFile === undefined ? undefined : new FliteSynthesizer({ wasmFile, ...voices, clock, limitMs });
    }
    case 'http': {
      const { engine: _, ...options } = choice;
      return new HttpSynthesizer({ ...options, createResampler, clock, observer: serviceObserver('synthesizer', observer, log) });
    }
  }
}

/**
 * Names everything but the words that determines the sound of a text (program, voice, processing), for the keys of the cache.
 * Available without the package, so that prompts stored on another machine can be played. Undefined when no synthesizer is configured.
 */
export function soundNames(choice: SynthesizerChoice): ((speech: Speech) => string) | undefined {
  switch (choice.engine) {
    case 'none':
      return undefined;
    case 'flite':
      return (speech) => fliteSoundName(speech, choice);
    case 'http':
      return (speech) => httpSoundName(speech, choice);
  }
}
