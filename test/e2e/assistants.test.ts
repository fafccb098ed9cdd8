// Assistants on a real server, called by the fake platform, with models and recognizer of a script: what callers hear, what is booked,
// and what happens when a service fails.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { assistant, chatModel, realtime, tool, z } from 'parley-voice/ai';
import { fakeModels, readModelScript, startPlatform, type ModelScript, type Scenario, type TestPlatform } from 'parley-voice/platform';
import { createServer } from 'parley-voice/server';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../src/base/package-root.ts';
import { APPOINTMENTS_SCRIPT } from '../../src/fake-platform/models/script.ts';
import { desk as shippedDesk } from '../../template/ai/bots/desk.ts';
import { freePort } from '../support/free-port.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

type Transport = 'grpc' | 'websocket';

/** @param isStreamed - the recognizer hears while the caller speaks. */
async function served(script: ModelScript, transport: Transport = 'grpc', isStreamed = false, shipped?: typeof shippedDesk) {
  const opsPort = await freePort();
  const models = await fakeModels(script);
  onTestFinished(() => models.close());
  const booked: string[] = [];
  const talk = realtime({
    ...{ id: 'talk', name: 'Talk', url: models.realtimeUrl, model: 'fake', transcribe: 'fake' },
    ...{ instructions: 'You talk.', greeting: 'Hello.' },
  });
  const model = chatModel({ url: models.url, model: 'fake' });
  const desk = assistant({
    ...{ id: 'desk', name: 'Desk', model },
    ...{ instructions: 'You book appointments.', greeting: 'Hello.' },
    tools: {
      find_slots: tool({
        description: 'Looks',
        input: z.object({ day: z.string() }),
        readOnly: true,
        run: ({ day }) => [`${day} at nine`],
      }),
      book_slot: tool({
        ...{ description: 'Books', input: z.object({ slot: z.string() }), says: 'One moment.' },
        run: ({ slot }) => `booked ${String(booked.push(slot))}`,
      }),
    },
  });
  const server = await createServer(
    {
      ...platform.trust,
      grpc: { host: '127.0.0.1', port: 0 },
      websocket: { enabled: true, host: '127.0.0.1', port: 0 },
      recognizer: {
        ...{ engine: 'http', http: { url: models.url, model: 'fake' } },
        ...(isStreamed && { stream: { url: models.transcriptionUrl, model: 'fake' } }),
      },
      synthesizer: { cache_folder: SPOKEN_PROMPTS },
      tls: { mode: 'off' },
      ops: { port: opsPort },
      media: { reveal_prompt_text: true },
      log: { level: 'silent' },
      shutdown: { grace_ms: 0 },
    },
    { bots: [shipped?.(model) ?? desk, talk] },
  );
  onTestFinished(() => server.close());
  const target = transport === 'grpc' ? server.address.grpc : (server.address.websocket ?? '');
  // Where the script lists what is heard, callers do not announce their words.
  const access = script.heard === undefined ? { models: models.url } : {};
  const call = (scenario: Scenario) => platform.call(target, { pace: 10, agent: 'desk', ...scenario }, access);
  const counted = async () => {
    const page = await (await fetch(`http://127.0.0.1:${String(opsPort)}/metrics`)).text();
    return page.split('\n').filter((line) => /^parley_ai_(?:tools|failures|budget).* [1-9]/u.test(line));
  };
  return { models, booked, call, counted };
}

async function called(script: ModelScript, scenario: Scenario, transport?: Transport, isStreamed?: boolean) {
  const { models, booked, call, counted } = await served(script, transport, isStreamed);
  const { failures, findings } = await call(scenario);
  const conversation = models.conversations[0]?.map(({ by, text }) => `${by}: ${text}`);
  return {
    booked,
    failures,
    findings,
    conversation,
    counted: await counted(),
    asked: models.journal.map(({ on, use, say, text }) => (on === 'chat' ? (use ?? say) : text)),
  };
}

const { delays: _, ...ANNOUNCED } = APPOINTMENTS_SCRIPT;
const AT_ONCE = { ...ANNOUNCED, heard: ['Do you have anything on Tuesday?', 'Nine is good.', 'No, thank you. Goodbye.'] };

describe('an assistant on a server', () => {
  it.each(['grpc', 'websocket'] as const)('finds a time, books it and ends the call over %s', async (transport) => {
    const steps = [
      { say: 'Do you have anything on Tuesday?', expect: { heard: 'I have nine and eleven' } },
      { say: 'Nine is good.', expect: { heard: 'It is booked' } },
      { say: 'No, thank you. Goodbye.', expect: { ends: 'ended' } },
    ] as const;
    expect(await called(AT_ONCE, { steps: [...steps] }, transport)).toMatchObject({
      ...{ booked: ['tuesday at nine'], failures: [], findings: [] },
      counted: ['parley_ai_tools_total{tool="find_slots",outcome="ok"} 1', 'parley_ai_tools_total{tool="book_slot",outcome="ok"} 1'],
      asked: [
        ...['Do you have anything on Tuesday?', 'find_slots', 'On Tuesday I have nine and eleven. Which one would you like?'],
        ...['Nine is good.', 'book_slot', 'It is booked. Is there anything else?'],
        ...['No, thank you. Goodbye.', 'end_call'],
      ],
    });
  });

  it('asks its model once for each input of a caller who is heard while speaking', async () => {
    const steps = [
      { say: 'Do you have anything on Tuesday?', expect: { heard: 'I have nine and eleven' } },
      { say: 'Nine is good.', expect: { heard: 'It is booked' } },
      { hang_up: true },
    ] as const;
    expect(await called({ ...AT_ONCE, words_per_second: 3 }, { steps: [...steps] }, 'grpc', true)).toMatchObject({
      ...{ booked: ['tuesday at nine'], failures: [], findings: [] },
      asked: [
        ...['Do you have anything on Tuesday?', 'find_slots', 'On Tuesday I have nine and eleven. Which one would you like?'],
        ...['Nine is good.', 'book_slot', 'It is booked. Is there anything else?'],
      ],
    });
  });

  it('understands the whole utterance when the stream loses it', async () => {
    const steps = [{ say: 'Do you have anything on Tuesday?', expect: { heard: 'I have nine and eleven' } }, { hang_up: true }] as const;
    const script: ModelScript = {
      ...AT_ONCE,
      heard: ['lost', 'Do you have anything on Tuesday?'],
      faults: [{ on: 'recognition', nth: 1, kind: 'cut' }],
    };
    expect(await called(script, { steps: [...steps] }, 'grpc', true)).toMatchObject({ failures: [], findings: [] });
  });

  it('says what its caller can do when the model fails, and gets a person the second time', async () => {
    const faults = [
      { on: 'chat', nth: 1, kind: 'error', status: 429 },
      { on: 'chat', nth: 2, kind: 'cut' },
    ] as const;
    const steps = [
      { say: 'Do you have anything on Tuesday?', expect: { heard: 'Sorry, I lost my thread.' } },
      { say: 'Nine is good.', expect: { ends: 'transferred' } },
    ] as const;
    const result = await called({ ...AT_ONCE, faults: [...faults] }, { steps: [...steps] });
    expect(result).toMatchObject({ booked: [], failures: [], findings: [] });
  });
});

it('callers at the same time are each understood', async () => {
  const { booked, call } = await served(ANNOUNCED);
  const calls = ['Tuesday at nine, please.', 'Is eleven free?', 'Tuesday at nine, please.'].map((say) =>
    call({ steps: [{ say, expect: { heard: 'It is booked' } }] }),
  );
  expect((await Promise.all(calls)).map(({ failures }) => failures)).toEqual([[], [], []]);
  expect(booked.toSorted()).toEqual(['tuesday at eleven', 'tuesday at nine', 'tuesday at nine']);
});

describe('the project of parley init --ai', () => {
  const textOf = (file: string) => readFileSync(path.join(packageRoot(), 'template', 'ai', file), 'utf8');
  const { tests } = parse(textOf('scenarios/desk.yaml')) as { readonly tests: readonly (Scenario & { readonly name: string })[] };

  it.each(tests)('passes its scenario with its fake models: $name', async ({ name: _, ...scenario }) => {
    const { call } = await served({ ...readModelScript(textOf('models.yaml')), delays: {} }, 'grpc', false, shippedDesk);
    expect(await call(scenario)).toMatchObject({ failures: [], findings: [] });
  });
});

describe('a speech-to-speech model on a server', () => {
  const rules = [
    { when: 'story', say: 'Once upon a time there was a house that stood on a hill above the sea.' },
    { when: 'stop', say: 'All right.' },
    { when: 'bye', use: 'end_call' },
  ];

  it.each(['grpc', 'websocket'] as const)('knows how much of it was heard when its caller interrupts over %s', async (transport) => {
    const steps = [
      { say: 'Tell me a story.' },
      { say: 'Stop, please.', interrupt_after_ms: 1500 },
      { say: 'Goodbye.', expect: { ends: 'ended' } },
    ] as const;
    const heard = ['Tell me a story.', 'Stop, please.', 'Goodbye.'];
    const {
      failures,
      findings,
      conversation = [],
    } = await called({ heard, rules }, { agent: 'talk', pace: 1, steps: [...steps] }, transport);
    expect({ failures, findings }).toEqual({ failures: [], findings: [] });
    const [greeting, asked, story = '', ...rest] = conversation;
    expect([greeting, asked, ...rest]).toEqual([
      ...['assistant: Hello.', 'caller: Tell me a story.', 'caller: Stop, please.', 'assistant: All right.'],
      ...['caller: Goodbye.', 'tool: end_call'],
    ]);
    // The caller begins 1.5 s into it, and the server needs a moment to hear that: 25 characters, and some; more on a busy machine.
    expect(story).toMatch(/^assistant: Once upon a time there/u);
    expect(story.length).toBeLessThan('assistant: '.length + 60);
  });
});
