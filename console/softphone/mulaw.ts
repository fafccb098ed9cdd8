// G.711 µ-law, sample by sample; floats from -1 to 1.

export const LINE_RATE_HZ = 8000;
/** Samples of a frame: 20 ms. */
export const FRAME_SAMPLES = 160;

const BIAS = 132;
const CLIP = 32_635;
const FULL_SCALE = 32_768;

export function encodeSample(sample: number): number {
  const magnitude = Math.min(CLIP, Math.abs(Math.round(sample * FULL_SCALE))) + BIAS;
  // The position of the highest bit above the seventh.
  const exponent = 31 - Math.clz32(magnitude) - 7;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0xf)) & 0xff;
}

export function decodeSample(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0xf) << 3) + BIAS) << ((bits >> 4) & 7)) - BIAS;
  return ((bits & 0x80) === 0 ? magnitude : -magnitude) / FULL_SCALE;
}

/** How loud a frame is at its loudest, 0 to 1, in steps of 6 dB. */
export function levelOf(frame: Uint8Array): number {
  let most = 0;
  for (const code of frame) most = Math.max(most, (~code >> 4) & 7);
  return most / 7;
}
