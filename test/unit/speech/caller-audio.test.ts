import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadSignalEngines } from '../../../src/app/signal-engines.ts';
import type { AudioFormat } from '../../../src/speech/audio-format.ts';
import { CallerAudio } from '../../../src/speech/caller-audio.ts';
import type { SignalEngines } from '../../../src/speech/engines.ts';
import { decodeMulaw, encodeMulaw } from '../../../src/speech/g711.ts';
import { mulawWav, pcmWav } from '../../../src/speech/wav.ts';
import { alaw, joined, linear16, noise } from '../../support/line-signals.ts';

const MULAW: AudioFormat = { encoding: 'mulaw', sampleRateHz: 8000 };
const ALAW: AudioFormat = { encoding: 'alaw', sampleRateHz: 8000 };
const LINEAR: AudioFormat = { encoding: 'linear16', sampleRateHz: 8000 };
const WIDE: AudioFormat = { encoding: 'linear16', sampleRateHz: 16_000 };

let engines: SignalEngines;

beforeAll(async () => {
  engines = await loadSignalEngines();
});

type Message = readonly [audio: Uint8Array, format: AudioFormat];

/** Everything that comes out for these messages. */
function decode(...messages: readonly Message[]): { pcm: Int16Array; mulaw: Uint8Array } {
  const pcm: number[] = [];
  const mulaw: number[] = [];
  const audio = new CallerAudio(engines.createResampler, (pcmFrame, mulawFrame) => {
    pcm.push(...pcmFrame);
    mulaw.push(...mulawFrame);
  });
  for (const message of messages) audio.push(...message);
  mulaw.push(...audio.finish());
  audio.close();
  return { pcm: Int16Array.from(pcm), mulaw: Uint8Array.from(mulaw) };
}

/** The same bytes in messages of the given sizes. */
function cut(bytes: Uint8Array, sizes: readonly number[], format: AudioFormat): Message[] {
  const messages: Message[] = [];
  let from = 0;
  for (const size of [...sizes, bytes.length]) {
    messages.push([bytes.subarray(from, from + size), format]);
    from = Math.min(bytes.length, from + size);
  }
  return messages;
}

// PCM has one zero where µ-law has two.
const line = encodeMulaw(decodeMulaw(noise(200, -20)));
const samples = decodeMulaw(line);
const sizes = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 30 });

describe('codings', () => {
  it('G-30 hands µ-law at 8 kHz on byte for byte', () => {
    expect(decode([line, MULAW])).toEqual({ pcm: samples, mulaw: line });
  });

  it('G-31 decodes A-law', () => {
    const coded = alaw(samples);
    const { pcm, mulaw } = decode([coded, ALAW]);
    const worst = samples.reduce(
      (error, sample, index) => Math.max(error, Math.abs(sample - (pcm[index] ?? 0)) / (Math.abs(sample) + 64)),
      0,
    );
    expect(worst).toBeLessThan(0.13);
    expect(mulaw).toEqual(encodeMulaw(pcm));
  });

  it('G-31 decodes 16-bit PCM without losing a bit', () => {
    const exact = Int16Array.from({ length: 320 }, (_, index) => index * 97 - 16_000);
    expect(decode([linear16(exact), LINEAR])).toEqual({ pcm: exact, mulaw: encodeMulaw(exact) });
  });

  it('G-31 brings 16 kHz to half as many samples', () => {
    const wide = Int16Array.from({ length: 6400 }, (_, index) => Math.round(10_000 * Math.sin((2 * Math.PI * 500 * index) / 16_000)));
    const { pcm } = decode([linear16(wide), WIDE]);
    expect(pcm.length).toBe(3200);
    expect(pcm.subarray(300, 2900).every((sample, index) => Math.abs(sample - (wide[(index + 300) * 2] ?? 0)) <= 2)).toBe(true);
  });

  it.each(['mulaw', 'alaw'] as const)('G-31 brings %s of 16 kHz to half as many samples', (encoding) => {
    const { mulaw } = decode([line, { encoding, sampleRateHz: 16_000 }]);
    expect(mulaw.length).toBe(line.length / 2);
  });

  it('refuses a rate it cannot decode as unsupported_audio', () => {
    expect(() => decode([line, { encoding: 'mulaw', sampleRateHz: 44_100 }])).toThrow(
      expect.objectContaining({ code: 'unsupported_audio' }),
    );
  });
});

describe('messages of any size', () => {
  it.each([
    ['mulaw', MULAW, line],
    ['alaw', ALAW, alaw(samples)],
    ['linear16', LINEAR, linear16(samples)],
    ['linear16 at 16 kHz', WIDE, linear16(samples)],
    ['mulaw at 16 kHz', { encoding: 'mulaw', sampleRateHz: 16_000 }, line],
  ] satisfies [string, AudioFormat, Uint8Array][])('come out as one: %s', (_, format, bytes) => {
    const whole = decode([bytes, format]);
    fc.assert(
      fc.property(sizes, (chosen) => {
        expect(decode(...cut(bytes, chosen, format))).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  it('carries the odd byte of a 16-bit sample over to the next message', () => {
    const bytes = linear16(samples);
    expect(decode(...cut(bytes, new Array<number>(bytes.length).fill(1), LINEAR)).pcm).toEqual(samples);
  });

  it('accepts a message without audio (G-32)', () => {
    expect(decode([new Uint8Array(0), MULAW], [line, MULAW]).mulaw).toEqual(line);
  });
});

describe('a format that changes', () => {
  it('loses no sample of either', () => {
    const { mulaw } = decode([line.subarray(0, 500), MULAW], [linear16(samples.subarray(500)), LINEAR]);
    expect(mulaw).toEqual(line);
  });

  it('brings out what the resampler still holds', () => {
    const { mulaw } = decode([linear16(new Int16Array(3200)), WIDE], [line, MULAW]);
    expect(mulaw.length).toBe(1600 + line.length);
    expect(mulaw.subarray(1600)).toEqual(line);
  });

  it('drops half a sample', () => {
    expect(decode([linear16(samples.subarray(0, 160)), LINEAR], [Uint8Array.of(1), LINEAR], [line, MULAW]).mulaw.length).toBe(
      160 + line.length,
    );
  });
});

describe('a WAV header', () => {
  it('G-31 is taken off, and its format counts', () => {
    expect(decode([mulawWav(line), LINEAR]).mulaw).toEqual(line);
    expect(decode([pcmWav([samples], 8000), MULAW]).pcm).toEqual(samples);
  });

  it('counts for the messages that continue its samples, and no longer', () => {
    const file = joined(pcmWav([samples], 8000), new TextEncoder().encode('LIST----junk'));
    const cutInPlace = 44 + 999;
    const { mulaw } = decode([file.subarray(0, cutInPlace), MULAW], [file.subarray(cutInPlace), MULAW], [line, MULAW]);
    expect(mulaw).toEqual(joined(line, line));
  });

  it('may stand on every message', () => {
    const half = samples.length / 2;
    const { pcm } = decode([pcmWav([samples.subarray(0, half)], 8000), MULAW], [pcmWav([samples.subarray(half)], 8000), MULAW]);
    expect(pcm).toEqual(samples);
  });

  it.each([0, 0xffff_ffff])('counts until the stream is over when it claims %d bytes', (claimed) => {
    const endless = pcmWav([samples], 8000);
    new DataView(endless.buffer).setUint32(40, claimed, true);
    const received: number[] = [];
    const audio = new CallerAudio(engines.createResampler, (_pcm, mulaw) => received.push(...mulaw));
    audio.push(endless, MULAW);
    audio.push(linear16(samples), MULAW);
    expect(Uint8Array.from(received)).toEqual(joined(line, line));
    audio.finish();
    audio.push(line, MULAW);
    expect(Uint8Array.from(received)).toEqual(joined(line, line, line));
  });

  it('no longer counts once the call names another format', () => {
    const endless = pcmWav([samples], 8000);
    new DataView(endless.buffer).setUint32(40, 0, true);
    expect(decode([endless, MULAW], [line, ALAW]).mulaw.length).toBe(2 * line.length);
  });

  it.each([
    ['two channels', () => pcmWav([samples, samples], 8000)],
    ['a rate of 11 kHz', () => pcmWav([samples], 11_025)],
    ['24 bits', () => Uint8Array.from(pcmWav([samples], 8000), (byte, index) => (index === 34 ? 24 : index === 32 ? 3 : byte))],
    ['no samples in the message', () => pcmWav([samples], 8000).subarray(0, 40)],
  ])('is refused as unsupported_audio with %s', (_, make) => {
    expect(() => decode([make(), MULAW])).toThrow(expect.objectContaining({ code: 'unsupported_audio' }));
  });

  it('G-31 is refused or decoded whatever its bytes are', () => {
    const whole = pcmWav([samples.subarray(0, 20)], 8000);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 12, max: 60 }), fc.integer({ min: 0, max: 255 })), { maxLength: 5 }), (changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [index, byte] of changes) bytes[index] = byte;
        try {
          expect(decode([bytes, MULAW]).mulaw.length).toBeLessThanOrEqual(bytes.length);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'unsupported_audio' });
        }
      }),
      { numRuns: 1000 },
    );
  });
});
