// What a command that places calls needs from its process: what every command needs, and a voice for the caller.
import type { CommandSurroundings } from '../../base/terminal/surroundings.ts';
import type { ChangeRate } from '../caller/prompt-sound.ts';

/** The voice of the caller, and its resampling. Whoever opened it closes it. */
export interface CallerVoice {
  /** µ-law, 8 kHz, in the usual voice or another one. @throws AppError `synthesis_failed`, also when no synthesizer is installed. */
  speak(text: string, voice?: string): Promise<Uint8Array>;
  readonly changeRate: ChangeRate;
  close(): Promise<void>;
}

/** Tests bring their own. */
export interface CallSurroundings extends CommandSurroundings {
  /** The command closes the voice. */
  readonly openVoice: () => Promise<CallerVoice>;
}
