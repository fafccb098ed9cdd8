import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.ts';
import { decodeMulaw, encodeMulaw } from '../../../src/speech/g711.ts';
import { mulawWav, mulawWavHeader, pcmWav, readWav, readWavLayout, startsAsWav } from '../../../src/speech/wav.ts';

interface Parts {
  readonly format?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
  readonly blockBytes?: number;
  /** Bytes after the sixteen that every format has. */
  readonly formatTail?: readonly number[];
  readonly data?: readonly number[];
  /** What the data chunk says of itself; its true length when left out. */
  readonly claimed?: number;
  readonly before?: readonly number[];
}

/** A WAV file built without our writer, so that reading is not tested with our own writing alone. */
function file(parts: Parts = {}): Uint8Array {
  const { format = 1, channels = 1, rate = 8000, bits = 16, formatTail = [], data = [], before = [] } = parts;
  const blockBytes = parts.blockBytes ?? (channels * bits) / 8;
  const head = Buffer.alloc(36);
  head.write('RIFF', 0, 'latin1');
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16 + formatTail.length, 16);
  head.writeUInt16LE(format, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(0, 28);
  head.writeUInt16LE(blockBytes, 32);
  head.writeUInt16LE(bits, 34);
  const chunk = Buffer.alloc(8);
  chunk.write('data', 0, 'latin1');
  chunk.writeUInt32LE(parts.claimed ?? data.length, 4);
  return new Uint8Array(Buffer.concat([head, Buffer.from(formatTail), Buffer.from(before), chunk, Buffer.from(data)]));
}

/** The tail of an extensible format that stands for `inner`. */
const extensible = (inner: number): number[] => [22, 0, 16, 0, 0, 0, 0, 0, inner, 0, ...new Array<number>(14).fill(0)];

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (thrown) {
    return thrown instanceof AppError ? thrown.code : 'not an AppError';
  }
}

describe('writing WAV', () => {
  it('G-41 heads µ-law with 58 bytes: long format, sample count, data', () => {
    const header = Buffer.from(mulawWavHeader(1000));
    expect(header.length).toBe(58);
    expect(header.toString('latin1', 0, 4)).toBe('RIFF');
    expect(header.readUInt32LE(4)).toBe(1050);
    expect(header.toString('latin1', 8, 16)).toBe('WAVEfmt ');
    expect(header.readUInt32LE(16)).toBe(18);
    expect([20, 22, 32, 34, 36].map((offset) => header.readUInt16LE(offset))).toEqual([7, 1, 1, 8, 0]);
    expect([header.readUInt32LE(24), header.readUInt32LE(28)]).toEqual([8000, 8000]);
    expect(header.toString('latin1', 38, 42)).toBe('fact');
    expect([header.readUInt32LE(42), header.readUInt32LE(46)]).toEqual([4, 1000]);
    expect(header.toString('latin1', 50, 54)).toBe('data');
    expect(header.readUInt32LE(54)).toBe(1000);
  });

  it('reads back the µ-law it wrote, of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (mulaw) => {
        const wav = mulawWav(mulaw);
        // Chunks are padded to even length, and the outer size counts the padding.
        expect(wav.length % 2).toBe(0);
        expect(Buffer.from(wav).readUInt32LE(4)).toBe(wav.length - 8);
        expect(readWav(wav)).toEqual({ samples: decodeMulaw(mulaw), sampleRateHz: 8000 });
      }),
    );
  });

  it('reads back the one channel of PCM it wrote', () => {
    fc.assert(
      fc.property(fc.int16Array({ maxLength: 300 }), fc.constantFrom(8000, 16_000, 48_000), (samples, sampleRateHz) => {
        const wav = pcmWav([samples], sampleRateHz);
        expect(Buffer.from(wav).readUInt32LE(4)).toBe(wav.length - 8);
        expect(readWav(wav)).toEqual({ samples: Int16Array.from(samples), sampleRateHz });
      }),
    );
  });

  it('interleaves two channels and lengthens the shorter one with silence', () => {
    const wav = Buffer.from(pcmWav([Int16Array.of(1, 2, 3), Int16Array.of(-1)], 8000));
    expect(wav.readUInt16LE(22)).toBe(2);
    expect(wav.readUInt32LE(28)).toBe(32_000);
    expect([44, 46, 48, 50, 52, 54].map((offset) => wav.readInt16LE(offset))).toEqual([1, -1, 2, 0, 3, 0]);
  });
});

describe('reading WAV', () => {
  it.each([
    ['PCM of 8 bits, unsigned', { bits: 8, data: [0x80, 0x00, 0xff] }, [0, -32_768, 32_512]],
    ['PCM of 16 bits', { data: [0x01, 0x00, 0x00, 0x80] }, [1, -32_768]],
    ['PCM of 24 bits without its low byte', { bits: 24, data: [0xff, 0x01, 0x00, 0xff, 0x00, 0x80] }, [1, -32_768]],
    ['µ-law', { format: 7, bits: 8, data: [0x00, 0xff] }, [-32_124, 0]],
    ['A-law', { format: 6, bits: 8, data: [0xd5, 0x55] }, [8, -8]],
    ['an extensible format', { format: 0xfffe, formatTail: extensible(1), data: [0x05, 0x00] }, [5]],
    ['an extensible format of µ-law', { format: 0xfffe, bits: 8, formatTail: extensible(7), data: [0x00] }, [-32_124]],
    ['the mean of two channels', { channels: 2, data: [10, 0, 20, 0, 0xff, 0xff, 0xff, 0xff] }, [15, -1]],
    ['samples behind another chunk of odd length', { before: [0x4c, 0x49, 0x53, 0x54, 1, 0, 0, 0, 9, 0], data: [5, 0] }, [5]],
    ['no sample where the last one is cut in two', { data: [5, 0, 6] }, [5]],
    ['a file without samples', {}, []],
    ['a file written to a pipe (2^32 - 1 bytes)', { data: [5, 0], claimed: 0xffff_ffff }, [5]],
    ['a file written to a pipe by sox', { data: [5, 0], claimed: 0x7fff_f000 }, [5]],
  ] satisfies [string, Parts, number[]][])('understands %s', (_, parts, samples) => {
    expect([...readWav(file(parts)).samples]).toEqual(samples);
  });

  it('ignores what stands behind the samples', () => {
    const wav = new Uint8Array(Buffer.concat([file({ data: [5, 0] }), Buffer.from('LISTxxxxyyyy', 'latin1')]));
    expect([...readWav(wav).samples]).toEqual([5]);
  });

  it('reads from the middle of a larger buffer', () => {
    const wav = file({ data: [5, 0] });
    const larger = new Uint8Array(wav.length + 7);
    larger.set(wav, 7);
    expect([...readWav(larger.subarray(7)).samples]).toEqual([5]);
  });

  it.each([
    ['an empty file', new Uint8Array(0)],
    ['eleven bytes', file().subarray(0, 11)],
    ['another kind of file', new Uint8Array(100).fill(0x41)],
    ['a RIFF file that is no WAV', Uint8Array.from([...Buffer.from('RIFF----AVI fmt ', 'latin1')])],
    ['a format cut short', file().subarray(0, 30)],
    ['a format chunk of ten bytes', Uint8Array.from(file(), (byte, index) => (index === 16 ? 10 : byte))],
    ['an extended format cut short', file({ format: 0xfffe, data: [0, 0] })],
    ['no samples chunk', file().subarray(0, 36)],
    ['a chunk size that leads past the end', Uint8Array.from(file({ data: [0, 0] }), (byte, index) => (index === 19 ? 0x40 : byte))],
    ['samples before any format', Uint8Array.from([...Buffer.from('RIFF----WAVEdata\x02\x00\x00\x00\x01\x00', 'latin1')])],
    ['fewer samples than it says', file({ data: [1, 0], claimed: 4 })],
    ['far fewer samples than it says', file({ data: [1, 0], claimed: 0x7000_0000 })],
    ['a rate of zero', file({ rate: 0, data: [1, 0] })],
    ['a rate of 4 GHz', file({ rate: 0xffff_ffff, data: [1, 0] })],
    ['no channel', file({ channels: 0, blockBytes: 2, data: [1, 0] })],
    ['three channels', file({ channels: 3, data: [1, 0, 1, 0, 1, 0] })],
    ['a block size of zero', file({ blockBytes: 0, data: [1, 0] })],
    ['floating point', file({ format: 3, bits: 32, data: [0, 0, 0, 0] })],
    ['µ-law of 16 bits', file({ format: 7, data: [0, 0] })],
    ['A-law of 16 bits', file({ format: 6, data: [0, 0] })],
    ['PCM of 12 bits', file({ bits: 12, blockBytes: 2, data: [0, 0] })],
  ])('refuses %s as prompt_unusable', (_, wav) => {
    expect(codeOf(() => readWav(wav))).toBe('prompt_unusable');
  });

  it('refuses or reads any bytes, and never makes more samples than there are bytes', () => {
    const whole = file({ before: [0x4c, 0x49, 0x53, 0x54, 2, 0, 0, 0, 9, 9], data: [1, 2, 3, 4, 5, 6, 7, 8] });
    const damaged = fc
      .array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 6 })
      .chain((changes) => fc.nat(whole.length).map((length) => ({ changes, length })))
      .map(({ changes, length }) => {
        const bytes = Uint8Array.from(whole);
        for (const [index, byte] of changes) bytes[index] = byte;
        return bytes.subarray(0, length);
      });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        const code = codeOf(() => {
          expect(readWav(bytes).samples.length).toBeLessThanOrEqual(bytes.length);
        });
        expect([undefined, 'prompt_unusable']).toContain(code);
      }),
      { numRuns: 3000 },
    );
  });

  it('finds the samples of a stream whose first message ends before them', () => {
    const layout = readWavLayout(file({ format: 6, bits: 8, rate: 16_000, claimed: 5000 }));
    expect(layout).toEqual({ coding: 'alaw', channels: 1, sampleRateHz: 16_000, dataOffset: 44, dataBytes: 5000 });
  });

  it('tells a WAV file by its first twelve bytes', () => {
    expect(startsAsWav(mulawWav(encodeMulaw(new Int16Array(4))))).toBe(true);
    expect(startsAsWav(new Uint8Array(Buffer.from('RIFF----WAV', 'latin1')))).toBe(false);
    expect(startsAsWav(new Uint8Array(Buffer.from('RIFX----WAVE', 'latin1')))).toBe(false);
    expect(startsAsWav(new Uint8Array(160).fill(0xff))).toBe(false);
  });
});
