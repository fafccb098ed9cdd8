// Signals a telephone line may carry, for tests: the recorded speech of test/fixtures/speech and made-up noises. All of
// them are the same in every run.
import { readFileSync } from 'node:fs';
import { ALAW_TO_LINEAR, decodeMulaw, encodeMulaw } from '../../src/speech/g711.ts';
import { MULAW_WAV_HEADER_BYTES } from '../../src/speech/wav.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/speech/${name}`, import.meta.url));

/** Recorded speech as 8 kHz µ-law without a header. */
export function recorded(name: 'sentence' | 'number' | 'yes'): Uint8Array {
  return new Uint8Array(fixture(`${name}.wav`)).subarray(MULAW_WAV_HEADER_BYTES);
}

/** The samples that sox decodes from the codes 0 to 255. */
export function soxDecoded(coding: 'mulaw' | 'alaw'): number[] {
  const bytes = fixture(`${coding}-decoded.s16`);
  return Array.from({ length: 256 }, (_, code) => bytes.readInt16LE(code * 2));
}

/** A silent line for so long. */
export function silence(ms: number, code = 0xff): Uint8Array {
  return new Uint8Array(ms * 8).fill(code);
}

/** 8 kHz µ-law from a function of the sample's number; its values are parts of full scale. */
export function signal(ms: number, sampleAt: (index: number) => number): Uint8Array {
  return encodeMulaw(Int16Array.from({ length: ms * 8 }, (_, index) => Math.round(sampleAt(index) * 32_767)));
}

/** White noise with the given root mean square in dBFS. */
export function noise(ms: number, dbfs: number, seed = 1): Uint8Array {
  let state = seed;
  const amplitude = 10 ** (dbfs / 20) * Math.sqrt(3);
  return signal(ms, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return ((state / 2 ** 32) * 2 - 1) * amplitude;
  });
}

/** Mains hum at 50 Hz with two overtones, its peak in dBFS. */
export function hum(ms: number, dbfs: number): Uint8Array {
  const amplitude = 10 ** (dbfs / 20) / 1.8;
  const wave = (index: number, hertz: number): number => Math.sin((2 * Math.PI * hertz * index) / 8000);
  return signal(ms, (index) => amplitude * (wave(index, 50) + 0.5 * wave(index, 100) + 0.3 * wave(index, 150)));
}

/** Both signals at once, as long as the longer one. */
export function mixed(first: Uint8Array, second: Uint8Array): Uint8Array {
  const longer = Math.max(first.length, second.length);
  const [one, two] = [decodeMulaw(first), decodeMulaw(second)];
  return encodeMulaw(Int16Array.from({ length: longer }, (_, index) => clipped((one[index] ?? 0) + (two[index] ?? 0))));
}

function clipped(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, sample));
}

/** One piece after the other. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** Samples as 16-bit PCM, low byte first. */
export function linear16(samples: Int16Array): Uint8Array {
  const bytes = Buffer.alloc(samples.length * 2);
  samples.forEach((sample, index) => bytes.writeInt16LE(sample, index * 2));
  return new Uint8Array(bytes);
}

/** Samples as A-law: the code whose sample is nearest. */
export function alaw(samples: Int16Array): Uint8Array {
  const byLevel = Array.from(ALAW_TO_LINEAR, (level, code) => ({ level, code })).sort((a, b) => a.level - b.level);
  return Uint8Array.from(samples, (sample) => {
    const above = byLevel.findIndex(({ level }) => level >= sample);
    const upper = byLevel.at(above);
    const lower = byLevel.at(Math.max(0, above - 1));
    if (upper === undefined || lower === undefined) throw new Error('no A-law codes');
    return Math.abs(upper.level - sample) < Math.abs(lower.level - sample) ? upper.code : lower.code;
  });
}
