// From the operator's choice to a synthesizer that is really there.
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Synthesizer } from '../synthesizer.ts';
import { findFliteWasm, FLITE_VOICES, fliteSoundName, FliteSynthesizer, isFliteVoice, type FliteLimits, type FliteVoice } from './flite.ts';

/** What the operator chose. */
export interface SynthesizerChoice {
  readonly engine: 'flite' | 'none';
  readonly voice: string;
}

/**
 * The synthesizer that was chosen, not yet started. The caller closes it.
 *
 * @returns undefined when none is wanted or its package is not installed.
 * @throws AppError `config_invalid` for a voice that does not exist, `synthesis_failed` for a broken package.
 */
export function findSynthesizer(choice: SynthesizerChoice, clock: Clock, limits: FliteLimits = {}): Synthesizer | undefined {
  const voice = voiceOf(choice);
  if (voice === undefined) return undefined;
  const wasmFile = findFliteWasm();
  return wasmFile === undefined ? undefined : new FliteSynthesizer({ wasmFile, voice, clock, ...limits });
}

/**
 * The name under which the chosen synthesizer's prompts are cached, whether its package is installed or not: prompts
 * stored on another machine can then be played without it. Undefined when none is wanted.
 *
 * @throws AppError `config_invalid` for a voice that does not exist.
 */
export function soundName(choice: SynthesizerChoice): string | undefined {
  const voice = voiceOf(choice);
  return voice === undefined ? undefined : fliteSoundName(voice);
}

function voiceOf({ engine, voice }: SynthesizerChoice): FliteVoice | undefined {
  if (engine === 'none') return undefined;
  if (isFliteVoice(voice)) return voice;
  throw new AppError('config_invalid', `synthesizer.voice must be one of ${FLITE_VOICES.join(', ')}`);
}
