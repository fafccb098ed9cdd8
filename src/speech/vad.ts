// Decides for one frame at a time whether a voice is in it: a level gate that knows the noise of the line, the WebRTC
// detector, and for what passes both, whether vocal cords made it or keys. Knows neither utterances nor turns; single
// frames of it are not to be trusted, the endpointer weighs them. Limit: 10 µs of CPU per frame (docs/speech.md).
import { AppError } from '../base/errors.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from './audio-format.ts';
import { HalfRateLine } from './half-rate.ts';
import { isKeyTone } from './key-tones.ts';
import { LevelGate, QUIET_POWER } from './level-gate.ts';
import { Voicing, VOICING_FRAMES } from './voicing.ts';

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
/** A caller this far above all else, dB, is not asked about again while he speaks. */
const SURE_DB = 20;
/** One bit for each of these frames. */
const VOICED_MASK = (1 << VOICED_FRAMES) - 1;

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
  readonly #line = new HalfRateLine(VOICED_FRAMES + VOICING_FRAMES - 1);
  readonly #voicing = new Voicing(this.#line);
  /** Frames for which unvoiced sounds still pass, as far as we looked. */
  #voicedFrames = 0;
  /** The last frames that passed without being looked at, newest in bit 0. */
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
    // The frame in which a key is released has half a tone, which is not recognized as one.
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
   * Whether this frame is voiced or one of the {@link VOICED_FRAMES} before it. To look is dear, so it is put off until the
   * answer depends on it, and goes back from the newest frame to the first voiced one: of 15 frames of speech, one or two
   * are looked at, and the answers are the same as if all were.
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

  /** The module's own reset puts mode and rate back as well. */
  #prepare(): void {
    this.#module._fvad_set_mode(this.#handle, STRICTEST_MODE);
    this.#module._fvad_set_sample_rate(this.#handle, LINE_RATE_HZ);
  }

  /**
   * Whether the WebRTC detector need not be asked: the caller speaks, the cords were heard, and nothing else on the line is
   * nearly as loud. Saves 1.4 of 3.4 µs per frame of speech. It learns from every frame it sees, so this stays with the
   * loudest: on the corpus with four seeds nothing more was missed, cut or begun in error for it (docs/decisions/003).
   */
  #isSurelyVoice(isHearing: boolean, isLoud: boolean): boolean {
    return isHearing && isLoud && this.#voicedFrames > 0 && this.#gate.headroomDb >= SURE_DB;
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
