// Decides for one frame at a time whether a voice is in it: a level gate with floor tracking around the WebRTC
// detector. Knows neither utterances nor turns; single frames of it are not to be trusted, the endpointer weighs them.
// CPU per frame, measured 2026-11-21 on Node 20.20: 1.7 µs for speech in noise, 0.15 µs on a silent line (limit: 25 µs).
import { AppError } from '../base/errors.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from './audio-format.ts';
import { LevelGate, meanSquare, QUIET_POWER } from './level-gate.ts';

/** Tells voice from the rest, frame by frame. */
export interface VoiceDetector {
  /** @param frame - exactly 160 samples at 8 kHz (20 ms), each frame following the one before; it is only read. */
  isSpeech(frame: Int16Array): boolean;
  /** Forgets the line: noise floor and all. For another stream, not for the next utterance. */
  reset(): void;
  /** Frees what the detector holds; harmless when repeated. It hears nothing afterwards. */
  close(): void;
}

/** Makes a detector for one stream; see {@link detectorMaker}. */
export type CreateDetector = () => VoiceDetector;

/** What we use of the compiled WebRTC detector. Addresses are numbers; the view changes when the memory grows. */
export interface FvadModule {
  readonly HEAP16: Int16Array;
  _malloc(bytes: number): number;
  _fvad_new(): number;
  _fvad_free(handle: number): void;
  _fvad_reset(handle: number): void;
  _fvad_set_mode(handle: number, mode: number): number;
  _fvad_set_sample_rate(handle: number, rateHz: number): number;
  _fvad_process(handle: number, frameAddress: number, samples: number): number;
}

/** The strictest of the detector's four modes: the only one that does not take babble at 20 dB for the caller. */
const STRICTEST_MODE = 3;

/**
 * Takes the frame memory that all detectors of a module share (they run one after the other) and returns the maker of
 * detectors. The maker throws AppError `overloaded` when the module's memory is used up.
 */
export function detectorMaker(module: FvadModule): CreateDetector {
  const frameAddress = module._malloc(FRAME_SAMPLES * 2);
  if (frameAddress === 0) throw exhausted();
  return () => {
    const handle = module._fvad_new();
    if (handle === 0) throw exhausted();
    return new GatedDetector(module, frameAddress, handle);
  };
}

class GatedDetector implements VoiceDetector {
  readonly #module: FvadModule;
  readonly #frameAddress: number;
  readonly #gate = new LevelGate();
  #handle: number;

  constructor(module: FvadModule, frameAddress: number, handle: number) {
    this.#module = module;
    this.#frameAddress = frameAddress;
    this.#handle = handle;
    this.#prepare();
  }

  isSpeech(frame: Int16Array): boolean {
    if (this.#handle === 0) return false;
    const power = meanSquare(frame);
    // Nothing to ask the detector about; a quiet line costs only this sum.
    if (power < QUIET_POWER) return this.#gate.passes(power, false);
    return this.#gate.passes(power, this.#hearsVoice(frame));
  }

  reset(): void {
    if (this.#handle === 0) return;
    this.#gate.reset();
    this.#module._fvad_reset(this.#handle);
    this.#prepare();
  }

  close(): void {
    if (this.#handle !== 0) this.#module._fvad_free(this.#handle);
    this.#handle = 0;
  }

  /** The module's own reset puts mode and rate back as well. */
  #prepare(): void {
    this.#module._fvad_set_mode(this.#handle, STRICTEST_MODE);
    this.#module._fvad_set_sample_rate(this.#handle, LINE_RATE_HZ);
  }

  #hearsVoice(frame: Int16Array): boolean {
    // Read anew each time: another handle may have made the memory grow.
    const heap = this.#module.HEAP16;
    heap.set(frame, this.#frameAddress >> 1);
    return this.#module._fvad_process(this.#handle, this.#frameAddress, FRAME_SAMPLES) === 1;
  }
}

function exhausted(): AppError {
  return new AppError('overloaded', 'the voice detector has no memory left; too many calls are open');
}
