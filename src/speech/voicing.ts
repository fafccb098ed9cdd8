// Tells sounds that the vocal cords make from noise: speech repeats itself every few milliseconds, coughs, breath and
// rustling do not. Looks at the last 40 ms of a line; knows no levels and no utterances.
import { FRAME_SAMPLES } from './audio-format.ts';

/** Pitch is looked for at half the rate of the line: half the lags and half the products for each. */
const STEP = 2;
const SAMPLES = FRAME_SAMPLES / STEP;
/** Samples of half the rate: 2.5 ms (400 Hz) to 15 ms (67 Hz). */
const SHORTEST_LAG = 10;
const LONGEST_LAG = 61;
/** Lags tried in one go. The processor adds four sums in the time of one; it divides the lags. */
const AT_ONCE = 4;
/** Takes away what lies below some 200 Hz: hum and the rumble of breath move so slowly that they resemble themselves. */
const RUMBLE_PART = 0.27;

/** How strongly the newest 20 ms repeat what came up to 15 ms before. */
export class Voicing {
  /** The last frame and the one before it, oldest first. */
  readonly #samples = new Float64Array(SAMPLES * 2);
  /** The products of the newest frame with what came one of {@link AT_ONCE} lags before. */
  readonly #products = new Float64Array(AT_ONCE);
  #rumble = 0;

  /** Takes the next frame of 160 samples. */
  push(frame: Int16Array): void {
    const samples = this.#samples;
    let rumble = this.#rumble;
    samples.copyWithin(0, SAMPLES);
    for (let index = 0; index < SAMPLES; index += 1) {
      const sample = (frame[index * STEP] ?? 0) + (frame[index * STEP + 1] ?? 0);
      rumble += RUMBLE_PART * (sample - rumble);
      samples[SAMPLES + index] = sample - rumble;
    }
    this.#rumble = rumble;
  }

  /** Forgets the line. */
  reset(): void {
    this.#samples.fill(0);
    this.#rumble = 0;
  }

  /** From 0 (noise) to 1 (repeats itself exactly). */
  strength(): number {
    const samples = this.#samples;
    const energy = energyOf(samples, SAMPLES);
    // Energy of the 20 ms that end one lag earlier, carried along from lag to lag.
    let earlier = energyOf(samples, SAMPLES - SHORTEST_LAG);
    let best = 0;
    for (let lag = SHORTEST_LAG; lag <= LONGEST_LAG; lag += 1) {
      if ((lag - SHORTEST_LAG) % AT_ONCE === 0) this.#multiply(lag);
      const product = this.#products[(lag - SHORTEST_LAG) % AT_ONCE] ?? 0;
      // The one added keeps digital silence from being divided by nothing.
      if (product > 0) best = Math.max(best, (product * product) / (energy * earlier + 1));
      earlier += (samples[SAMPLES - lag - 1] ?? 0) ** 2 - (samples[SAMPLES * 2 - lag - 1] ?? 0) ** 2;
    }
    return Math.sqrt(best);
  }

  #multiply(lag: number): void {
    const samples = this.#samples;
    let first = 0;
    let second = 0;
    let third = 0;
    let fourth = 0;
    for (let index = SAMPLES; index < SAMPLES * 2; index += 1) {
      const sample = samples[index] ?? 0;
      first += sample * (samples[index - lag] ?? 0);
      second += sample * (samples[index - lag - 1] ?? 0);
      third += sample * (samples[index - lag - 2] ?? 0);
      fourth += sample * (samples[index - lag - 3] ?? 0);
    }
    this.#products[0] = first;
    this.#products[1] = second;
    this.#products[2] = third;
    this.#products[3] = fourth;
  }
}

/** Energy of 20 ms from `start` on. */
function energyOf(samples: Float64Array, start: number): number {
  let energy = 0;
  for (let index = start; index < start + SAMPLES; index += 1) {
    const sample = samples[index] ?? 0;
    energy += sample * sample;
  }
  return energy;
}
