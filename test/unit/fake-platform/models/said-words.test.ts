// What a fake recognizer understands of callers who have told their words: over HTTP, with a recording as a server makes it of a call.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { seededNumbers } from '../../../../src/base/seeded-numbers.ts';
import { announceWords } from '../../../../src/fake-platform/models/announce.ts';
import { fakeModels, type FakeModels } from '../../../../src/fake-platform/models/start-models.ts';
import { StreamingRecognizer } from '../../../../src/voice/recognizers/streaming.ts';
import { HttpRecognizer } from '../../../../src/voice/recognizers/http.ts';

let models: FakeModels;
let recognizer: HttpRecognizer;
beforeEach(async () => {
  models = await fakeModels({ heard: ['the words of the script'], words_per_second: 1 });
  const { url } = models;
  const options = { model: 'fake', key: undefined, timeoutMs: 5000, clock: systemClock, observer: {} };
  recognizer = new HttpRecognizer({ ...options, url, language: undefined, prompt: undefined });
});
afterEach(async () => {
  await recognizer.close();
  await models.close();
});

const SILENCE = Buffer.alloc(2400, 0xff);

/** Noise as loud as a voice; every seed sounds different, and no two moments are the same. */
function voice(seed: number, ms: number): Buffer {
  const next = seededNumbers(seed);
  return Buffer.from(Uint8Array.from({ length: ms * 8 }, () => Math.floor(next() * 64) + (next() < 0.5 ? 0 : 128)));
}

const say = (words: string, mulaw: Uint8Array) => ({ kind: 'say', label: words, words, mulaw }) as const;

const understood = (...sounds: readonly Buffer[]) =>
  recognizer.recognize({ mulaw: Buffer.concat(sounds), durationMs: 0 }, new AbortController().signal);

describe('a fake recognizer that was told what callers say', () => {
  const same = voice(1, 500);
  const nine = Buffer.concat([same, voice(2, 500)]);
  const eleven = Buffer.concat([same, voice(3, 500)]);

  it('understands each caller, in any order and however often, also sentences that begin alike', async () => {
    await announceWords(models.url, [say('Tuesday at nine', nine), say('Tuesday at eleven', eleven)]);
    expect(await Promise.all([eleven, nine, eleven].map((sound) => understood(SILENCE, sound, SILENCE)))).toEqual([
      'Tuesday at eleven',
      'Tuesday at nine',
      'Tuesday at eleven',
    ]);
  });

  it('understands of a sentence that was cut the words that came in, and of two sentences both', async () => {
    await announceWords(models.url, [say('one two three four', nine), say('yes', voice(4, 300))]);
    expect(await understood(SILENCE, nine.subarray(0, 4000))).toBe('one two');
    expect(await understood(nine.subarray(4000), SILENCE)).toBe('three four');
    expect(await understood(voice(4, 300), SILENCE, nine, SILENCE)).toBe('yes one two three four');
  });

  it('understands the later words of one sound, and the script for sounds of which nobody has told', async () => {
    await announceWords(`${models.url}/`, [say('before', nine)]);
    await announceWords(models.url, [say('now', nine), { kind: 'hang_up' }]);
    expect(await understood(nine)).toBe('now');
    expect(await understood(eleven.subarray(4000))).toBe('the words of the script');
    expect(await understood(voice(5, 1000))).toBeUndefined();
  });

  it('understands words while they are spoken', async () => {
    await announceWords(models.url, [say('one two three four', nine)]);
    const heard: string[] = [];
    const streaming = new StreamingRecognizer({
      ...{ url: models.transcriptionUrl, key: 'key', model: 'fake', language: undefined, prompt: undefined, clock: systemClock },
      ...{ whole: recognizer, observer: {} },
    });
    const stream = streaming.open(({ text }) => heard.push(text));
    try {
      stream.begin({});
      stream.push(Buffer.concat([SILENCE, nine.subarray(0, 4000)]));
      await vi.waitFor(() => {
        expect(heard.at(-1)).toBe('one two');
      });
      stream.push(nine.subarray(4000));
      expect(await stream.text(new AbortController().signal)).toBe('one two three four');
    } finally {
      await streaming.close();
    }
  });

  it('is no recognizer without an address, and refuses what is no sound', async () => {
    await announceWords(undefined, [say('nobody', nine)]);
    await expect(announceWords('http://127.0.0.1:1/v1', [say('nobody', nine)])).rejects.toThrow(
      new RangeError('no fake models answer at http://127.0.0.1:1/v1: `parley models` starts some and prints their address'),
    );
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${models.url}/said`, { method: 'POST', headers, body: JSON.stringify({ words: 'hello' }) });
    expect(status).toBe(400);
  });
});
