// Brings speech that arrives in pieces to the loudness of a telephone voice. A voice of a service is about as loud today as
// yesterday, so its loudness is learnt over all it says and hardly moves within one text: no pumping, no lookahead.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { FULL_SCALE, MAX_GAIN, PEAK_CEILING, peakOf, SPEECH_RMS } from './loudness.ts';

const FRAME_SAMPLES = LINE_RATE_HZ / 50;
/** Quieter frames are pauses, as power of full scale (-46 dB) and as a part of the loudest frame (-30 dB). */
const PAUSE_POWER = 0.005 ** 2;
const PAUSE_PART = 0.001;
/** Speech that is remembered, frames: twenty seconds. What is older counts less and less. */
const MEMORY_FRAMES = 1000;
/** Speech that says something about a voice, frames: one second. */
const TRUSTED_FRAMES = 50;
/** Most that is added or taken while a voice is unknown, as a factor of 6 dB: one soft first sound says little. */
const UNKNOWN_FACTOR = 2;
/** How much of the loudest sample is remembered from one text to the next. */
const PEAK_MEMORY = 0.97;
/** Fastest change within a text, dB per second: too slow to be heard. */
const SLEW_DB = 2;
/** A change of gain is spread over this, samples: no click. */
const RAMP_SAMPLES = 160;

/** How loud one voice is, as far as it was heard. */
export class VoiceLevel {
  #powerSum = 0;
  #frames = 0;
  #loudest = 0;
  #peak = 0;

  /** Takes speech into account; samples of 8 kHz. */
  hear(samples: Int16Array): void {
    this.#peak = Math.max(this.#peak, peakOf(samples) / FULL_SCALE);
    for (let start = 0; start + FRAME_SAMPLES <= samples.length; start += FRAME_SAMPLES) {
      const power = powerOf(samples, start, start + FRAME_SAMPLES);
      this.#loudest = Math.max(this.#loudest, power);
      if (power < PAUSE_POWER || power < this.#loudest * PAUSE_PART) continue;
      if (this.#frames < MEMORY_FRAMES) this.#frames += 1;
      else this.#powerSum -= this.#powerSum / MEMORY_FRAMES;
      this.#powerSum += power;
    }
  }

  /** A text is over: single loud sounds are slowly forgotten. */
  textSpoken(): void {
    this.#peak *= PEAK_MEMORY;
    this.#loudest *= PEAK_MEMORY;
  }

  /** What the voice's samples should be multiplied with. */
  get gain(): number {
    if (this.#frames === 0) return 1;
    const rms = Math.sqrt(this.#powerSum / this.#frames);
    const wanted = Math.min(SPEECH_RMS / rms, PEAK_CEILING / this.#peak, MAX_GAIN);
    if (this.#frames >= TRUSTED_FRAMES) return wanted;
    return Math.min(UNKNOWN_FACTOR, Math.max(1 / UNKNOWN_FACTOR, wanted));
  }
}

/** The gain of one text, piece by piece. */
export class TextLevel {
  readonly #voice: VoiceLevel;
  #gain: number | undefined;

  constructor(voice: VoiceLevel) {
    this.#voice = voice;
  }

  /** Brings the next piece to its loudness, in place. */
  level(samples: Int16Array): void {
    this.#voice.hear(samples);
    const from = this.#gain ?? this.#voice.gain;
    const most = 10 ** ((SLEW_DB * samples.length) / LINE_RATE_HZ / 20);
    const wanted = Math.min(from * most, Math.max(from / most, this.#voice.gain));
    // A sample that would come near clipping is the one reason to be quicker.
    const gain = Math.min(wanted, (PEAK_CEILING * FULL_SCALE) / Math.max(1, peakOf(samples)));
    const step = (gain - from) / Math.min(RAMP_SAMPLES, samples.length);
    for (let index = 0; index < samples.length; index += 1) {
      const factor = index < RAMP_SAMPLES ? from + step * (index + 1) : gain;
      samples[index] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE, Math.round((samples[index] ?? 0) * factor)));
    }
    this.#gain = gain;
  }
}

/** Mean power of some samples, as a part of full scale. A loop, because it runs for every sample of every text. */
function powerOf(samples: Int16Array, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += (samples[index] ?? 0) ** 2;
  return sum / (to - from) / FULL_SCALE ** 2;
}
