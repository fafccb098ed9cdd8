// From the operator's choice to a synthesizer that is really there.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { CreateResampler } from '../../speech/resample.ts';
import type { Synthesizer } from '../synthesizer.ts';
import { serviceObserver, type VoiceObserver } from '../voice-observer.ts';
import { findFliteWasm, fliteSoundName, FliteSynthesizer, type FliteVoice } from './flite.ts';
import { HttpSynthesizer, httpSoundName, type HttpSynthesizerOptions } from './http.ts';

/** What the operator chose; `timeoutMs` is the longest time for one text. */
export type SynthesizerChoice =
  | { readonly engine: 'none' }
  | { readonly engine: 'flite'; readonly voice: FliteVoice; readonly timeoutMs: number }
  | ({ readonly engine: 'http' } & Omit<HttpSynthesizerOptions, 'createResampler' | 'clock' | 'observer'>);

/** What a synthesizer is made with. */
export interface SynthesizerParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly createResampler: CreateResampler;
  readonly observer?: VoiceObserver;
}

/**
 * The synthesizer that was chosen, not yet started. The caller closes it.
 *
 * @returns undefined when none is wanted or its package is not installed.
 * @throws AppError `config_invalid` for an address that is not safe, `synthesis_failed` for a broken package.
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
 * The name under which the chosen synthesizer's prompts are cached, whether its package is installed or not: prompts
 * stored on another machine can then be played without it. Undefined when none is wanted.
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
