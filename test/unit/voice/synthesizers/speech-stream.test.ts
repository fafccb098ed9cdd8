import { beforeAll, describe, expect, it } from 'vitest';
import { decodeMulaw } from '../../../../src/speech/g711.ts';
import type { CreateResampler } from '../../../../src/speech/resample.ts';
import { SpeechStream } from '../../../../src/voice/synthesizers/speech-stream.ts';
import { VoiceLevel } from '../../../../src/voice/synthesizers/voice-level.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { realResampler } from '../../../support/voice.ts';
import { loudnessOf, pcmBytes, voiceSound } from '../../../support/voice-sound.ts';

let createResampler: CreateResampler;
let openResamplers = 0;

beforeAll(async () => {
  const create = await realResampler();
  createResampler = (fromHz, toHz) => {
    const resampler = create(fromHz, toHz);
    openResamplers += 1;
    return {
      push: (samples) => resampler.push(samples),
      flush: () => resampler.flush(),
      close: () => {
        openResamplers -= 1;
        resampler.close();
      },
    };
  };
});

/** Speech that arrives `stepMs` of it at a time, each step `everyMs` later on the clock. */
function streamed(
  samples: Int16Array,
  { rateHz = 24_000, stepMs = 20, everyMs = 0 }: { rateHz?: number; stepMs?: number; everyMs?: number } = {},
): { pieces: { ms: number; atMs: number }[]; whole: Uint8Array } {
  const clock = new FakeClock();
  const pieces: { ms: number; atMs: number }[] = [];
  const onPiece = (mulaw: Uint8Array): void => {
    pieces.push({ ms: mulaw.length / 8, atMs: clock.monotonicMs() });
  };
  const stream = new SpeechStream({ rateHz, createResampler, level: new VoiceLevel(), clock, onPiece });
  try {
    const bytes = pcmBytes(samples);
    const step = (rateHz / 1000) * stepMs * 2;
    for (let from = 0; from < bytes.length; from += step) {
      stream.push(bytes.subarray(from, from + step));
      clock.advance(everyMs);
    }
    return { pieces, whole: stream.end() };
  } finally {
    stream.close();
  }
}

const lengths = ({ pieces }: ReturnType<typeof streamed>): number[] => pieces.map(({ ms }) => ms);

describe('SpeechStream', () => {
  it('passes on the first 200 ms at once and then longer and longer pieces', () => {
    const ms = lengths(streamed(voiceSound({ rateHz: 24_000, speechMs: 9000 })));
    const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = ms;
    for (const [actual, wanted] of [
      [first, 200],
      [second, 400],
      [third, 800],
      [fourth, 1600],
      [fifth, 1600],
    ] as const) {
      expect(actual).toBeGreaterThanOrEqual(wanted);
      // The last syllable may have been followed by a pause, which waits for the next one.
      expect(actual).toBeLessThan(wanted + 100);
    }
  });

  it('passes pieces on earlier when the caller would hear a gap: speech that is made just as fast as it is heard', () => {
    const { pieces } = streamed(voiceSound({ rateHz: 24_000, speechMs: 6000 }), { stepMs: 20, everyMs: 18 });
    let heardUntilMs = pieces[0]?.atMs ?? 0;
    for (const { ms, atMs } of pieces) {
      expect(atMs - heardUntilMs).toBeLessThan(80);
      heardUntilMs = Math.max(heardUntilMs, atMs) + ms;
    }
  });

  it.each([8000, 16_000, 22_050, 24_000, 44_100, 48_000])('gives speech of %i Hz its length and loudness on the line', (rateHz) => {
    const { whole } = streamed(voiceSound({ rateHz, speechMs: 4000 }), { rateHz });
    expect(whole.length / 8).toBeGreaterThan(4000);
    expect(whole.length / 8).toBeLessThan(4150);
    expect(loudnessOf(whole).rms).toBeGreaterThan(0.05);
    expect(loudnessOf(whole).peak).toBeLessThan(0.75);
    expect(openResamplers).toBe(0);
  });

  it.each([
    ['none', 0, 0],
    ['too much', 700, 900],
  ])('leaves 50 ms of silence before and 100 ms after the speech when the service sends %s', (_, beforeMs, afterMs) => {
    const { whole } = streamed(voiceSound({ rateHz: 24_000, speechMs: 2820, beforeMs, afterMs }));
    const sounding = [...decodeMulaw(whole)].map((sample) => Math.abs(sample) > 300);
    const [leadMs, tailMs] = [sounding.indexOf(true) / 8, (whole.length - 1 - sounding.lastIndexOf(true)) / 8];
    expect(leadMs).toBeGreaterThanOrEqual(50);
    expect(leadMs).toBeLessThan(65);
    expect(tailMs).toBeGreaterThanOrEqual(100);
    expect(tailMs).toBeLessThan(115);
  });

  it('does not make the caller wait for silence before the speech', () => {
    const { pieces } = streamed(voiceSound({ rateHz: 24_000, speechMs: 2000, beforeMs: 2000 }), { everyMs: 1 });
    // 2,000 ms of silence take 100 steps of 1 ms here; the speech of the first piece is there eight steps later.
    expect(pieces[0]?.atMs).toBeLessThan(115);
    expect(pieces[0]?.ms).toBeLessThan(300);
  });

  it.each([
    ['keeps a pause of a second inside the speech', 1, 1],
    ['cuts a pause of a minute to three seconds', 60, 3],
  ])('%s', (_, pauseS, heardS) => {
    const sound = voiceSound({ rateHz: 24_000, speechMs: 1000 });
    const withPause = new Int16Array(sound.length * 2 + 24_000 * pauseS);
    withPause.set(sound);
    withPause.set(sound, sound.length + 24_000 * pauseS);
    const { whole } = streamed(withPause);
    expect(whole.length / 8000 - heardS).toBeGreaterThan(1.95);
    expect(whole.length / 8000 - heardS).toBeLessThan(2.16);
  });

  it('has nothing to say when there is no sound', () => {
    const { pieces, whole } = streamed(new Int16Array(48_000));
    expect([pieces, whole.length]).toEqual([[], 0]);
  });

  it('refuses more than five minutes', () => {
    const stream = new SpeechStream({
      ...{ rateHz: 8000, createResampler, level: new VoiceLevel(), clock: new FakeClock(), onPiece: () => undefined },
    });
    const minute = new Uint8Array(60 * 16_000);
    for (let time = 0; time < 5; time += 1) stream.push(minute);
    expect(() => {
      stream.push(minute);
    }).toThrow(/five minutes/u);
  });
});
