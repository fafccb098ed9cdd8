// What the loaded signal modules offer to the rooms above: makers of detectors and resamplers. Loading them takes time
// and happens elsewhere; whoever holds this can work at once.
import type { CreateResampler } from './resample.ts';
import type { CreateDetector } from './vad.ts';

/** The signal engines of one process, loaded once and shared by all calls. */
export interface SignalEngines {
  /** A voice detector for one stream of 8 kHz audio; the caller closes it. */
  readonly createDetector: CreateDetector;
  /** A resampler for one stream; the caller closes it. */
  readonly createResampler: CreateResampler;
}
