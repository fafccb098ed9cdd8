// Assistants whose models fail in every way, on a real server: each caller hears what to do, a tool runs once, and no line of the log holds
// a word that was said, a key or what a service answered. Every other failure: test/unit/ai.
import { startPlatform, type TestPlatform } from 'parley-voice/platform';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { assistant, chatModel, realtime, tool, z } from '../../src/ai/index.ts';
import { createApp } from '../../src/app/app.ts';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { createLogger } from '../../src/base/log.ts';
import type { ModelScript } from '../../src/fake-platform/models/script.ts';
import { fakeModels } from '../../src/fake-platform/models/start-models.ts';

const KEY = 'sk-4711';
/** What no log may hold. `ordered` is the message of a service that refuses. */
const SECRETS = [KEY, 'Zanzibar', 'Timbuktu', 'vault', 'ordered'];
const LOST = 'I lost my thread';

const RULES = [
  { when: 'Timbuktu', use: 'book', input: { slot: 'Zanzibar' } },
  { after: 'book', say: 'Zanzibar is booked.' },
  { when: 'bye', say: 'Goodbye, Timbuktu.', use: 'end_call' },
];
const SCRIPT: ModelScript = { heard: ['I am Timbuktu', 'I am Timbuktu', 'bye'], rules: RULES };

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

async function called(agent: 'desk' | 'talk', script: ModelScript, ...heard: readonly (string | undefined)[]) {
  const models = await fakeModels(script);
  onTestFinished(() => models.close());
  const booked: string[] = [];
  const book = tool({
    description: 'Books',
    input: z.object({ slot: z.string() }),
    run: ({ slot }) => `${slot} ${String(booked.push(slot))}`,
  });
  const fails = tool({ description: 'Fails', input: z.object({}), run: () => Promise.reject(new Error('vault is sealed')) });
  const manners = {
    instructions: 'You book.',
    greeting: 'Welcome to Zanzibar.',
    tools: { book, fails },
    limits: { firstTokenMs: 700, stallMs: 700 },
  };
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const { settings } = loadSettings({
    given: {
      ...{ ...platform.trust, tls: { mode: 'off' }, ops: { port: 0 }, shutdown: { grace_ms: 0 } },
      ...{ grpc: { host: '127.0.0.1', port: 0 }, media: { reveal_prompt_text: true } },
      recognizer: { engine: 'http', http: { url: models.url, model: 'fake', key: KEY } },
      synthesizer: { engine: 'http', cache_folder: '', http: { url: models.url, model: 'fake', format: 'pcm', key: KEY } },
    },
    env: {},
  });
  const app = await createApp({
    settings,
    bots: [
      assistant({ ...manners, id: 'desk', name: 'Desk', model: chatModel({ url: models.url, model: 'fake', key: KEY }) }),
      realtime({ ...manners, id: 'talk', name: 'Talk', url: models.realtimeUrl, model: 'fake', transcribe: 'fake', key: KEY }),
    ],
    log: createLogger({ level: 'trace', destination }),
  });
  onTestFinished(() => app.close());
  const steps = heard.map((text) => ({ say: 'Yes.', ...(text !== undefined && { expect: { heard: text } }) }));
  const { failures, findings } = await platform.call(`grpc://127.0.0.1:${String(app.ready.port)}`, { agent, pace: 10, steps });
  expect(lines.some((line) => line.includes('a turn of the assistant'))).toBe(true);
  const leaked = SECRETS.filter((secret) => lines.some((line) => line.includes(secret)));
  return { booked, failures, findings, leaked };
}

const GOOD = { failures: [], findings: [], leaked: [], booked: ['Zanzibar'] };

describe('a caller of an assistant', () => {
  it.each([{ kind: 'error', status: 503 } as const, ...(['hang', 'torn'] as const).map((kind) => ({ kind }))])(
    'is asked again, and then goes on, when its model gives: %j',
    async (fault) => {
      const script = { ...SCRIPT, faults: [{ on: 'chat', nth: 1, ...fault } as const] };
      expect(await called('desk', script, LOST, 'Zanzibar is booked.', 'Goodbye')).toEqual(GOOD);
    },
  );

  it('hears it in the words of the model when a tool throws', async () => {
    const rules = [{ when: 'Timbuktu', use: 'fails' }, { after: 'fails', when: 'the tool failed', say: 'No.' }, ...RULES];
    expect(await called('desk', { ...SCRIPT, rules }, 'No.', 'No.', 'Goodbye')).toEqual({ ...GOOD, booked: [] });
  });
});

describe('a caller of a model that speaks itself', () => {
  // Before its first sound the model is asked again, and the caller hears nothing of it.
  it.each([
    ['hang', undefined],
    ['cut', LOST],
  ] as const)('goes on when the answer after a tool is: %s', async (kind, heard) => {
    const script = {
      ...SCRIPT,
      heard: Array.from({ length: 6 }, () => 'I am Timbuktu'),
      faults: [{ on: 'realtime', nth: 2, kind } as const],
    };
    // One for each time that the caller asks for it.
    expect(await called('talk', script, heard, undefined)).toEqual({ ...GOOD, booked: ['Zanzibar', 'Zanzibar'] });
  });
});
