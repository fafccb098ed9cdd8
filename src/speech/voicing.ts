// Distinguishes voiced sounds from noise: speech repeats itself every few milliseconds; coughs, breath and rustling do not.
// Examines 40 ms of a line; knows no levels and no utterances.
import { HALF_FRAME_SAMPLES, type HalfRateLine } from './half-rate.ts';

/** Frames needed: the examined one, the one that it may repeat, and one for the filter to settle. */
export const VOICING_FRAMES = 3;

/** Lags in samples at half the rate, for half the lags and half the products of each: 2.5 ms (400 Hz) to 15 ms (67 Hz). */
const SHORTEST_LAG = 10;
const LONGEST_LAG = 61;
/** Lags computed at once: the processor forms four sums in the time of one. Must divide the number of lags. */
const AT_ONCE = 4;
/** Removes sound below some 200 Hz: hum and the rumble of breath change so slowly that they resemble themselves. */
const RUMBLE_PART = 0.27;

// Shared by all lines, which are examined one after the other: memory that 300 calls share stays in the processor's cache.
/** The filtered samples of the examined frame and of the one before it, oldest first. */
const samples = new Float64Array(HALF_FRAME_SAMPLES * 2);
/** At index n the energy of the first n samples. */
const energies = new Float64Array(HALF_FRAME_SAMPLES * 2 + 1);

/** How strongly 20 ms repeat what came up to 15 ms before. */
export class Voicing {
  readonly #line: HalfRateLine;
  /** The first lag of the last success; a voice often has the same again. */
  #firstLag = SHORTEST_LAG;

  /** @param line - must keep {@link VOICING_FRAMES} frames and as many more as the largest `age`. */
  constructor(line: HalfRateLine) {
    this.#line = line;
  }

  /**
   * From 0 (noise) to 1 (repeats itself exactly).
   *
   * @param age - the examined frame: so many frames before the newest.
   * @param enough - from this strength on, the search may stop and return less than the exact strength: a voice is found at the first
   *   lag that fits instead of after all 52, most of them with a fifth of the products.
   */
  strength(age = 0, enough = Infinity): number {
    this.#filter(age);
    const energy = energyOf(HALF_FRAME_SAMPLES);
    const wanted = enough * enough;
    let best = 0;
    let lag = this.#firstLag;
    do {
      best = Math.max(best, strongest(lag, energy));
      if (best >= wanted) break;
      lag = lag + AT_ONCE > LONGEST_LAG ? SHORTEST_LAG : lag + AT_ONCE;
    } while (lag !== this.#firstLag);
    this.#firstLag = lag;
    return Math.sqrt(best);
  }

  /** Forgets the last success. */
  reset(): void {
    this.#firstLag = SHORTEST_LAG;
  }

  #filter(age: number): void {
    const line = this.#line;
    const source = line.samples;
    let rumble = 0;
    let energy = 0;
    // The filter settles on the frame before the two that are examined.
    const settling = line.startOf(age + 2);
    for (let index = 0; index < HALF_FRAME_SAMPLES; index += 1) rumble += RUMBLE_PART * ((source[settling + index] ?? 0) - rumble);
    for (let part = 0; part < 2; part += 1) {
      const start = line.startOf(age + 1 - part);
      const target = part * HALF_FRAME_SAMPLES;
      for (let index = 0; index < HALF_FRAME_SAMPLES; index += 1) {
        const sample = source[start + index] ?? 0;
        rumble += RUMBLE_PART * (sample - rumble);
        const filtered = sample - rumble;
        samples[target + index] = filtered;
        energy += filtered * filtered;
        energies[target + index + 1] = energy;
      }
    }
  }
}

/** The square of the strength at the best of {@link AT_ONCE} lags from `lag` on. */
function strongest(lag: number, energy: number): number {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let index = HALF_FRAME_SAMPLES; index < HALF_FRAME_SAMPLES * 2; index += 1) {
    const sample = samples[index] ?? 0;
    first += sample * (samples[index - lag] ?? 0);
    second += sample * (samples[index - lag - 1] ?? 0);
    third += sample * (samples[index - lag - 2] ?? 0);
    fourth += sample * (samples[index - lag - 3] ?? 0);
  }
  return Math.max(alike(first, energy, lag), alike(second, energy, lag + 1), alike(third, energy, lag + 2), alike(fourth, energy, lag + 3));
}

function alike(product: number, energy: number, lag: number): number {
  // Plus one, so that digital silence does not divide by zero.
  return product > 0 ? (product * product) / (energy * energyOf(HALF_FRAME_SAMPLES - lag) + 1) : 0;
}

/** Energy of 20 ms from the sample `start` on. */
function energyOf(start: number): number {
  return (energies[start + HALF_FRAME_SAMPLES] ?? 0) - (energies[start] ?? 0);
}
