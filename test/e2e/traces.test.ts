// The traces of calls on a real server, as a collector gets them: with an assistant and its tool over both wires, and what a collector
// that fails costs.
import { randomUUID } from 'node:crypto';
import { assistant, chatModel, tool, z } from 'parley-voice/ai';
import { fakeModels, startPlatform, type ModelScript, type Scenario, type TestPlatform } from 'parley-voice/platform';
import { createServer, type ServerSettings } from 'parley-voice/server';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';
import { TraceCollector, type ArrivedSpan } from '../support/trace-collector.ts';
import { checkTraceTree, tracesIn } from '../support/trace-tree.ts';

const SAID = 'On Tuesday, says Canary.';
const NUMBER = 'It is 5551234567';
const SCRIPT: ModelScript = {
  heard: [SAID, NUMBER],
  rules: [
    { when: 'Tuesday', use: 'find_slots', input: { day: 'canary-tuesday' } },
    { after: 'find_slots', say: 'The canary has nine and eleven.' },
    { say: 'Thank you, canary.' },
  ],
};

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

async function served(traces: ServerSettings['traces'] = {}) {
  const collector = await TraceCollector.start();
  onTestFinished(() => collector.close());
  const models = await fakeModels(SCRIPT);
  onTestFinished(() => models.close());
  const desk = assistant({
    ...{ id: 'desk', name: 'Desk', model: chatModel({ url: models.url, model: 'fake' }) },
    ...{ instructions: 'You book appointments.', greeting: 'Hello.', listen: { digits: 4 } },
    tools: {
      find_slots: tool({
        description: 'Looks',
        input: z.object({ day: z.string() }),
        readOnly: true,
        run: ({ day }) => [`${day} at nine`],
      }),
    },
  });
  const server = await createServer(
    {
      ...platform.trust,
      grpc: { host: '127.0.0.1', port: 0 },
      websocket: { enabled: true, host: '127.0.0.1', port: 0 },
      recognizer: { engine: 'http', http: { url: models.url, model: 'fake' } },
      synthesizer: { cache_folder: SPOKEN_PROMPTS },
      tls: { mode: 'off' },
      ops: { port: 0 },
      log: { level: 'silent' },
      shutdown: { grace_ms: 0 },
      traces: { endpoint: collector.url, ...traces },
    },
    { bots: [desk] },
  );
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await server.close();
    isOpen = false;
  };
  onTestFinished(close);
  const conversationId = randomUUID();
  const call = (transport: 'grpc' | 'websocket' = 'grpc', steps: Scenario['steps'] = [{ say: SAID }, { hang_up: true }]) =>
    platform.call(
      (transport === 'grpc' ? server.address.grpc : server.address.websocket) ?? '',
      { pace: 10, agent: 'desk', steps },
      { conversationId },
    );
  const metrics = async (accept: string) => {
    const answer = await fetch(`${server.address.operations}/metrics`, { headers: { accept } });
    return { type: answer.headers.get('content-type'), text: await answer.text() };
  };
  return { collector, call, close, conversationId, metrics };
}

const namesIn = (spans: readonly ArrivedSpan[]): readonly string[] => [...new Set(spans.map(({ name }) => name))].toSorted();

describe('the trace of a call', () => {
  it.each(['grpc', 'websocket'] as const)(
    'is one tree over %s, with the ids of the platform and ours, and nothing that was said',
    async (transport) => {
      const { collector, call, close, conversationId, metrics } = await served();
      const { failures, findings } = await call(transport, [{ say: SAID }, { say: NUMBER }, { press: '4711' }, { hang_up: true }]);
      // As Prometheus asks, and as everybody else does.
      const [open, plain] = [await metrics('application/openmetrics-text;version=1.0.0,text/plain;q=0.5'), await metrics('*/*')];
      await close();
      expect(open.text).toContain(` # {trace_id="${collector.spans[0]?.traceId ?? ''}"}`);
      expect([open.type, plain.type]).toEqual([expect.stringContaining('openmetrics'), expect.stringContaining('text/plain')]);
      expect(plain.text).not.toContain('trace_id');
      expect({ failures, findings }).toEqual({ failures: [], findings: [] });
      expect(checkTraceTree(collector.spans)).toEqual([]);
      expect(tracesIn(collector.spans)).toBe(1);
      expect(namesIn(collector.spans)).toEqual(['bot', 'call', 'chat fake', 'execute_tool find_slots', 'recognition', 'synthesis', 'turn']);
      const whole = collector.spans.filter(({ name }) => name === 'call');
      expect(whole.map(({ attributes }) => attributes)).toEqual([
        {
          ...{ 'parley.organization_id': platform.issuer.claims.organizationId, 'parley.conversation_id': conversationId },
          ...{ 'parley.bot': 'desk', 'parley.transport': transport, 'parley.outcome': 'caller' },
        },
      ]);
      const turns = collector.spans.filter(({ name }) => name === 'turn');
      expect(turns.length).toBeGreaterThanOrEqual(4);
      for (const { attributes } of turns) expect(attributes['parley.tracking_id']).toEqual(expect.any(String));
      // One for the tool, one for the words after it, one for each later input.
      expect(collector.spans.filter(({ name }) => name === 'chat fake')).toHaveLength(4);
      expect(collector.text).not.toMatch(/canary|5551234567|\b4711\b/iu);
    },
  );

  it('has the words of the caller where the operator wants them, and then nothing of the bot', async () => {
    const { collector, call, close } = await served({ content: true });
    await call();
    await close();
    const words = collector.spans.flatMap(({ attributes }) => attributes['parley.content.caller_words'] ?? []);
    expect(words).toEqual([SAID]);
    expect(collector.text).not.toMatch(/canary has|canary-tuesday|\b4711\b/u);
  });

  it('is not made for a call outside of the share', async () => {
    const { collector, call, close } = await served({ share: 0 });
    await call();
    await close();
    expect(collector.requests).toBe(0);
  });
});

describe('a collector that takes nothing', () => {
  it('keeps no caller waiting, and the server for five seconds at most', async () => {
    const { collector, call, close } = await served();
    collector.does = 'hang';
    expect(await call()).toMatchObject({ failures: [], findings: [] });
    const beganAtMs = systemClock.monotonicMs();
    await close();
    expect(systemClock.monotonicMs() - beganAtMs).toBeLessThan(8000);
    expect(collector.requests).toBeGreaterThan(0);
  });
});
