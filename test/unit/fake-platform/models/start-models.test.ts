// Fake models as their users see them: over HTTP, with Parley's own clients where it has one.
import { afterEach, describe, expect, it } from 'vitest';
import { chatModel } from '../../../../src/ai/chat-model.ts';
import { askModel, type ModelPart, type ModelRequest } from '../../../../src/ai/model.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { readModelScript, type ModelScript } from '../../../../src/fake-platform/models/script.ts';
import { serviceTimes } from '../../../../src/fake-platform/models/playing.ts';
import { fakeModels, type FakeModels } from '../../../../src/fake-platform/models/start-models.ts';
import { pcmWav } from '../../../../src/speech/wav.ts';

let models: FakeModels | undefined;
afterEach(async () => {
  await models?.close();
  models = undefined;
});

async function started(script: ModelScript): Promise<FakeModels> {
  models = await fakeModels(script);
  return models;
}

async function asked({ url }: FakeModels, words: string, firstTokenMs = 10_000, name = 'fake'): Promise<readonly ModelPart[]> {
  const tools = [
    { type: 'function' as const, name: 'book', description: 'Books', inputSchema: { type: 'object' as const, properties: {} } },
  ];
  const request: ModelRequest = { prompt: [{ role: 'user', content: [{ type: 'text', text: words }] }], tools, settings: {} };
  const parts: ModelPart[] = [];
  const patience = { firstTokenMs, stallMs: 10_000 };
  const model = chatModel({ url, model: name });
  for await (const part of askModel(model, request, patience, systemClock, new AbortController().signal)) parts.push(part);
  return parts;
}

async function recognized({ url }: FakeModels, samples: readonly number[]): Promise<unknown> {
  const form = new FormData();
  form.append('file', new Blob([pcmWav([Int16Array.from(samples)], 8000)]), 'utterance.wav');
  const response = await fetch(`${url}/audio/transcriptions`, { method: 'POST', body: form });
  return response.status === 200 ? Reflect.get((await response.json()) as object, 'text') : response.status;
}

const second = (value: number): number[] => new Array<number>(8000).fill(value * 1000);

describe('fake models', () => {
  it('answer with words or a tool, by what was said', async () => {
    const running = await started({
      rules: [
        { when: '/hello/i', say: 'Good morning.' },
        { when: 'book', use: 'book', input: { day: 'friday' } },
      ],
    });
    expect(await asked(running, 'Hello there')).toEqual([
      { kind: 'text', text: 'Good ' },
      { kind: 'text', text: 'morning.' },
      { kind: 'end', tokensIn: 3, tokensOut: 2 },
    ]);
    expect(await asked(running, 'Please book')).toContainEqual({ kind: 'use', tool: 'book', input: '{"day":"friday"}' });
  });

  it('refuse what no rule answers, and a tool that was not offered', async () => {
    const running = await started({ rules: [{ when: 'cancel', use: 'cancel' }] });
    expect(await asked(running, 'hello')).toEqual([{ kind: 'failed', why: 'error', status: 404 }]);
    expect(await asked(running, 'cancel')).toEqual([{ kind: 'failed', why: 'error', status: 404 }]);
    expect(running.journal.map(({ text }) => text)).toEqual(['hello', 'cancel']);
  });

  it.each([
    ['error', { kind: 'failed', why: 'error', status: 418 }],
    ['hang', { kind: 'failed', why: 'late' }],
    ['cut', { kind: 'failed', why: 'error' }],
    ['empty', { kind: 'failed', why: 'empty' }],
    ['torn', { kind: 'failed', why: 'error' }],
  ] as const)('fail where the script says so: %s', async (kind, expected) => {
    const fault = { on: 'chat', nth: 2, kind, ...(kind === 'error' && { status: 418 }) } as const;
    const running = await started({ rules: [{ say: 'One two three four.' }], faults: [fault] });
    expect((await asked(running, 'hello')).at(-1)).toMatchObject({ kind: 'end' });
    expect((await asked(running, 'hello', kind === 'hang' ? 200 : 10_000)).at(-1)).toMatchObject(expected);
    expect((await asked(running, 'hello')).at(-1)).toMatchObject({ kind: 'end' });
  });

  it('hear one text for each input, however often it is recognized', async () => {
    const running = await started({ heard: ['first', 'second'], rules: [{ say: 'Yes.' }] });
    expect(await recognized(running, second(1))).toBe('first');
    expect(await recognized(running, [...second(1), ...second(2)])).toBe('first');
    await asked(running, 'first');
    expect(await recognized(running, second(1))).toBe('second');
    expect(await recognized(running, second(3))).toBe('');
  });

  it('play several models by their names', async () => {
    const rules = [{ model: 'caller', say: 'Tuesday.' }, { say: 'Which day?' }];
    const running = await started({ rules });
    expect(await asked(running, 'hello', 10_000, 'caller')).toContainEqual({ kind: 'text', text: 'Tuesday.' });
    expect(await asked(running, 'hello', 10_000, 'desk')).toContainEqual({ kind: 'text', text: 'Which ' });
  });

  it('fail to hear where the script says so', async () => {
    const faults = [
      { on: 'recognition', nth: 1, kind: 'error' },
      { on: 'recognition', nth: 2, kind: 'empty' },
    ] as const;
    const running = await started({ heard: ['first'], faults: [...faults] });
    expect(await recognized(running, second(1))).toBe(503);
    expect(await recognized(running, second(1))).toBe('');
    expect(await recognized(running, second(1))).toBe('first');
  });

  async function spoken({ url }: FakeModels, body: object): Promise<{ status: number; type: string | null; ms: number; tookMs: number }> {
    const began = performance.now();
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/audio/speech`, { method: 'POST', headers, body: JSON.stringify(body) });
    const bytes = await response.arrayBuffer().then(
      ({ byteLength }) => byteLength,
      () => -1,
    );
    const { status } = response;
    return { status, type: response.headers.get('content-type'), ms: bytes / 48, tookMs: performance.now() - began };
  }

  it('speak a tone as long as the words would take, at the pace that the script says', async () => {
    const running = await started({ speech_pace: 2 });
    const { tookMs, ...sound } = await spoken(running, { input: 'ten letter', response_format: 'pcm' });
    expect(sound).toEqual({ status: 200, type: 'audio/pcm', ms: 600 });
    expect(tookMs).toBeGreaterThan(140);
    expect(await spoken(running, { input: 'ten letter', response_format: 'wav' })).toMatchObject({ type: 'audio/wav', ms: 600 + 44 / 48 });
    expect(await spoken(running, { input: '' })).toMatchObject({ status: 400 });
  });

  it('fail to speak where the script says so', async () => {
    const kinds = ['error', 'cut', 'empty', 'torn'] as const;
    const running = await started({ faults: kinds.map((kind, index) => ({ on: 'speech', nth: index + 1, kind })) });
    const asked = { input: 'hello', response_format: 'pcm' };
    expect(await spoken(running, asked)).toMatchObject({ status: 503 });
    expect(await spoken(running, asked)).toMatchObject({ status: 200, ms: -1 / 48 });
    expect(await spoken(running, asked)).toMatchObject({ status: 200, ms: 0 });
    expect(await spoken(running, asked)).toMatchObject({ type: 'text/html' });
  });

  it('take the time that the script says, the same for the same seed', () => {
    const [one, same] = [serviceTimes(7), serviceTimes(7)];
    const drawn = Array.from({ length: 2000 }, () => one([350, 700])).toSorted((a, b) => a - b);
    expect(Array.from({ length: 2000 }, () => same([350, 700])).toSorted((a, b) => a - b)).toEqual(drawn);
    expect(Math.abs((drawn[1000] ?? 0) / 350 - 1)).toBeLessThan(0.1);
    expect(Math.abs((drawn[1900] ?? 0) / 700 - 1)).toBeLessThan(0.15);
  });
});

describe('a script of fake models', () => {
  it.each([
    ['rules: [{ when: hello }]', 'rules.0: needs `say`, `use` or both'],
    ['rules: [{ say: hello, input: {} }]', 'rules.0: `input` is for `use`'],
    ['delays: { token: [40, 25] }', 'delays.token: the first is the median'],
    ['heared: [hello]', 'the script: Unrecognized key: "heared"'],
    ['rules: [', 'this is no YAML or JSON'],
  ])('%s is refused with the reason', (text, reason) => {
    expect(() => readModelScript(text)).toThrow(reason);
  });
});
