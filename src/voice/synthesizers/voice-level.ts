// Levels speech that arrives in pieces. The loudness of a service's voice hardly changes, so it is measured over all
// texts, and the gain barely moves within one: no pumping, no lookahead.
import { LINE_RATE_HZ } from '../../speech/audio-format.ts';
import { FULL_SCALE, MAX_GAIN, PEAK_CEILING, peakOf, SPEECH_RMS } from './loudness.ts';

const FRAME_SAMPLES = LINE_RATE_HZ / 50;
/** Frames below this fraction of full-scale power (-46 dB), or 30 dB below the loudest frame, are pauses. */
const PAUSE_POWER = 0.005 ** 2;
const PAUSE_PART = 0.001;
/** Averaging window, frames: twenty seconds. Older speech counts less and less. */
const MEMORY_FRAMES = 1000;
/** Speech needed before the measurement is trusted, frames: one second. */
const TRUSTED_FRAMES = 50;
/** Largest change of gain before the measurement is trusted, as a factor (6 dB). */
const UNKNOWN_FACTOR = 2;
/** Factor by which the remembered peak decays with each text. */
const PEAK_MEMORY = 0.97;
/** Fastest change of gain within a text, dB per second; inaudible. */
const SLEW_DB = 2;
/** Length of a gain ramp, samples: avoids clicks. */
const RAMP_SAMPLES = 160;

/** The measured loudness of one voice. */
export class VoiceLevel {
  #powerSum = 0;
  #frames = 0;
  #loudest = 0;
  #peak = 0;

  /** Measures speech at 8 kHz. */
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

  /** Ends a text: lets the remembered peak decay. */
  textSpoken(): void {
    this.#peak *= PEAK_MEMORY;
    this.#loudest *= PEAK_MEMORY;
  }

  /** Gain for the voice's samples, as a factor. */
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

  /** Levels the next piece in place. */
  level(samples: Int16Array): void {
    this.#voice.hear(samples);
    const from = this.#gain ?? this.#voice.gain;
    const most = 10 ** ((SLEW_DB * samples.length) / LINE_RATE_HZ / 20);
    const wanted = Math.min(from * most, Math.max(from / most, this.#voice.gain));
    // Near clipping the gain changes at once.
    const gain = Math.min(wanted, (PEAK_CEILING * FULL_SCALE) / Math.max(1, peakOf(samples)));
    const step = (gain - from) / Math.min(RAMP_SAMPLES, samples.length);
    for (let index = 0; index < samples.length; index += 1) {
      const factor = index < RAMP_SAMPLES ? from + step * (index + 1) : gain;
      samples[index] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE, Math.round((samples[index] ?? 0) * factor)));
    }
    this.#gain = gain;
  }
}

/** Mean power of samples, as a fraction of full scale. A plain loop for speed. */
function powerOf(samples: Int16Array, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += (samples[index] ?? 0) ** 2;
  return sum / (to - from) / FULL_SCALE ** 2;
}
