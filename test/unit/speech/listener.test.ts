import { beforeAll, describe, expect, it } from 'vitest';
import { loadSignalModules, type SignalModules } from '../../../src/app/signal-engines.ts';
import type { SpeechEvent } from '../../../src/speech/endpointer.ts';
import type { SignalEngines } from '../../../src/speech/engines.ts';
import { decodeMulaw, encodeMulaw } from '../../../src/speech/g711.ts';
import { Listener } from '../../../src/speech/listener.ts';
import { resamplerMaker } from '../../../src/speech/resample.ts';
import { detectorMaker } from '../../../src/speech/vad.ts';
import { hum, joined, linear16, mixed, noise, recorded, signal, silence } from '../../support/line-signals.ts';
import { call, FRAME_BYTES, heard, MULAW, names, speechBounds, type HearOptions, type Run } from '../../support/listening.ts';

let modules: SignalModules;
let engines: SignalEngines;

beforeAll(async () => {
  modules = await loadSignalModules();
  engines = { createDetector: detectorMaker(modules.fvad), createResampler: resamplerMaker(modules.speex) };
});

const listen = (bytes: Uint8Array, options?: HearOptions): Run => heard(engines, bytes, options);

describe('start and end', () => {
  it.each(['sentence', 'number', 'yes'] as const)('G-36 G-38 reports one start and one end for %s, both in time', (name) => {
    const line = joined(silence(1000), recorded(name), silence(1500));
    const { startMs, endMs } = speechBounds(line);
    const { events } = listen(line);
    expect(events.map(({ event }) => event)).toEqual(['speech_started', 'speech_ended']);
    const [start, end] = events.map(({ ms }) => ms);
    expect((start ?? 0) - startMs).toBeGreaterThanOrEqual(60);
    expect((start ?? 0) - startMs).toBeLessThanOrEqual(200);
    expect(Math.abs((end ?? 0) - endMs - 800)).toBeLessThanOrEqual(40);
  });

  it('ends sooner and later as it is set', () => {
    for (const endSilenceMs of [400, 1200]) {
      const { events } = listen(call(), { patience: { endSilenceMs, resumeGraceMs: 0 } });
      expect(Math.abs((events[1]?.ms ?? 0) - speechBounds(call()).endMs - endSilenceMs)).toBeLessThanOrEqual(40);
    }
  });

  it('does not end in a pause that is shorter than the end silence', () => {
    const line = joined(silence(500), recorded('yes'), silence(400), recorded('yes'), silence(1500));
    expect(names(listen(line))).toEqual(['speech_started', 'speech_ended']);
  });

  it('hears two utterances around a pause that is longer', () => {
    const line = joined(silence(500), recorded('yes'), silence(1200), recorded('yes'), silence(1500));
    expect(names(listen(line))).toEqual(['speech_started', 'speech_ended', 'speech_started', 'speech_ended']);
  });

  it('hears a caller over white noise and over hum', () => {
    for (const background of [noise(6000, -42), hum(6000, -38)]) {
      const line = mixed(background, joined(silence(1500), recorded('sentence'), silence(1150)));
      const { events } = listen(line);
      expect(events.map(({ event }) => event)).toEqual(['speech_started', 'speech_ended']);
      expect((events[0]?.ms ?? 0) - 1500 - speechBounds(recorded('sentence')).startMs).toBeLessThanOrEqual(200);
    }
  });

  it.each([
    ['line silence', () => silence(10_000)],
    ['the other zero of µ-law', () => silence(10_000, 0x7f)],
    ['hum', () => hum(10_000, -35)],
    ['hum that sets in', () => joined(silence(1000), hum(9000, -30))],
    ['low noise', () => noise(10_000, -50)],
    ['noise that sets in', () => joined(silence(1000), noise(9000, -40))],
    [
      'single clicks',
      () =>
        joined(
          ...new Array<Uint8Array>(10).fill(
            joined(
              signal(5, (n) => (n % 2 === 0 ? 0.9 : -0.9)),
              silence(495),
            ),
          ),
        ),
    ],
  ])('does not start on %s', (_, make) => {
    expect(names(listen(make()))).toEqual([]);
  });

  it('cuts a caller who does not stop, and hears the rest as the next utterance', () => {
    const speech = joined(recorded('sentence'), recorded('sentence'), recorded('sentence'));
    const { events, utterances } = listen(joined(silence(500), speech, silence(1000)), { patience: { maxUtteranceMs: 3000 } });
    expect(events.slice(0, 4).map(({ event }) => event)).toEqual(['speech_started', 'speech_ended', 'speech_started', 'speech_ended']);
    for (const { durationMs } of utterances) expect(durationMs).toBeLessThanOrEqual(3000 + 500);
  });

  it('reports start and end within one message of 64 KiB', () => {
    const events: SpeechEvent[] = [];
    const listener = new Listener({ engines, onEvent: (event) => events.push(event) });
    listener.push(joined(silence(500), recorded('yes'), silence(6000)).subarray(0, 65_536), MULAW);
    listener.close();
    expect(events).toEqual(['speech_started', 'speech_paused', 'speech_ended']);
  });
});

describe('the utterance', () => {
  it('is the bytes the caller sent, from 300 ms before the first speech to 200 ms after the last', () => {
    const line = call();
    const { startMs, endMs } = speechBounds(line);
    const { utterances } = listen(line);
    const [utterance] = utterances;
    if (utterance === undefined) throw new Error('nothing was heard');
    const from = Buffer.from(line).indexOf(utterance.mulaw, (startMs - 340) * 8);
    expect(from % FRAME_BYTES).toBe(0);
    expect(Math.abs(from / 8 - (startMs - 300))).toBeLessThanOrEqual(40);
    expect(Math.abs((from + utterance.mulaw.length) / 8 - (endMs + 200))).toBeLessThanOrEqual(40);
    expect(utterance.durationMs).toBe(utterance.mulaw.length / 8);
  });

  it.each([0, 100, 1000])('starts %d ms before the speech when set so', (preRollMs) => {
    const usual = listen(call()).utterances[0]?.durationMs ?? 0;
    expect(listen(call(), { patience: { preRollMs } }).utterances[0]?.durationMs).toBe(usual - 300 + preRollMs);
  });

  it('starts with the call when the caller speaks at once', () => {
    const line = joined(recorded('sentence'), silence(1000));
    const { utterances } = listen(line);
    const mulaw = utterances[0]?.mulaw ?? new Uint8Array(0);
    expect(mulaw).toEqual(line.subarray(0, mulaw.length));
  });

  it('never holds a byte of the one before', () => {
    const line = joined(silence(500), recorded('sentence'), recorded('sentence'), recorded('sentence'), silence(1000));
    const { utterances } = listen(line, { patience: { maxUtteranceMs: 2000 } });
    expect(utterances.length).toBeGreaterThan(3);
    let from = 0;
    for (const { mulaw } of utterances) {
      const found = Buffer.from(line).indexOf(mulaw, from);
      expect(found).toBeGreaterThanOrEqual(from);
      from = found + mulaw.length;
    }
  });

  it('is transferred once', () => {
    const listener = new Listener({ engines, onEvent: () => undefined });
    listener.push(call(), MULAW);
    expect(listener.takeUtterance().durationMs).toBeGreaterThan(3000);
    expect(listener.takeUtterance()).toEqual({ mulaw: new Uint8Array(0), durationMs: 0 });
    listener.close();
  });

  it('can be taken so far while the caller speaks, and goes on from there', () => {
    const listener = new Listener({ engines, onEvent: () => undefined });
    const line = call();
    const middle = 2500 * 8;
    listener.push(line.subarray(0, middle), MULAW);
    expect(listener.isHearing).toBe(true);
    const first = listener.takeUtterance().mulaw;
    listener.push(line.subarray(middle), MULAW);
    expect(listener.isHearing).toBe(false);
    const second = listener.takeUtterance().mulaw;
    const whole = listen(line).utterances[0]?.mulaw;
    expect(joined(first, second)).toEqual(whole);
    listener.close();
  });
});

describe('the caller falls silent because the input is over (G-11)', () => {
  it('ends an utterance that is going on and keeps its last bytes', () => {
    const line = joined(silence(500), recorded('sentence').subarray(0, 1503 * 8 + 5));
    const { events, utterances } = listen(line, { thenFinish: true });
    expect(events.map(({ event }) => event)).toEqual(['speech_started', 'speech_ended']);
    const mulaw = utterances[0]?.mulaw ?? new Uint8Array(0);
    expect(mulaw).toEqual(line.subarray(line.length - mulaw.length));
    expect(mulaw.length).toBeGreaterThan(1503 * 8);
  });

  it('reports nothing when nobody spoke, and nothing twice', () => {
    expect(names(listen(silence(500), { thenFinish: true }))).toEqual([]);
    expect(names(listen(call(), { thenFinish: true }))).toEqual(['speech_started', 'speech_ended']);
  });

  it('trims the silence that was already heard', () => {
    const line = joined(silence(500), recorded('yes'), silence(600));
    const mulaw = listen(line, { thenFinish: true }).utterances[0]?.mulaw ?? new Uint8Array(0);
    const end = Buffer.from(line).indexOf(mulaw) + mulaw.length;
    expect(Math.abs(end / 8 - speechBounds(line).endMs - 200)).toBeLessThanOrEqual(40);
  });
});

describe('between utterances', () => {
  it('hears nothing after an end until it is reset', () => {
    const events: SpeechEvent[] = [];
    const listener = new Listener({ engines, onEvent: (event) => events.push(event) });
    listener.push(joined(call(), call()), MULAW);
    expect(events).toEqual(['speech_started', 'speech_paused', 'speech_ended']);
    listener.reset();
    listener.push(call(), MULAW);
    expect(events.length).toBe(6);
    listener.close();
  });

  it('keeps the pre-roll that came before the reset', () => {
    const { startMs } = speechBounds(recorded('yes'));
    const atOnce = joined(recorded('yes').subarray(startMs * 8), silence(1000));
    const listener = new Listener({ engines, onEvent: () => undefined });
    listener.push(call(), MULAW);
    listener.reset();
    listener.push(atOnce, MULAW);
    const { mulaw } = listener.takeUtterance();
    const beforeReset = Buffer.from(mulaw).indexOf(atOnce.subarray(0, 1600)) / 8;
    expect(Math.abs(beforeReset - 300)).toBeLessThanOrEqual(40);
    listener.close();
  });

  it('keeps the noise floor over a reset', () => {
    const events: SpeechEvent[] = [];
    const listener = new Listener({ engines, onEvent: (event) => events.push(event) });
    listener.push(noise(3000, -35), MULAW);
    listener.reset();
    listener.push(noise(3000, -35, 2), MULAW);
    expect(events).toEqual([]);
    listener.close();
  });

  it('drops an utterance that is going on when it is reset', () => {
    const events: SpeechEvent[] = [];
    const listener = new Listener({ engines, onEvent: (event) => events.push(event) });
    listener.push(call().subarray(0, 2000 * 8), MULAW);
    listener.reset();
    expect(listener.isHearing).toBe(false);
    expect(listener.takeUtterance().durationMs).toBe(0);
    listener.finish();
    expect(events).toEqual(['speech_started']);
    listener.close();
  });
});

describe('the view on frames', () => {
  it('shows every frame of 160 samples, before its event', () => {
    const order: string[] = [];
    const samples: number[] = [];
    const line = call();
    const listener = new Listener({
      engines,
      onEvent: (event) => order.push(`${event} after ${String(samples.length / 160)} frames`),
      onFrame: (pcm) => samples.push(...pcm),
    });
    listener.push(line, MULAW);
    listener.close();
    const whole = Math.floor(line.length / FRAME_BYTES) * FRAME_BYTES;
    expect(Int16Array.from(samples)).toEqual(decodeMulaw(line.subarray(0, whole)));
    expect(order.map((entry) => entry.split(' after ')[0])).toEqual(['speech_started', 'speech_paused', 'speech_ended']);
    expect(order[0]).toBe(`speech_started after ${String((listen(line).events[0]?.ms ?? 0) / 20)} frames`);
  });
});

describe('closing', () => {
  it('is harmless when repeated, also from within an event, and ends all hearing', () => {
    const events: SpeechEvent[] = [];
    const listener = new Listener({
      engines,
      onEvent: (event) => {
        events.push(event);
        listener.close();
        listener.close();
      },
    });
    listener.push(joined(call(), call()), MULAW);
    listener.push(call(), MULAW);
    listener.finish();
    expect(events).toEqual(['speech_started']);
    expect(listener.isHearing).toBe(false);
    expect(listener.takeUtterance().durationMs).toBe(0);
  });

  it('frees detector and resampler: 10,000 listeners leave the memory of both modules flat', () => {
    const wide = linear16(new Int16Array(320));
    const once = (): void => {
      const listener = new Listener({ engines, onEvent: () => undefined });
      listener.push(wide, { encoding: 'linear16', sampleRateHz: 16_000 });
      listener.close();
    };
    once();
    const before = [modules.fvad.HEAP16.byteLength, modules.speex.HEAP16.byteLength];
    const address = modules.fvad._malloc(16);
    for (let round = 0; round < 10_000; round += 1) once();
    expect([modules.fvad.HEAP16.byteLength, modules.speex.HEAP16.byteLength]).toEqual(before);
    expect(Math.abs(modules.fvad._malloc(16) - address)).toBeLessThan(4096);
  });

  it('refuses settings out of range before it takes any memory outside the heap', () => {
    let opened = 0;
    const counted: SignalEngines = {
      ...engines,
      createDetector: () => {
        opened += 1;
        return engines.createDetector();
      },
    };
    expect(() => new Listener({ engines: counted, patience: { endSilenceMs: 0 }, onEvent: () => undefined })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
    expect(() => new Listener({ engines: counted, patience: { preRollMs: -1 }, onEvent: () => undefined })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
    expect(opened).toBe(0);
  });
});

describe('a quiet line', () => {
  it('takes encoded silence of any coder for silence', () => {
    expect(names(listen(encodeMulaw(new Int16Array(80_000))))).toEqual([]);
  });
});
