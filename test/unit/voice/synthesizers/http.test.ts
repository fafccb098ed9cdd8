import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CircuitState } from '../../../../src/base/circuit-breaker.ts';
import type { CreateResampler } from '../../../../src/speech/resample.ts';
import { mulawWav, pcmWav } from '../../../../src/speech/wav.ts';
import { HttpSynthesizer, type HttpSynthesizerOptions } from '../../../../src/voice/synthesizers/http.ts';
import { synthesizerSuite } from '../../../suites/synthesizer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  body,
  cut,
  endless,
  hang,
  json,
  pieces,
  speechService,
  stall,
  status,
  type Answering,
  type SpeechService,
} from '../../../support/speech-service.ts';
import { until, within } from '../../../support/until.ts';
import { never, realResampler } from '../../../support/voice.ts';
import { loudnessOf, pcmBytes, voiceSound } from '../../../support/voice-sound.ts';

let createResampler: CreateResampler;

beforeAll(async () => {
  createResampler = await realResampler();
});

const SPEECH = voiceSound({ rateHz: 24_000, speechMs: 3060, beforeMs: 300, afterMs: 300 });
const SPOKEN = pieces(inPieces(pcmBytes(SPEECH), 9001));

function inPieces(bytes: Uint8Array, pieceBytes: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) => bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes));
}

interface Opened {
  readonly synthesizer: HttpSynthesizer;
  readonly clock: FakeClock;
  readonly service: SpeechService;
}

async function open(ways: readonly Answering[], options: Partial<HttpSynthesizerOptions> = {}): Promise<Opened> {
  const clock = new FakeClock();
  const service = await speechService(...ways);
  const synthesizer = new HttpSynthesizer({
    ...{ url: `${service.url}/v1`, key: 'KEY-CANARY', model: 'speech-1', voice: 'nova', format: 'pcm', rateHz: 24_000, speedPercent: 100 },
    ...{ timeoutMs: 1000, firstByteMs: 500, clock, createResampler },
    ...options,
  });
  onTestFinished(() => synthesizer.close());
  return { synthesizer, clock, service };
}

async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  const thrown: unknown = await asked.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(thrown).toMatchObject({ code: 'synthesis_failed' });
  expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain('CANARY');
  return thrown;
}

synthesizerSuite('HttpSynthesizer', () => open([SPOKEN], { firstByteMs: 1000 }));

describe('HttpSynthesizer', () => {
  it('asks /audio/speech for samples of the text in the voice, and for an answer that nobody packs', async () => {
    const { synthesizer, service } = await open([SPOKEN]);
    await synthesizer.speak({ text: 'Grüß dich.' }, never());
    const { method, path, headers, body: sent } = await service.arrived(1);
    expect([method, path]).toEqual(['POST', '/v1/audio/speech']);
    expect(headers).toMatchObject({
      ...{ authorization: 'Bearer KEY-CANARY', 'content-type': 'application/json', 'accept-encoding': 'identity' },
    });
    expect(JSON.parse(sent.toString())).toEqual({ model: 'speech-1', voice: 'nova', input: 'Grüß dich.', response_format: 'pcm' });
  });

  it('names a speed only when it is not the usual one, and a voice only when there is one', async () => {
    const { synthesizer, service } = await open([SPOKEN], { voice: undefined, format: 'wav', speedPercent: 90 });
    await synthesizer.speak({ text: 'Hello.' }, never());
    const { body: sent } = await service.arrived(1);
    expect(JSON.parse(sent.toString())).toEqual({ model: 'speech-1', input: 'Hello.', response_format: 'wav', speed: 0.9 });
  });

  it.each([
    ['bare samples', body(pcmBytes(SPEECH), 'audio/pcm')],
    ['samples with half a sample at the end', body(Buffer.concat([pcmBytes(SPEECH), Buffer.from([1])]), 'audio/pcm')],
    ['samples that a proxy calls MP3', body(pcmBytes(SPEECH), 'audio/mpeg')],
    ['samples without a type', body(pcmBytes(SPEECH), '')],
    ['a WAV file where samples were asked for', body(pcmWav([SPEECH], 24_000), 'audio/wav')],
    ['a WAV file of another rate', body(pcmWav([voiceSound({ rateHz: 22_050, speechMs: 3060 })], 22_050), 'audio/x-wav')],
    ['samples in odd pieces', pieces(inPieces(pcmBytes(SPEECH), 4097))],
  ])('understands %s', async (_, way) => {
    const { synthesizer } = await open([way]);
    const mulaw = await synthesizer.speak({ text: 'Hello.' }, never());
    expect(mulaw.length / 8000).toBeGreaterThan(3);
    expect(mulaw.length / 8000).toBeLessThan(3.3);
    expect(loudnessOf(mulaw).rms).toBeGreaterThan(0.06);
    expect(loudnessOf(mulaw).rms).toBeLessThan(0.15);
  });

  it.each([
    ['an error in JSON with a good status', json({ error: 'CANARY' })],
    ['a page', body('<html>CANARY</html>', 'text/html; charset=utf-8')],
    ['MP3', body(Buffer.concat([Buffer.from('ID3\x04CANARY'), Buffer.alloc(1000)]), 'audio/mpeg')],
    ['nothing', body('', 'audio/pcm')],
    ['silence', body(new Uint8Array(48_000), 'audio/pcm')],
    ['a damaged WAV file', body(Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVEfmt \x02\0\0\0CANARY'), Buffer.alloc(20_000)]), 'audio/wav')],
    ['a WAV file in µ-law at a rate of 1 Hz', body(slow(), 'audio/wav')],
  ])('refuses %s and quotes nothing of it', async (_, way) => {
    const { synthesizer, service } = await open([way]);
    expect(await failureOf(synthesizer.speak({ text: 'TEXT-CANARY' }, never()))).toMatchObject({ details: { outcome: 'bad_answer' } });
    expect(service.received).toHaveLength(1);
  });

  it('stops after five minutes of an answer that does not end', async () => {
    const { synthesizer, service } = await open([endless('audio/pcm')]);
    expect(await failureOf(synthesizer.speak({ text: 'Hello.' }, never()))).toMatchObject({ details: { outcome: 'bad_answer' } });
    await until('the service is let go', () => service.received[0]?.isAbandoned === true);
  });

  it('passes pieces on while the service is still speaking', async () => {
    const { synthesizer, service, clock } = await open([stall(pcmBytes(SPEECH).subarray(0, 48_000), 'audio/pcm')]);
    const passedOn: Uint8Array[] = [];
    const asked = synthesizer.speak({ text: 'Hello.' }, never(), (piece) => passedOn.push(piece));
    await until('a piece is passed on', () => passedOn.length > 0);
    const { response } = await service.arrived(1);
    expect(response.writableEnded).toBe(false);
    response.end(pcmBytes(SPEECH).subarray(48_000));
    expect(Buffer.concat(passedOn).length).toBeLessThan((await asked).length);
    expect(clock.pendingTimers).toBe(0);
  });

  it('asks once more when nothing was passed on yet', async () => {
    const { synthesizer, service, clock } = await open([cut(new Uint8Array(4000)), SPOKEN]);
    const asked = synthesizer.speak({ text: 'Hello.' }, never(), () => undefined);
    await until('the pause begins', () => clock.nextTimerInMs === 150);
    await clock.advanceAsync(150);
    expect((await asked).length).toBeGreaterThan(24_000);
    expect(service.received).toHaveLength(2);
  });

  it('does not say the beginning twice: a connection that breaks after the first piece is the end', async () => {
    const { synthesizer, service } = await open([cut(pcmBytes(SPEECH).subarray(0, 60_000)), SPOKEN]);
    const passedOn: Uint8Array[] = [];
    expect(await failureOf(synthesizer.speak({ text: 'TEXT-CANARY' }, never(), (piece) => passedOn.push(piece)))).toMatchObject({
      message: 'the speech service broke off its answer',
    });
    expect([passedOn.length > 0, service.received.length]).toEqual([true, 1]);
  });

  it('asks once more after a break when nobody hears the pieces', async () => {
    const { synthesizer, service, clock } = await open([cut(pcmBytes(SPEECH).subarray(0, 60_000)), SPOKEN]);
    const asked = synthesizer.speak({ text: 'Hello.' }, never());
    await until('the pause begins', () => clock.nextTimerInMs === 150);
    await clock.advanceAsync(150);
    expect((await asked).length).toBeGreaterThan(24_000);
    expect(service.received).toHaveLength(2);
  });

  it.each([
    ['no answer', hang],
    ['no more than the head of an answer', stall('', 'audio/pcm')],
  ])('waits so long for the first sound and no longer: %s', async (_, way) => {
    const { synthesizer, service, clock } = await open([way]);
    const asked = failureOf(synthesizer.speak({ text: 'TEXT-CANARY' }, never()));
    await service.arrived(1);
    await clock.advanceAsync(500);
    expect(await asked).toMatchObject({ message: 'the speech service sent nothing within 500 ms', details: { outcome: 'timeout' } });
  });

  it('cuts a service that speaks slower than it is heard, at its time limit', async () => {
    const { synthesizer, service, clock } = await open([stall(pcmBytes(SPEECH).subarray(0, 24_000), 'audio/pcm')], { firstByteMs: 5000 });
    const passedOn: Uint8Array[] = [];
    const asked = failureOf(synthesizer.speak({ text: 'TEXT-CANARY' }, never(), (piece) => passedOn.push(piece)));
    await service.arrived(1);
    await until('speech has arrived', () => passedOn.length > 0);
    await clock.advanceAsync(2000);
    expect(await asked).toMatchObject({ message: expect.stringMatching(/took longer than 1\d{3} ms/u) as string });
  });

  it.each([
    ['after the head of a file', pcmWav([SPEECH], 24_000).subarray(0, 44)],
    ['after half a second of speech', pcmBytes(SPEECH).subarray(0, 24_000)],
  ])('leaves a service alone that falls silent in five texts %s, before a caller has given up', async (_, beginning) => {
    const changes: CircuitState[] = [];
    const observer = { circuitChanged: (state: CircuitState) => changes.push(state) };
    const limits = { timeoutMs: 10_000, firstByteMs: 3000, observer };
    const { synthesizer, service, clock } = await open([hang], limits);
    for (const time of [1, 2, 3, 4, 5]) {
      const asked = failureOf(synthesizer.speak({ text: 'TEXT-CANARY' }, never()));
      const { response } = await service.arrived(time);
      await clock.advanceAsync(1000);
      response.writeHead(200, { 'content-type': 'audio/wav' }).write(beginning);
      await until('the next piece is waited for', () => clock.nextTimerInMs === 3000);
      await clock.advanceAsync(3000);
      expect(await within('the text is given up', asked)).toMatchObject({
        ...{ message: 'the speech service sent nothing more within 3000 ms', details: { outcome: 'timeout' } },
      });
    }
    expect([changes, clock.pendingTimers]).toEqual([['open'], 0]);
  });

  it('lets a service take longer that speaks at least as fast as it is heard', async () => {
    const { synthesizer, service, clock } = await open([stall(pcmBytes(SPEECH).subarray(0, 120_000), 'audio/pcm')], { firstByteMs: 5000 });
    const passedOn: Uint8Array[] = [];
    const asked = synthesizer.speak({ text: 'Hello.' }, never(), (piece) => passedOn.push(piece));
    // 2,500 ms have arrived, 300 of them silence before the speech; the last pause may still be held back.
    await until('speech has arrived', () => Buffer.concat(passedOn).length > 1500 * 8);
    await clock.advanceAsync(2900);
    (await service.arrived(1)).response.end(pcmBytes(SPEECH).subarray(120_000));
    expect((await asked).length).toBeGreaterThan(24_000);
  });

  it('says with which status a service refused', async () => {
    const { synthesizer } = await open([status(404)]);
    expect(await failureOf(synthesizer.speak({ text: 'TEXT-CANARY' }, never()))).toMatchObject({
      details: { outcome: 'client_error', status: 404 },
    });
  });
});

/** A file whose rate no resampler takes. */
function slow(): Uint8Array {
  const file = mulawWav(new Uint8Array(1000));
  new DataView(file.buffer).setUint32(24, 1, true);
  return file;
}
