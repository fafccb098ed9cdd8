import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_CHUNK_BYTES,
  MAX_SOCKET_CHUNK_BYTES,
  MIN_CHUNK_BYTES,
  MIN_SOCKET_CHUNK_BYTES,
  SOCKET_CHUNK_BYTES,
} from '../../../src/contract/limits.ts';
import { chunksOf, type ChunkSizes } from '../../../src/transport/audio-chunks.ts';

const GRPC: ChunkSizes = { minBytes: MIN_CHUNK_BYTES, bytes: MAX_CHUNK_BYTES };
const SOCKET: ChunkSizes = { minBytes: MIN_SOCKET_CHUNK_BYTES, bytes: SOCKET_CHUNK_BYTES };

const SOUND = Uint8Array.from({ length: 400_000 }, (_, index) => index % 251);

describe('pieces of prompt audio', () => {
  it.each([
    ['G-42 G-49', GRPC, 100, 65_536],
    ['W-31', SOCKET, 320, 16_000],
  ])('%s: are legal and lose no byte, whatever the length of the prompt', (_rules, sizes, min, max) => {
    const lengths = fc.oneof(
      fc.integer({ min, max: 5 * max }),
      ...[max, 2 * max].map((edge) => fc.integer({ min: edge - 2 * min, max: edge + 2 * min })),
    );
    fc.assert(
      fc.property(lengths, (length) => {
        const audio = SOUND.subarray(0, length);
        const chunks = chunksOf(audio, sizes);
        for (const chunk of chunks) {
          expect(chunk.length).toBeGreaterThanOrEqual(min);
          expect(chunk.length).toBeLessThanOrEqual(max);
        }
        expect(Buffer.concat(chunks).equals(audio)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['G-49', GRPC, 100],
    ['W-31', SOCKET, 320],
  ])('%s: a very short prompt is filled up with silence, and none is nothing', (_rule, sizes, min) => {
    const [chunk] = chunksOf(new Uint8Array(7).fill(1), sizes);
    expect(chunk?.length).toBe(min);
    expect([...(chunk ?? [])].slice(6, 9)).toEqual([1, 0xff, 0xff]);
    expect(chunksOf(new Uint8Array(0), sizes)).toEqual([]);
  });

  it('W-31 W-33: what a piece is long on a WebSocket stays within what is allowed there, which is less than on gRPC', () => {
    expect(SOCKET_CHUNK_BYTES).toBeLessThanOrEqual(MAX_SOCKET_CHUNK_BYTES);
    expect(MAX_SOCKET_CHUNK_BYTES).toBeLessThan(MAX_CHUNK_BYTES);
  });
});
