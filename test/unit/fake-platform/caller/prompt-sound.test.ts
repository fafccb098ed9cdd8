import { describe, expect, it } from 'vitest';
import { AppError } from '../../../../src/base/errors.ts';
import { promptSound } from '../../../../src/fake-platform/caller/prompt-sound.ts';
import { callRecording } from '../../../../src/fake-platform/caller/recorded-sound.ts';
import { decodeMulaw } from '../../../../src/speech/g711.ts';
import { mulawWav, pcmWav, readWavLayout } from '../../../../src/speech/wav.ts';
import { tone } from '../../../support/call-lab.ts';

describe('the sound of a prompt', () => {
  it('is the same from headerless µ-law and from a WAV of it (G-31)', () => {
    const mulaw = tone(101);
    expect(promptSound(mulaw)).toEqual(decodeMulaw(mulaw));
    expect(promptSound(mulawWav(mulaw))).toEqual(decodeMulaw(mulaw));
  });

  it('is taken from LINEAR16 at 8 kHz as it is and at 16 kHz through the resampler (G-48)', () => {
    const samples = Int16Array.from({ length: 320 }, (_, index) => index * 10);
    expect(promptSound(pcmWav([samples], 8000))).toEqual(samples);
    const rates: number[] = [];
    const halved = promptSound(pcmWav([samples], 16_000), (given, fromHz, toHz) => {
      rates.push(fromHz, toHz);
      return given.filter((_, index) => index % 2 === 0);
    });
    expect(rates).toEqual([16_000, 8000]);
    expect(halved).toHaveLength(160);
  });

  it('is refused with a reason when it cannot be played', () => {
    expect(() => promptSound(pcmWav([new Int16Array(10)], 16_000))).toThrow(AppError);
    expect(() => promptSound(mulawWav(tone(20)).subarray(0, 70))).toThrow(/ends before its last sample/u);
  });
});

describe('the recording of a call', () => {
  it('has what was heard on the left and what was said on the right, 8 kHz, 16 bit', () => {
    const heard = Int16Array.from({ length: 80 }, (_, index) => index);
    const said = Int16Array.from({ length: 80 }, (_, index) => -index);
    const file = callRecording({ heard, said });
    expect(readWavLayout(file)).toMatchObject({ coding: 'pcm16', channels: 2, sampleRateHz: 8000, dataBytes: 320 });
    const view = new DataView(file.buffer, file.byteOffset + 44);
    expect([view.getInt16(20 * 4, true), view.getInt16(20 * 4 + 2, true)]).toEqual([20, -20]);
  });
});
