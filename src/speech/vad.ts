// Decides frame by frame whether there is a voice: a level gate that tracks the noise of the line, then the WebRTC detector, and for
// frames that pass both, whether they are voiced and no key tone. Knows neither utterances nor turns. A single decision may be wrong;
// the endpointer weighs several. Limit: 10 µs of CPU per frame (docs/speech.md).
import { AppError } from '../base/errors.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from './audio-format.ts';
import { HalfRateLine } from './half-rate.ts';
import { isKeyTone } from './key-tones.ts';
import { LevelGate, QUIET_POWER } from './level-gate.ts';
import { Voicing, VOICING_FRAMES } from './voicing.ts';

/** Distinguishes a voice from other sound, frame by frame. */
export interface VoiceDetector {
  /**
   * @param frame - exactly 160 samples at 8 kHz (20 ms), directly after the previous frame; not changed.
   * @param isHearing - whether the caller is already speaking; otherwise the frame also counts as background.
   */
  isSpeech(frame: Int16Array, isHearing: boolean): boolean;
  /** Forgets the line with its noise floor. For another stream, not for the next utterance. */
  reset(): void;
  /** Frees what the detector holds; harmless when repeated. Afterwards there is no speech. */
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

/** The strictest of the detector's four modes: the only one that does not take babble 20 dB below the caller for speech. */
const STRICTEST_MODE = 3;
/** Least strength of the periodicity of a voiced frame, from 0 to 1; coughs and breath reach half of it. */
const VOICED_STRENGTH = 0.65;
/** Number of frames after a voiced one in which unvoiced sounds (s, f, t) pass; "six" and "yes" need them. */
const VOICED_FRAMES = 15;
/** While the caller speaks and is this far above the levels of the gate, dB, the WebRTC detector is not asked. */
const SURE_DB = 20;
/** One bit for each of these frames. */
const VOICED_MASK = (1 << VOICED_FRAMES) - 1;

/**
 * Allocates the frame memory that all detectors of a module share (they run one after the other) and returns a function that
 * makes detectors. That function throws AppError `overloaded` when the module's memory is used up.
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
  readonly #line = new HalfRateLine(VOICED_FRAMES + VOICING_FRAMES - 1);
  readonly #voicing = new Voicing(this.#line);
  /** Number of frames for which unvoiced sounds still pass, as far as frames were examined. */
  #voicedFrames = 0;
  /** The last frames that passed without being examined for voicing, the newest in bit 0. */
  #unseen = 0;
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
    this.#line.push(frame);
    const { power, brightness } = this.#line;
    const isLoud = this.#gate.admits(power, isHearing);
    const isVoice = this.#isSurelyVoice(isHearing, isLoud) || (power >= QUIET_POWER && this.#hearsVoice(frame));
    const isKey = isLoud && isVoice && isKeyTone(frame, power, brightness);
    // The frame in which a key is released has half a tone, which is not recognized as a key.
    const isSpeech = isLoud && isVoice && !isKey && !this.#wasKey && this.#isVoiced();
    this.#wasKey = isKey;
    this.#voicedFrames = Math.max(0, this.#voicedFrames - 1);
    this.#unseen = (this.#unseen << 1) & VOICED_MASK;
    this.#gate.follow(isSpeech, isHearing);
    return isSpeech;
  }

  reset(): void {
    if (this.#handle === 0) return;
    this.#gate.reset();
    this.#line.reset();
    this.#voicing.reset();
    this.#voicedFrames = 0;
    this.#unseen = 0;
    this.#wasKey = false;
    this.#module._fvad_reset(this.#handle);
    this.#prepare();
  }

  close(): void {
    if (this.#handle !== 0) this.#module._fvad_free(this.#handle);
    this.#handle = 0;
  }

  /**
   * Whether this frame or one of the {@link VOICED_FRAMES} before it is voiced. Examining a frame is expensive, so it waits until the
   * result depends on it, and goes back from the newest frame to the first voiced one: of 15 frames of speech, one or two are examined,
   * and the results are the same as if all were.
   */
  #isVoiced(): boolean {
    this.#unseen |= 1;
    if (this.#voicedFrames > 0) return true;
    for (let age = 0; this.#unseen >> age !== 0; age += 1) {
      if (((this.#unseen >> age) & 1) === 0 || this.#voicing.strength(age, VOICED_STRENGTH) < VOICED_STRENGTH) continue;
      this.#voicedFrames = VOICED_FRAMES - age;
      break;
    }
    this.#unseen = 0;
    return this.#voicedFrames > 0;
  }

  /** Sets mode and rate, which the module's own reset changes. */
  #prepare(): void {
    this.#module._fvad_set_mode(this.#handle, STRICTEST_MODE);
    this.#module._fvad_set_sample_rate(this.#handle, LINE_RATE_HZ);
  }

  /**
   * Whether the WebRTC detector need not be asked: the caller speaks, a voiced frame was found, and nothing else on the line is
   * nearly as loud. Saves 1.4 of 3.4 µs per frame of speech. The detector learns from every frame it gets, so only the loudest skip
   * it: on the corpus with four seeds this caused no further missed, cut or false start (docs/decisions/003).
   */
  #isSurelyVoice(isHearing: boolean, isLoud: boolean): boolean {
    return isHearing && isLoud && this.#voicedFrames > 0 && this.#gate.headroomDb >= SURE_DB;
  }

  #hearsVoice(frame: Int16Array): boolean {
    // Read again each time, because the memory may have grown for another handle.
    const heap = this.#module.HEAP16;
    heap.set(frame, this.#frameAddress >> 1);
    return this.#module._fvad_process(this.#handle, this.#frameAddress, FRAME_SAMPLES) === 1;
  }
}

function exhausted(): AppError {
  return new AppError('overloaded', 'the voice detector has no memory left; too many calls are open');
}
