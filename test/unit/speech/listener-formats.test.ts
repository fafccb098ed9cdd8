import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadSignalEngines } from '../../../src/app/signal-engines.ts';
import type { AudioFormat } from '../../../src/speech/audio-format.ts';
import type { SignalEngines } from '../../../src/speech/engines.ts';
import { decodeMulaw, encodeMulaw } from '../../../src/speech/g711.ts';
import { Listener, type UtteranceAudio } from '../../../src/speech/listener.ts';
import { resampleAll } from '../../../src/speech/resample.ts';
import { mulawWav } from '../../../src/speech/wav.ts';
import { alaw, joined, linear16, recorded, silence } from '../../support/line-signals.ts';
import { call, heard, MULAW, names, type HearOptions, type Run } from '../../support/listening.ts';

let engines: SignalEngines;

beforeAll(async () => {
  engines = await loadSignalEngines();
});

const listen = (bytes: Uint8Array, options?: HearOptions): Run => heard(engines, bytes, options);

describe('other formats give the same events (G-31)', () => {
  const bounds = (run: Run): number[] => run.events.map(({ ms }) => ms);

  it('16-bit PCM at 8 kHz: the same and the same utterance', () => {
    // PCM has one zero where µ-law has two.
    const line = encodeMulaw(decodeMulaw(call()));
    expect(listen(linear16(decodeMulaw(line)), { format: { encoding: 'linear16', sampleRateHz: 8000 } })).toEqual(listen(line));
  });

  it('A-law and 16-bit PCM at 16 kHz: within two frames', () => {
    const line = call();
    const expected = bounds(listen(line));
    const wide = resampleAll(engines.createResampler, decodeMulaw(line), 8000, 16_000);
    for (const run of [
      listen(alaw(decodeMulaw(line)), { format: { encoding: 'alaw', sampleRateHz: 8000 } }),
      listen(linear16(wide), { format: { encoding: 'linear16', sampleRateHz: 16_000 } }),
    ]) {
      expect(names(run)).toEqual(['speech_started', 'speech_ended']);
      bounds(run).forEach((ms, index) => {
        expect(Math.abs(ms - (expected[index] ?? 0))).toBeLessThanOrEqual(40);
      });
    }
  });

  it('a WAV file in one message: the same utterance as raw', () => {
    const utterances: UtteranceAudio[] = [];
    const listener = new Listener({
      engines,
      onEvent: (event) => {
        if (event === 'speech_ended') utterances.push(listener.takeUtterance());
      },
    });
    listener.push(mulawWav(call()), { encoding: 'linear16', sampleRateHz: 16_000 });
    listener.close();
    expect(utterances).toEqual(listen(call()).utterances);
  });

  it('refuses a rate that cannot be decoded as unsupported_audio', () => {
    const listener = new Listener({ engines, onEvent: () => undefined });
    expect(() => {
      listener.push(silence(20), { encoding: 'mulaw', sampleRateHz: 44_100 });
    }).toThrow(expect.objectContaining({ code: 'unsupported_audio' }));
    listener.close();
  });
});

describe('messages of any size', () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 100, max: 400 }), fc.integer({ min: 1000, max: 65_536 }));
  const sizes = fc.array(size, { minLength: 1, maxLength: 60 });
  /** Events and utterances without their times, which depend on where messages end. */
  const outcome = (bytes: Uint8Array, chosen: readonly number[], format: AudioFormat): unknown[] => {
    const seen: unknown[] = [];
    const listener = new Listener({
      engines,
      onEvent: (event) => {
        seen.push(event);
        if (event === 'speech_started') return;
        seen.push(listener.takeUtterance());
        listener.reset();
      },
    });
    let from = 0;
    for (let turn = 0; from < bytes.length; turn += 1) {
      const until = from + (chosen[turn % chosen.length] ?? 1);
      listener.push(bytes.subarray(from, until), format);
      from = until;
    }
    listener.finish();
    listener.close();
    return seen;
  };

  it.each([
    ['µ-law', MULAW, (line: Uint8Array) => line],
    ['16-bit PCM', { encoding: 'linear16', sampleRateHz: 8000 }, (line: Uint8Array) => linear16(decodeMulaw(line))],
    [
      '16-bit PCM at 16 kHz',
      { encoding: 'linear16', sampleRateHz: 16_000 },
      (line: Uint8Array) => linear16(resampleAll(engines.createResampler, decodeMulaw(line), 8000, 16_000)),
    ],
  ] satisfies [string, AudioFormat, (line: Uint8Array) => Uint8Array][])('give the same events and utterances: %s', (_, format, make) => {
    const line = joined(silence(400), recorded('yes'), silence(900), recorded('yes'), silence(300));
    const bytes = make(line);
    const whole = outcome(bytes, [bytes.length], format);
    expect(whole.length).toBe(6);
    fc.assert(
      fc.property(sizes, (chosen) => {
        expect(outcome(bytes, chosen, format)).toEqual(whole);
      }),
      { numRuns: 12 },
    );
  });
});
