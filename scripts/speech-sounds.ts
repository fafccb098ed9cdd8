// Sounds of a telephone line that are no speech, and what mixes them: noise, hum, coughs, clicks, keys, echo. All of them
// come from a seed, so that a corpus is the same in every run. Samples are parts of full scale at 8 kHz.
import { seededNumbers } from '../src/base/seeded-numbers.ts';
import { LINE_RATE_HZ } from '../src/speech/audio-format.ts';
import { encodeMulaw } from '../src/speech/g711.ts';

/** Samples at 8 kHz, parts of full scale. */
export type Sound = Float64Array;
/** The next number from 0 to 1. */
export type Random = () => number;

const SAMPLES_PER_MS = LINE_RATE_HZ / 1000;
const FRAME = LINE_RATE_HZ / 50;

/** Numbers that depend on the seed alone. */
export function randomFrom(seed: number): Random {
  return seededNumbers(seed * 2_654_435_761);
}

/** A whole number from `least` to `largest`. */
export function between(random: Random, least: number, largest: number): number {
  return least + Math.floor(random() * (largest - least + 1));
}

/** Decibels below full scale as a factor. */
export function factor(db: number): number {
  return 10 ** (db / 20);
}

export function quiet(ms: number): Sound {
  return new Float64Array(Math.round(ms * SAMPLES_PER_MS));
}

/** How long it lasts, ms. */
export function lengthMs(sound: Sound): number {
  return sound.length / SAMPLES_PER_MS;
}

/** A sound from a function of the sample's number. */
function made(ms: number, sampleAt: (index: number) => number): Sound {
  const sound = quiet(ms);
  // Counted here and below: the array's own map takes ten times as long, and a corpus has a thousand million samples.
  for (let index = 0; index < sound.length; index += 1) sound[index] = sampleAt(index);
  return sound;
}

/** One after the other. */
export function chain(...sounds: readonly Sound[]): Sound {
  const whole = new Float64Array(sounds.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const sound of sounds) {
    whole.set(sound, at);
    at += sound.length;
  }
  return whole;
}

/** `sound` on top of `ground`, from `atMs` on; as long as the ground. */
export function over(ground: Sound, sound: Sound, atMs = 0): Sound {
  const first = Math.round(atMs * SAMPLES_PER_MS);
  const both = ground.slice();
  const last = Math.min(ground.length, first + sound.length);
  for (let index = first; index < last; index += 1) both[index] = (ground[index] ?? 0) + (sound[index - first] ?? 0);
  return both;
}

export function louder(sound: Sound, db: number): Sound {
  const gain = factor(db);
  const result = sound.slice();
  for (let index = 0; index < result.length; index += 1) result[index] = (result[index] ?? 0) * gain;
  return result;
}

/** The part of an endless repetition of `sound` from `fromMs` on. */
export function cutOut(sound: Sound, fromMs: number, ms: number): Sound {
  const first = Math.round(fromMs * SAMPLES_PER_MS);
  return made(ms, (index) => sound[(first + index) % sound.length] ?? 0);
}

/** Root mean square, dB below full scale. */
function levelDb(sound: Sound): number {
  return 10 * Math.log10(energyOf(sound) / sound.length);
}

function energyOf(sound: Sound): number {
  let energy = 0;
  for (const sample of sound) energy += sample * sample;
  return energy;
}

/** The sound with this root mean square. */
export function atLevel(sound: Sound, dbfs: number): Sound {
  return louder(sound, dbfs - levelDb(sound));
}

/** Speech whose loudest three fifths have this level: pauses do not count. */
export function atSpeechLevel(sound: Sound, dbfs: number): Sound {
  const powers = framePowers(sound).sort((a, b) => b - a);
  const loudest = powers.slice(0, Math.max(1, Math.ceil(powers.length * 0.6)));
  return louder(sound, dbfs - 10 * Math.log10(loudest.reduce((sum, power) => sum + power, 0) / loudest.length));
}

/** Mean squares of its 20 ms. */
export function framePowers(sound: Sound): number[] {
  return Array.from({ length: Math.floor(sound.length / FRAME) }, (_, frame) => {
    return energyOf(sound.subarray(frame * FRAME, (frame + 1) * FRAME)) / FRAME;
  });
}

export function whiteNoise(ms: number, random: Random): Sound {
  return made(ms, () => random() * 2 - 1);
}

/** Three decibels less per octave (Kellet's filter). */
export function pinkNoise(ms: number, random: Random): Sound {
  let [slow, middle, fast] = [0, 0, 0];
  return made(ms, () => {
    const white = random() * 2 - 1;
    slow = 0.99765 * slow + white * 0.099046;
    middle = 0.963 * middle + white * 0.2965164;
    fast = 0.57 * fast + white * 1.0526913;
    return slow + middle + fast + white * 0.1848;
  });
}

/** Mains hum with the overtones that a telephone lets through. */
export function humming(ms: number, random: Random): Sound {
  const overtones = [1, 2, 3, 4, 5, 7, 9].map((number) => ({ hertz: 50 * number, part: 1 / number, turn: random() * 2 * Math.PI }));
  return made(ms, (index) =>
    overtones.reduce((sum, { hertz, part, turn }) => sum + part * Math.sin((2 * Math.PI * hertz * index) / LINE_RATE_HZ + turn), 0),
  );
}

/** What a resonance at `hertz` makes of a sound. */
function resonating(sound: Sound, hertz: number, widthHz: number): Sound {
  const radius = Math.exp((-Math.PI * widthHz) / LINE_RATE_HZ);
  const back = 2 * radius * Math.cos((2 * Math.PI * hertz) / LINE_RATE_HZ);
  let [last, beforeLast] = [0, 0];
  return sound.map((sample) => {
    const now = sample + back * last - radius * radius * beforeLast;
    [last, beforeLast] = [now, last];
    return now;
  });
}

function throughThroat(sound: Sound, hertz: readonly number[]): Sound {
  const parts = hertz.map((each) => atLevel(resonating(sound, each, 150), -20));
  return parts.reduce((sum, part) => over(sum, part));
}

/** A swell and a fall: `attackMs` up, then down to a twentieth at the end. */
function swelling(sound: Sound, attackMs: number): Sound {
  const attack = Math.max(1, attackMs * SAMPLES_PER_MS);
  return sound.map((sample, index) => sample * (index < attack ? index / attack : 20 ** (-(index - attack) / (sound.length - attack))));
}

/** Glottal pulses, `hertz` at first and `endHertz` at last. */
function buzz(ms: number, hertz: number, endHertz: number): Sound {
  let phase = 0;
  return made(ms, (index) => {
    phase += (hertz + ((endHertz - hertz) * index) / (ms * SAMPLES_PER_MS)) / LINE_RATE_HZ;
    if (phase >= 1) phase -= 1;
    return 1 - 2 * phase;
  });
}

/** A cough: a burst, breath, and in every second one a short voiced end; some come twice. */
export function cough(random: Random): Sound {
  const throat = [between(random, 500, 900), between(random, 1300, 2200), between(random, 2600, 3400)];
  const once = (): Sound => {
    const burst = swelling(throughThroat(whiteNoise(between(random, 50, 90), random), throat), 5);
    const breath = louder(swelling(throughThroat(whiteNoise(between(random, 100, 200), random), throat), 20), -8);
    const hertz = between(random, 120, 260);
    const voiced = louder(swelling(throughThroat(buzz(between(random, 50, 90), hertz, hertz * 0.8), throat), 15), -10);
    return random() < 0.5 ? chain(burst, breath) : chain(burst, breath, voiced);
  };
  return atPeak(random() < 0.3 ? chain(once(), quiet(between(random, 150, 300)), once()) : once(), -10);
}

/** Breath into the mouthpiece. */
export function breath(random: Random): Sound {
  return atPeak(swelling(pinkNoise(between(random, 400, 900), random), 200), -24);
}

/** A plug, a switch: a few ms. */
export function click(random: Random): Sound {
  const ms = between(random, 1, 5);
  return atPeak(
    swelling(
      made(ms, () => random() * 2 - 1),
      0.2,
    ),
    -3,
  );
}

/** "Mhm": two hums through the nose with breath between them. */
export function murmur(random: Random): Sound {
  const hertz = between(random, 100, 210);
  const hum = (from: number, to: number): Sound =>
    swelling(throughThroat(buzz(between(random, 110, 160), from, to), [250, 1100, 2300]), 30);
  const gap = louder(throughThroat(whiteNoise(between(random, 30, 60), random), [700, 2200]), -22);
  return chain(hum(hertz, hertz * 0.9), gap, hum(hertz * 1.05, hertz * 1.25));
}

const LOW_HZ = [697, 770, 852, 941] as const;
const HIGH_HZ = [1209, 1336, 1477, 1633] as const;

/** A pressed key, 0 to 15 (four rows of four). */
export function keyTone(key: number, ms: number): Sound {
  const [low = 697, high = 1209] = [LOW_HZ[Math.floor(key / 4) % 4], HIGH_HZ[key % 4]];
  return made(ms, (index) => {
    const angle = (2 * Math.PI * index) / LINE_RATE_HZ;
    return 0.5 * Math.sin(angle * low) + 0.5 * Math.sin(angle * high);
  });
}

/** What comes back of a prompt: later, without its highs, and `db` quieter. */
export function echoOf(prompt: Sound, db: number, delayMs = 60): Sound {
  let low = 0;
  const dull = prompt.map((sample) => (low += 0.6 * (sample - low)));
  return louder(chain(quiet(delayMs), dull), db);
}

export function atPeak(sound: Sound, dbfs: number): Sound {
  const peak = sound.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return louder(sound, dbfs - 20 * Math.log10(peak));
}

/** As the platform sends it: µ-law, what is too loud cut off. */
export function asMulaw(sound: Sound): Uint8Array {
  const samples = new Int16Array(sound.length);
  for (let index = 0; index < sound.length; index += 1) {
    samples[index] = Math.max(-32_768, Math.min(32_767, Math.round((sound[index] ?? 0) * 32_767)));
  }
  return encodeMulaw(samples);
}
