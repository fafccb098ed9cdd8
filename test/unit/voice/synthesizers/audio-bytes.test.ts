import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../../src/speech/g711.ts';
import { mulawWav, pcmWav } from '../../../../src/speech/wav.ts';
import { AudioBytes } from '../../../../src/voice/synthesizers/audio-bytes.ts';
import { pcmBytes } from '../../../support/voice-sound.ts';

const SAMPLES = Int16Array.from({ length: 500 }, (_, at) => at * 17 - 4000);

/** The bytes cut where the numbers say, turned into samples. */
function read(bytes: Uint8Array, cuts: readonly number[] = [], rateHz = 24_000): { samples: number[]; rateHz: number } {
  const audio = new AudioBytes(rateHz);
  const samples: number[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b).concat(bytes.length)) {
    const to = Math.min(cut, bytes.length);
    samples.push(...audio.push(bytes.subarray(from, to)));
    from = to;
  }
  samples.push(...audio.end());
  return { samples, rateHz: audio.sampleRateHz };
}

/** A WAV file with other sizes in its header. */
function claiming(file: Uint8Array, riffBytes: number, dataBytes: number): Uint8Array {
  const claimed = file.slice();
  const view = new DataView(claimed.buffer);
  view.setUint32(4, riffBytes, true);
  view.setUint32(40, dataBytes, true);
  return claimed;
}

const WAV = pcmWav([SAMPLES], 22_050);
const cuts = fc.array(fc.nat(1100), { maxLength: 20 });

describe('AudioBytes', () => {
  it('reads bare samples however they are cut', () => {
    fc.assert(
      fc.property(cuts, (at) => {
        expect(read(pcmBytes(SAMPLES), at)).toEqual({ samples: [...SAMPLES], rateHz: 24_000 });
      }),
    );
  });

  it('reads a WAV file with its own rate however it is cut', () => {
    fc.assert(
      fc.property(cuts, (at) => {
        expect(read(WAV, at)).toEqual({ samples: [...SAMPLES], rateHz: 22_050 });
      }),
    );
  });

  it.each([
    ['no size', 0],
    ['the largest size', 0xffff_ffff],
    ['the size of a pipe', 0x7fff_f000],
    ['twice its size', 2000],
  ])('reads a WAV file that claims %s, as a service does that cannot know', (_, bytes) => {
    expect(read(claiming(WAV, bytes, bytes), [100, 301]).samples).toEqual([...SAMPLES]);
  });

  it('leaves out what follows the samples of a WAV file', () => {
    const withTitle = Buffer.concat([WAV, Buffer.from('LIST\x04\0\0\0abcd')]);
    expect(read(withTitle, [1040, 1043]).samples).toEqual([...SAMPLES]);
  });

  it('makes one channel of two, and reads µ-law', () => {
    expect(read(pcmWav([SAMPLES, SAMPLES], 48_000), [51, 99])).toEqual({ samples: [...SAMPLES], rateHz: 48_000 });
    const mulaw = Uint8Array.from({ length: 200 }, (_, at) => at);
    expect(read(mulawWav(mulaw), [70]).samples).toEqual([...decodeMulaw(mulaw)]);
  });

  it('leaves half a sample at the end out', () => {
    expect(read(pcmBytes(SAMPLES).subarray(0, 501)).samples).toEqual([...SAMPLES.subarray(0, 250)]);
  });

  it.each([0, 1, 2, 11])('reads %i bytes', (bytes) => {
    expect(read(pcmBytes(SAMPLES).subarray(0, bytes)).samples).toEqual([...SAMPLES.subarray(0, Math.floor(bytes / 2))]);
  });

  it.each([
    ['MP3 with a title', Buffer.from('ID3\x04\0\0\0\0\0\0\0\0')],
    ['MP3', Buffer.from('fffb90c4000000000000000000', 'hex')],
    ['AAC', Buffer.from('fff15080000000000000000000', 'hex')],
    ['Ogg', Buffer.from('OggS\0\x02\0\0\0\0\0\0')],
    ['FLAC', Buffer.from('fLaC\0\0\0\x22\0\0\0\0')],
    ['WebM', Buffer.from('1a45dfa3000000000000000000', 'hex')],
  ])('refuses %s, which would be loud noise', (_, bytes) => {
    expect(() => read(bytes, [3])).toThrow(expect.objectContaining({ code: 'unsupported_audio' }) as Error);
  });

  it('takes samples around zero for no compressed audio', () => {
    expect(read(Buffer.from('ffffffff0000feff01000000', 'hex')).samples).toEqual([-1, -1, 0, -2, 1, 0]);
  });

  it('refuses a WAV file of another coding, and one that ends before its samples', () => {
    const floats = claiming(pcmWav([new Int16Array(10_000)], 24_000), 20_036, 20_000);
    new DataView(floats.buffer).setUint16(20, 3, true);
    const unusable = expect.objectContaining({ code: 'prompt_unusable' }) as Error;
    expect(() => read(floats, [5000, 10_000])).toThrow(unusable);
    expect(() => read(WAV.subarray(0, 40))).toThrow(unusable);
  });

  it('refuses a header that does not end', () => {
    const endless = Buffer.concat([Buffer.from('RIFF\xff\xff\xff\xffWAVELIST\xff\xff\xff\x7f', 'latin1'), Buffer.alloc(20_000)]);
    expect(() => read(endless, [4000, 8000, 12_000])).toThrow(expect.objectContaining({ code: 'prompt_unusable' }) as Error);
  });
});
