// Decides for one frame at a time whether a voice is in it: a level gate that knows the noise of the line, the WebRTC
// detector, and for what passes both, whether vocal cords made it or keys. Knows neither utterances nor turns; single
// frames of it are not to be trusted, the endpointer weighs them. Limit: 25 µs of CPU per frame (docs/speech.md).
import { AppError } from '../base/errors.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from './audio-format.ts';
import { isKeyTone } from './key-tones.ts';
import { LevelGate, meanSquare, QUIET_POWER } from './level-gate.ts';
import { Voicing } from './voicing.ts';

/** Tells voice from the rest, frame by frame. */
export interface VoiceDetector {
  /**
   * @param frame - exactly 160 samples at 8 kHz (20 ms), each frame following the one before; it is only read.
   * @param isHearing - the caller is already speaking; what is heard otherwise is the background to tell them from.
   */
  isSpeech(frame: Int16Array, isHearing: boolean): boolean;
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
/** How strongly a frame repeats itself when vocal cords made it, from 0 to 1; coughs and breath come to half of it. */
const VOICED_STRENGTH = 0.65;
/** Frames for which sounds without the cords (s, f, t) pass after a voiced one; "six" and "yes" need them. */
const VOICED_FRAMES = 15;

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
  readonly #voicing = new Voicing();
  /** Frames for which unvoiced sounds still pass. */
  #voicedFrames = 0;
  #wasKey = false;
  #handle: number;

  constructor(module: FvadModule, frameAddress: number, handle: number) {
    this.#module = module;
    this.#frameAddress = frameAddress;
    this.#handle = handle;
    this.#prepare();
  }

  isSpeech(frame: Int16Array, isHearing: boolean): boolean {
    if (this.#handle === 0) return false;
    const power = meanSquare(frame);
    this.#voicing.push(frame);
    const isLoud = this.#gate.admits(power, isHearing);
    // Nothing to ask the detector about on a quiet line; on any other it must see every frame.
    const isVoice = power >= QUIET_POWER && this.#hearsVoice(frame);
    const isKey = isLoud && isVoice && isKeyTone(frame, power);
    // The frame in which a key is let go holds half a tone, which looks like none.
    const isSpeech = isLoud && isVoice && !isKey && !this.#wasKey && this.#isVoiced();
    this.#wasKey = isKey;
    this.#voicedFrames = Math.max(0, this.#voicedFrames - 1);
    this.#gate.follow(isSpeech, isHearing);
    return isSpeech;
  }

  reset(): void {
    if (this.#handle === 0) return;
    this.#gate.reset();
    this.#voicing.reset();
    this.#voicedFrames = 0;
    this.#wasKey = false;
    this.#module._fvad_reset(this.#handle);
    this.#prepare();
  }

  close(): void {
    if (this.#handle !== 0) this.#module._fvad_free(this.#handle);
    this.#handle = 0;
  }

  #isVoiced(): boolean {
    if (this.#voicing.strength() >= VOICED_STRENGTH) this.#voicedFrames = VOICED_FRAMES;
    return this.#voicedFrames > 0;
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
