// Speech-to-speech assistants over real sockets: what the caller hears, what the model holds, and what happens when a service misbehaves.
import { WebSocketServer, type WebSocket } from 'ws';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assistantStep, keyed, realtime, scripted, tool, z, type AssistantLimits, type RealtimeBotOptions } from '../../../src/ai/index.ts';
import { TestCall } from '../../../src/bot/testing.ts';
import type { ModelScript } from '../../../src/fake-platform/models/script.ts';
import { fakeModels } from '../../../src/fake-platform/models/start-models.ts';
import { until } from '../../support/until.ts';

const LOST = 'I lost my thread';

type More = Partial<RealtimeBotOptions>;

function desk(url: string, more: More = {}, limits: Partial<AssistantLimits> = {}) {
  return realtime({
    ...{ id: 'desk', name: 'Desk', url, model: 'fake', transcribe: 'fake', instructions: 'You book.', greeting: 'Hello.', limits },
    ...more,
  });
}

async function begun(url: string, more: More = {}, limits: Partial<AssistantLimits> = {}): Promise<TestCall> {
  const call = await new TestCall(desk(url, more, limits)).start();
  onTestFinished(async () => {
    if (call.reply.next.kind === 'listen') await call.hangUp();
  });
  return call;
}

async function called(script: ModelScript, more: More = {}, limits: Partial<AssistantLimits> = {}) {
  const models = await fakeModels(script);
  onTestFinished(() => models.close());
  const call = await begun(models.realtimeUrl, more, limits);
  return { call, models, held: () => (models.conversations.at(-1) ?? []).map(({ by, text }) => `${by}: ${text}`) };
}

const RULES = [
  { when: 'book', use: 'book', input: { slot: 'nine' } },
  { after: 'book', say: 'It is booked.' },
  { when: 'person', use: 'transfer', input: { reason: 'asked', summary: 'wants a person', routingHint: 'boss' } },
  { when: 'bye', say: 'Goodbye.', use: 'end_call' },
  { when: 'pin', use: 'take_pin' },
  { say: 'One two three four five six.' },
];

describe('a speech-to-speech assistant', () => {
  it('uses a tool once, although its caller interrupts, and its model knows what came of it', async () => {
    const booked: string[] = [];
    let done: () => void = () => undefined;
    const book = tool({
      description: 'Books',
      input: z.object({ slot: z.string() }),
      run: async ({ slot }) => {
        booked.push(slot);
        await new Promise<void>((resolve) => (done = resolve));
        return 'done';
      },
    });
    const { call, held } = await called({ heard: ['book it', 'and now?'], rules: RULES }, { tools: { book } });
    const step = call.speak();
    await until(
      () => 'the tool runs',
      () => booked.length === 1,
    );
    await call.interrupt();
    await step;
    done();
    (await call.speak()).hears('[audio]');
    expect(booked).toEqual(['nine']);
    expect(held()).toEqual([
      ...['assistant: Hello.', 'caller: book it', 'tool: book'],
      ...['outcome: done', 'caller: and now?', 'assistant: One two three four five six.'],
    ]);
  });

  it('hears all that its caller said while it was waiting for a tool', async () => {
    let done: () => void = () => undefined;
    const book = tool({
      description: 'Books',
      input: z.object({ slot: z.string() }),
      run: () =>
        new Promise<string>((resolve) => {
          done = () => {
            resolve('done');
          };
        }),
    });
    const { call, held } = await called({ heard: ['book it', 'wait', 'and now?'], rules: RULES }, { tools: { book } });
    const first = call.speak();
    await until(
      () => 'the tool runs',
      () => held().includes('tool: book'),
    );
    await call.interrupt();
    await first;
    const second = call.speak();
    await call.interrupt();
    await second;
    done();
    await call.speak();
    await call.press('1');
    const words = held().filter((entry) => entry.startsWith('caller: '));
    expect(words).toEqual(['caller: book it', 'caller: wait', 'caller: and now?', 'caller: [keys pressed: 1]']);
  });

  it('transfers where its author says, and ends', async () => {
    const transfer = { to: (given: { reason: string }) => ({ ...given, routingHint: 'front-desk' }) };
    const first = await called({ heard: ['a person'], rules: RULES }, { transfer });
    (await first.call.speak()).transferred({ reason: 'asked', routingHint: 'front-desk' });
    const second = await called({ heard: ['bye'], rules: RULES });
    (await second.call.speak()).ended('completed');
  });

  it('hears keys as words, and digits that were asked for not at all', async () => {
    const taken: string[] = [];
    const take_pin = keyed({ description: 'Asks for the PIN', ask: 'Your PIN?', digits: 4, use: (digits) => (taken.push(digits), 'ok') });
    const { call, held } = await called({ heard: ['my pin'], rules: RULES }, { tools: { take_pin } });
    await call.press('12');
    (await call.speak()).hears('Your PIN?');
    await call.press('4711');
    expect(taken).toEqual(['4711']);
    expect(held()).toContain('caller: [keys pressed: 12]');
    expect(JSON.stringify([held(), call.state, call.kept])).not.toContain('4711');
  });

  it('lets a new server know the call so far, in words', async () => {
    const { call, models, held } = await called({ heard: ['hello', 'again'], rules: RULES }, { redact: (text) => text.toUpperCase() });
    await call.speak();
    await call.press('1');
    await call.move();
    await call.speak();
    expect(models.conversations).toHaveLength(2);
    expect(held()).toEqual([
      ...['assistant: Hello.', 'caller: HELLO', 'assistant: One two three four five six.', 'caller: [keys pressed: 1]'],
      ...['assistant: One two three four five six.', 'caller: again', 'assistant: One two three four five six.'],
    ]);
  });

  it.each([
    ['waits for sound that comes more slowly than it is played', 2000, /^\[audio\]( \[audio\])+$/u],
    ['gives sound up that stops for too long', 50, LOST],
  ] as const)('%s', async (_what, stallMs, heard) => {
    // A word lasts 240 ms.
    const { call } = await called({ heard: ['hello'], rules: [{ say: 'one two six' }], delays: { token: [400, 401] } }, {}, { stallMs });
    (await call.speak()).hears(heard);
  });

  it.each(['error', 'empty', 'hang'] as const)('asks again when the service fails before its first sound: %s', async (kind) => {
    const script: ModelScript = { heard: ['hello'], rules: RULES, faults: [{ on: 'realtime', nth: 1, kind }] };
    const { call, held } = await called(script, {}, { firstTokenMs: 300 });
    (await call.speak()).hears('[audio]');
    expect(held()).toEqual(['assistant: Hello.', 'caller: hello', 'assistant: One two three four five six.']);
  });

  it.each(['cut', 'torn'] as const)('says that it lost its thread after sound that breaks off, then transfers: %s', async (kind) => {
    const faults = [1, 2].map((nth) => ({ on: 'realtime' as const, nth, kind }));
    const { call } = await called({ heard: ['hello', 'hello?'], rules: RULES, faults }, {}, { stallMs: 300 });
    (await call.speak()).hears(LOST);
    (await call.speak()).transferred({ reason: 'the model failed' });
  });

  it.each([
    ['nobody listens', {}],
    ['there is no key', { key: () => Promise.reject(new Error('no vault')) }],
  ] as const)('says so, then transfers, when %s', async (_why, more) => {
    const call = await begun('ws://127.0.0.1:1/v1/realtime', more);
    (await call.speak()).hears(LOST);
    (await call.speak()).transferred({ reason: 'the model failed' });
  });

  it('lets another assistant go on when its model has failed twice, also on a new server', async () => {
    const model = scripted('From the second.', 'Still here.');
    const fallback = assistantStep({ model, instructions: 'You book.', greeting: 'Hello.' });
    const call = await begun('ws://127.0.0.1:1/v1/realtime', { fallback });
    (await call.speak('one')).hears(LOST);
    (await call.speak('two')).hears(LOST);
    (await call.speak('three')).hears('From the second.');
    await call.move();
    (await call.speak('four')).hears('Still here.');
    expect(JSON.stringify(model.asked[1]?.prompt)).toMatch(/Hello\..*three.*From the second\..*four/u);
  });

  it('rejects invalid options when it is loaded', () => {
    expect(() => desk('http://127.0.0.1')).toThrow('is no wss or ws address');
  });
});

/** A scripted service: what it was sent, and its socket. */
async function service(answers: (type: string, socket: WebSocket) => void) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const sent: string[] = [];
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      sent.push(type);
      answers(type, socket);
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `ws://127.0.0.1:${String(port)}`, sent };
}

const give = (socket: WebSocket, ...events: readonly object[]): void => {
  for (const event of events) socket.send(JSON.stringify(event));
};
const AUDIO = Buffer.alloc(1600, 0x2a).toString('base64');
const audio = (responseId: string): object => ({
  type: 'response.output_audio.delta',
  response_id: responseId,
  item_id: 'i',
  delta: AUDIO,
});
const done = (id: string, status = 'completed'): object => ({ type: 'response.done', response: { id, status, output: [] } });

describe('a service', () => {
  it('may send what nobody knows, texts that are no JSON, and sound of other responses', async () => {
    const { url } = await service((type, socket) => {
      if (type === 'session.update') {
        socket.send('{"type":');
        socket.send(Buffer.from([1, 2, 3]));
        give(socket, { type: 'rate_limits.updated' }, { type: 'response.done' }, audio('nobody'), { type: 'session.updated' });
      }
      if (type === 'response.create')
        give(
          socket,
          audio('early'),
          { type: 'response.created', response: { id: 'r' } },
          audio('other'),
          audio('r'),
          done('other'),
          done('r'),
        );
    });
    const call = await begun(url);
    (await call.speak()).hears(/^\[audio\]$/u);
  });

  it('is cancelled when the caller interrupts, and not asked again before it has stopped', async () => {
    let responses = 0;
    const { url, sent } = await service((type, socket) => {
      if (type === 'session.update') give(socket, { type: 'session.updated' });
      if (type === 'response.create') {
        responses += 1;
        const id = `r${String(responses)}`;
        give(socket, { type: 'response.created', response: { id } }, audio(id), ...(responses > 1 ? [done(id)] : []));
      }
      if (type === 'response.cancel') give(socket, audio('r1'), done('r1', 'cancelled'));
    });
    const call = await begun(url);
    const step = call.speak();
    await until(
      () => 'it speaks',
      () => call.prompts.length > 0,
    );
    await call.interrupt('speech', { ms: 100 });
    await step;
    (await call.speak()).hears(/^\[audio\]$/u);
    const order = sent.filter((type) => type.startsWith('response.') || type.endsWith('truncate'));
    expect(order).toEqual(['response.create', 'response.cancel', 'conversation.item.truncate', 'response.create']);
  });

  it('forgets words whose sound nobody has heard', async () => {
    const { url, sent } = await service((type, socket) => {
      if (type === 'session.update') give(socket, { type: 'session.updated' });
      const words = { type: 'response.output_audio_transcript.delta', response_id: 'r', item_id: 'i', delta: 'Good morning' };
      if (type === 'response.create' && !sent.includes('response.cancel'))
        give(socket, { type: 'response.created', response: { id: 'r' } }, words);
      if (type === 'response.cancel') give(socket, done('r', 'cancelled'));
    });
    const call = await begun(url);
    const step = call.speak();
    await until(
      () => 'it is asked',
      () => sent.includes('response.create'),
    );
    await call.interrupt();
    await step;
    const next = call.speak();
    await until(
      () => 'it is asked again',
      () => sent.filter((type) => type === 'response.create').length === 2,
    );
    await call.hangUp();
    await next;
    expect(sent).toContain('conversation.item.delete');
    expect(JSON.stringify(call.state)).not.toContain('Good morning');
  });

  it('that refuses a response has failed, and one that complains of something else has not', async () => {
    const { url, sent } = await service((type, socket) => {
      if (type === 'session.update') give(socket, { type: 'session.updated' });
      if (type !== 'response.create') return;
      give(socket, { type: 'error', error: { code: 'other', event_id: 'another' } });
      give(socket, { type: 'response.created', response: { id: 'r' } }, audio('r'), done('r'));
    });
    (await (await begun(url)).speak()).hears('[audio]');
    expect(sent.filter((type) => type === 'response.create')).toHaveLength(1);
  });
});
