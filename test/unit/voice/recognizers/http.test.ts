import { describe, expect, it, onTestFinished } from 'vitest';
import type { Utterance } from '../../../../src/dialog/utterance.ts';
import { encodeMulaw } from '../../../../src/speech/g711.ts';
import { readWav } from '../../../../src/speech/wav.ts';
import { HttpRecognizer, type HttpRecognizerOptions } from '../../../../src/voice/recognizers/http.ts';
import { recognizerSuite, type OpenedRecognizer, type Understanding } from '../../../suites/recognizer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  body,
  endless,
  fieldsOf,
  hang,
  json,
  speechService,
  status,
  type Answering,
  type SpeechService,
} from '../../../support/speech-service.ts';
import { never } from '../../../support/voice.ts';

const UTTERANCE: Utterance = { mulaw: encodeMulaw(Int16Array.from({ length: 800 }, (_, at) => at * 8)), durationMs: 100 };

interface Opened extends OpenedRecognizer {
  readonly service: SpeechService;
}

async function open(way: Answering, options: Partial<HttpRecognizerOptions> = {}): Promise<Opened> {
  const clock = new FakeClock();
  const service = await speechService(way);
  const recognizer = new HttpRecognizer({
    ...{ url: `${service.url}/v1`, key: 'KEY-CANARY', model: 'ears-1', language: undefined, prompt: undefined },
    ...{ timeoutMs: 1000, clock },
    ...options,
  });
  onTestFinished(() => recognizer.close());
  return {
    recognizer,
    clock,
    service,
    reached: async (count) => {
      await service.arrived(count);
    },
  };
}

/** An answer in the words of the protocol. */
function answering(understanding: Understanding): Answering {
  if (typeof understanding === 'object') return json({ text: understanding.says });
  return {
    describes: describing,
    fails: status(500),
    garbles: body(Buffer.from('7b2274657874223a2267fc227d', 'hex'), 'application/json'),
    hangs: hang,
  }[understanding];
}

const describing: Answering = (response, received) => {
  const wav = fieldsOf(received).get('file')?.content ?? Buffer.alloc(0);
  const text = `format ${String(wav.readUInt16LE(20))} rate ${String(wav.readUInt32LE(24))} bytes ${String(wav.length)}`;
  json({ text })(response, received);
};

recognizerSuite('HttpRecognizer', (understanding) => open(answering(understanding)));

describe('HttpRecognizer', () => {
  it('uploads a WAV file with the model to /audio/transcriptions', async () => {
    const { recognizer, service } = await open(json({ text: 'hello', usage: { seconds: 1 } }));
    expect(await recognizer.recognize(UTTERANCE, never())).toBe('hello');
    const received = await service.arrived(1);
    expect([received.method, received.path]).toEqual(['POST', '/v1/audio/transcriptions']);
    expect(received.headers.authorization).toBe('Bearer KEY-CANARY');
    const fields = fieldsOf(received);
    expect([...fields.keys()]).toEqual(['model', 'response_format', 'file']);
    expect(fields.get('model')?.content.toString()).toBe('ears-1');
    expect(fields.get('response_format')?.content.toString()).toBe('json');
    expect(fields.get('file')).toMatchObject({ fileName: 'utterance.wav', contentType: 'audio/wav' });
    const { samples, sampleRateHz } = readWav(fields.get('file')?.content ?? new Uint8Array(0));
    expect([sampleRateHz, encodeMulaw(samples)]).toEqual([8000, UTTERANCE.mulaw]);
  });

  it('names the language and likely words when they are known', async () => {
    const { recognizer, service } = await open(json({ text: 'hallo' }), { language: 'de', prompt: 'Grüße, Parley' });
    await recognizer.recognize(UTTERANCE, never());
    const fields = fieldsOf(await service.arrived(1));
    expect(['language', 'prompt'].map((name) => fields.get(name)?.content.toString())).toEqual(['de', 'Grüße, Parley']);
  });

  it('names what is likely to be said here before what is likely everywhere', async () => {
    const { recognizer, service } = await open(json({ text: 'Miller' }), { prompt: 'Parley' });
    await recognizer.recognize(UTTERANCE, never(), { hints: ['Miller', 'Jones'] });
    expect(
      fieldsOf(await service.arrived(1))
        .get('prompt')
        ?.content.toString(),
    ).toBe('Miller, Jones, Parley');
  });

  it('names the language of the caller before the configured one, without its region', async () => {
    const { recognizer, service } = await open(json({ text: 'hola' }), { language: 'de' });
    await recognizer.recognize(UTTERANCE, never(), { language: 'es-MX' });
    expect(
      fieldsOf(await service.arrived(1))
        .get('language')
        ?.content.toString(),
    ).toBe('es');
  });

  it.each([
    ['no JSON', body('CANARY', 'application/json')],
    ['a page', body('<html>CANARY</html>', 'text/html')],
    ['no object', json('CANARY')],
    ['nothing', json(null)],
    ['no text', json({ words: 'CANARY' })],
    ['a text that is a number', json({ text: 4711 })],
    ['no end', endless('application/json')],
  ])('fails on an answer that is %s, at once and without quoting it', async (_, way) => {
    const { recognizer, service } = await open(way);
    const thrown: unknown = await recognizer.recognize(UTTERANCE, never()).catch((cause: unknown) => cause);
    expect(thrown).toMatchObject({ code: 'recognition_failed', details: { outcome: 'bad_answer' } });
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toMatch(/CANARY|4711/u);
    expect(service.received).toHaveLength(1);
  });

  it('says with which status a service refused, and quotes neither key nor answer', async () => {
    const { recognizer } = await open(status(401));
    const thrown: unknown = await recognizer.recognize(UTTERANCE, never()).catch((cause: unknown) => cause);
    expect(thrown).toMatchObject({ code: 'recognition_failed', details: { outcome: 'client_error', status: 401 } });
    expect(JSON.stringify(thrown, Object.getOwnPropertyNames(thrown))).not.toContain('CANARY');
  });
});
