// A recognizer that hears while the caller speaks, against a service of the realtime protocol: what it understands, and what is done with
// utterances that the service loses.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { linkAbort } from '../../../../src/base/abort.ts';
import type { RequestOutcome } from '../../../../src/base/http-exchange.ts';
import { fakeModels } from '../../../../src/fake-platform/models/start-models.ts';
import type { ModelScript } from '../../../../src/fake-platform/models/script.ts';
import type { HeardWords } from '../../../../src/session/ports.ts';
import { StreamingRecognizer } from '../../../../src/voice/recognizers/streaming.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** Half a second of a caller. */
const SPEECH = new Uint8Array(4000).fill(0x55);
const UTTERANCE = { mulaw: SPEECH, durationMs: 500 };

async function open(script: ModelScript, { url }: { readonly url?: string } = {}) {
  const models = await fakeModels(script);
  const clock = new FakeClock();
  const words: HeardWords[] = [];
  const outcomes: RequestOutcome[] = [];
  const whole: string[] = [];
  const recognizer = new StreamingRecognizer({
    ...{ url: url ?? models.transcriptionUrl, key: 'KEY-CANARY', model: 'ears-1', language: undefined, prompt: undefined, clock },
    observer: { requestEnded: (outcome) => outcomes.push(outcome) },
    whole: {
      recognize: () => {
        whole.push('asked');
        return Promise.resolve('the whole');
      },
      close: () => Promise.resolve(),
    },
  });
  const stream = recognizer.open((heard) => words.push(heard));
  onTestFinished(async () => {
    await recognizer.close();
    await models.close();
  });
  /** Says something; resolves with its text. */
  const said = (signal = linkAbort().signal): Promise<string | undefined> => {
    stream.begin({});
    stream.push(SPEECH);
    return stream.text(signal);
  };
  return { models, clock, recognizer, stream, words, outcomes, whole, said };
}

describe('a recognizer that hears while the caller speaks', () => {
  it('has the text of one utterance after the other', async () => {
    const { said, outcomes, models } = await open({ heard: ['Tuesday please.', 'Nine is good.'] });
    expect(await said()).toBe('Tuesday please.');
    expect(await said()).toBe('Nine is good.');
    expect(outcomes).toEqual(['ok', 'ok']);
    expect(models.journal.map(({ text }) => text)).toEqual(['Tuesday please.', 'Nine is good.']);
  });

  it('has no text for an utterance without words', async () => {
    const { said } = await open({});
    expect(await said()).toBeUndefined();
  });

  it('knows the words before a pause while the caller pauses, and joins them with those behind it', async () => {
    const { stream, words } = await open({ heard: ['I would like … Tuesday.'] });
    stream.begin({});
    stream.push(SPEECH);
    stream.pause();
    await vi.waitFor(() => {
      expect(words).toEqual([{ text: 'I would like', stable: 'I would like', isWhole: true }]);
    });
    stream.resume();
    stream.push(SPEECH);
    stream.pause();
    expect(await stream.text(linkAbort().signal)).toBe('I would like Tuesday.');
    expect(words.at(-1)).toEqual({ text: 'I would like Tuesday.', stable: 'I would like Tuesday.', isWhole: true });
  });

  it('knows words while the caller speaks when the service writes them, and says that they may change', async () => {
    const { stream, words } = await open({ heard: ['Tuesday please.'], words_per_second: 4 });
    stream.begin({});
    stream.push(SPEECH);
    await vi.waitFor(() => {
      expect(words.at(-1)).toEqual({ text: 'Tuesday please.', stable: '', isWhole: false });
    });
    expect(await stream.text(linkAbort().signal)).toBe('Tuesday please.');
  });

  it('does not mix utterances when the caller goes on before the text of the last one is there', async () => {
    const { stream } = await open({ heard: ['One.', 'Two.'] });
    stream.begin({});
    stream.push(SPEECH);
    const first = stream.text(linkAbort().signal);
    stream.begin({});
    stream.push(SPEECH);
    const second = stream.text(linkAbort().signal);
    expect(await Promise.all([first, second])).toEqual(['One.', 'Two.']);
  });

  it.each([
    ['error', 'server_error'],
    ['cut', 'unreachable'],
  ] as const)('says that an utterance is lost by %s, and hears the next one', async (kind, outcome) => {
    const { said, outcomes } = await open({ heard: ['lost', 'Two.'], faults: [{ on: 'recognition', nth: 1, kind }] });
    await expect(said()).rejects.toThrow(expect.objectContaining({ code: 'recognition_failed' }));
    expect(await said()).toBe('Two.');
    expect(outcomes).toEqual([outcome, 'ok']);
  });

  it.each(['hang', 'torn'] as const)('waits a second and a half for words that do not come: %s', async (kind) => {
    const { said, outcomes, clock, models } = await open({ heard: ['lost', 'Two.'], faults: [{ on: 'recognition', nth: 1, kind }] });
    const text = said();
    const lost = expect(text).rejects.toThrow(expect.objectContaining({ code: 'recognition_failed' }));
    await vi.waitFor(() => {
      expect(models.journal).toHaveLength(1);
    });
    clock.advance(1500);
    await lost;
    expect(await said()).toBe('Two.');
    expect(outcomes).toEqual(['timeout', 'ok']);
  });

  it('says at once that an utterance is lost when nobody answers, and leaves the service alone after some of them', async () => {
    const { said, outcomes } = await open({}, { url: 'ws://127.0.0.1:9/' });
    for (let time = 0; time < 6; time += 1) await expect(said()).rejects.toThrow('the stream gave no words');
    expect(outcomes).toEqual([...Array.from({ length: 5 }, () => 'unreachable'), 'circuit_open']);
  });

  it('refuses too little audio as the service does, without waiting', async () => {
    const { stream, outcomes } = await open({ heard: ['lost'] });
    stream.begin({});
    stream.push(SPEECH.subarray(0, 80));
    await expect(stream.text(linkAbort().signal)).rejects.toThrow('bad_answer');
    expect(outcomes).toEqual(['bad_answer']);
  });

  it('ends without a failure when nobody wants the text any more', async () => {
    const { said, outcomes, models } = await open({ faults: [{ on: 'recognition', nth: 1, kind: 'hang' }] });
    const turn = linkAbort();
    const text = said(turn.signal);
    await vi.waitFor(() => {
      expect(models.journal).toHaveLength(1);
    });
    turn.abort('hang_up');
    expect(await text).toBeUndefined();
    expect(outcomes).toEqual(['cancelled']);
  });

  it('says at once that an utterance is lost when the connection broke in a pause and the caller goes on', async () => {
    const { stream, words, models } = await open({ heard: ['One … two'] });
    stream.begin({});
    stream.push(SPEECH);
    stream.pause();
    await vi.waitFor(() => {
      expect(words).toHaveLength(1);
    });
    await models.close();
    await vi.waitFor(() => {
      stream.resume();
      expect(stream.isLost).toBe(true);
    });
    await expect(stream.text(linkAbort().signal)).rejects.toThrow('unreachable');
  });

  it('lets another call try when the one that tried falls silent', async () => {
    const { recognizer, stream, clock, models, said } = await open({ heard: ['Back.'] }, { url: 'ws://127.0.0.1:9/' });
    for (let time = 0; time < 5; time += 1) await expect(said()).rejects.toThrow('unreachable');
    clock.advance(2000);
    stream.begin({});
    stream.drop();
    const other = recognizer.open(() => undefined);
    other.begin({});
    expect(other.isLost).toBe(false);
    await models.close();
  });

  it('gives whole utterances to the engine beside it', async () => {
    const { recognizer, whole } = await open({});
    expect(await recognizer.recognize(UTTERANCE, linkAbort().signal)).toBe('the whole');
    expect(whole).toEqual(['asked']);
  });
});
