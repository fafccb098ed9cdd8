// Splits prompt audio into pieces that a wire allows. The transports pass their own sizes.
import { MULAW_SILENCE } from '../speech/g711.ts';

/** Sizes of pieces, bytes; the minimum is at most half the size. */
export interface ChunkSizes {
  /** Smallest piece allowed. */
  readonly minBytes: number;
  /** Size of every piece but the last. */
  readonly bytes: number;
}

/**
 * Cuts headerless audio into legal chunks (G-42, W-31): none larger than `bytes` and none below the minimum. A remainder that is
 * too short takes bytes from the previous chunk; a prompt that is too short is filled up with silence (G-49).
 */
export function chunksOf(mulaw: Uint8Array, { minBytes, bytes }: ChunkSizes): readonly Uint8Array[] {
  if (mulaw.length === 0) return [];
  if (mulaw.length < minBytes) {
    const filled = new Uint8Array(minBytes).fill(MULAW_SILENCE);
    filled.set(mulaw);
    return [filled];
  }
  const chunks: Uint8Array[] = [];
  for (let from = 0; from < mulaw.length;) {
    const left = mulaw.length - from;
    const rest = left - bytes;
    const size = rest > 0 && rest < minBytes ? bytes - minBytes : Math.min(left, bytes);
    chunks.push(mulaw.subarray(from, from + size));
    from += size;
  }
  return chunks;
}
