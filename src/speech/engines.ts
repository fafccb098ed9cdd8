// Makers of detectors and resamplers, for the rooms above. The signal modules behind them take time to load, which happens
// elsewhere; whoever holds this can work at once.
import type { CreateResampler } from './resample.ts';
import type { CreateDetector } from './vad.ts';

/** The signal engines of one process, loaded once and shared by all calls. */
export interface SignalEngines {
  /** Makes a voice detector for one stream of 8 kHz audio; close the detector. */
  readonly createDetector: CreateDetector;
  /** Makes a resampler for one stream; close the resampler. */
  readonly createResampler: CreateResampler;
}
