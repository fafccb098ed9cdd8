// Where the time to a reply goes: calls of the fake platform in which one thing is slow, and the part of the reply's time that grows by it.
import { assistant, chatModel, tool, z } from 'parley-voice/ai';
import { fakeModels, startPlatform, type ModelScript, type TestPlatform } from 'parley-voice/platform';
import { createServer } from 'parley-voice/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pause } from '../../src/base/abort.ts';
import { systemClock } from '../../src/base/clock.ts';
import { ANSWER_PARTS, type AnswerParts } from '../../src/dialog/call-view.ts';
import { withWire } from '../../src/telemetry/answer-parts.ts';
import { freePort } from '../support/free-port.ts';
import { startRelay } from '../support/relay.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';

const DELAY_MS = 500;
/** Turns of each call: the fastest shows what the delay did, and not how busy the machine was. */
const QUESTIONS = 3;

interface Slowness {
  readonly endSilenceMs?: number;
  readonly delays?: ModelScript['delays'];
  readonly toolMs?: number;
  readonly lineMs?: number;
}

/** What is slow, by the part that must grow. A reply takes two requests to the model: for the tool, and for the words. */
const SLOW: Readonly<Record<Exclude<keyof AnswerParts, 'botMs' | 'engineMs'>, Slowness>> = {
  endpointingMs: { endSilenceMs: 600 + DELAY_MS },
  recognitionMs: { delays: { recognition: [DELAY_MS, DELAY_MS] } },
  modelMs: { delays: { first_token: [DELAY_MS / 2, DELAY_MS / 2] } },
  toolsMs: { toolMs: DELAY_MS },
  synthesisMs: { delays: { speech: [DELAY_MS, DELAY_MS] } },
  wireMs: { lineMs: DELAY_MS },
};

const FACTS = z.object({
  startedAtMs: z.number(),
  facts: z.array(z.looseObject({ atMs: z.number(), event: z.string(), turnId: z.string().optional() })),
});
const PARTS = z.object({
  ...{ endpointingMs: z.int(), recognitionMs: z.int(), botMs: z.int(), modelMs: z.int(), toolsMs: z.int() },
  ...{ synthesisMs: z.int(), engineMs: z.int() },
});

let platform: TestPlatform;
let usual: Readonly<Record<string, number>>;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  platform = await startPlatform();
  usual = fastest(await answersWith({}));
});
afterAll(async () => {
  for (const close of closing) await close();
  await platform.close();
});

/** The parts of each answer to a question, and the time to it by the engine's own count. */
async function answersWith({ endSilenceMs = 600, delays = {}, toolMs = 0, lineMs = 0 }: Slowness) {
  const rules = [
    { when: '/tuesday/i', use: 'look', input: {} },
    { after: 'look', say: 'I have nine and eleven.' },
  ];
  const models = await fakeModels({ rules, delays });
  const opsPort = await freePort();
  const look = async () => {
    if (toolMs > 0) await pause(toolMs, systemClock);
    return 'nine and eleven';
  };
  const desk = assistant({
    ...{ id: 'desk', name: 'Desk', model: chatModel({ url: models.url, model: 'fake' }) },
    ...{ instructions: 'You book appointments.', greeting: 'Hello.' },
    tools: { look: tool({ description: 'Looks', input: z.object({}), readOnly: true, run: look }) },
  });
  const server = await createServer(
    {
      ...platform.trust,
      grpc: { host: '127.0.0.1', port: 0 },
      recognizer: { engine: 'http', http: { url: models.url, model: 'fake' } },
      synthesizer: { engine: 'http', http: { url: models.url, model: 'fake' }, cache_folder: SPOKEN_PROMPTS },
      // Nothing is suspected, so nothing runs ahead.
      speech: { end_silence_ms: endSilenceMs, resume_grace_ms: 0 },
      tls: { mode: 'off' },
      // At ten times the pace a busy machine would take a slow answer for a silent caller.
      listen: { no_input_ms: 0 },
      media: { reveal_prompt_text: true },
      ops: { port: opsPort },
      log: { level: 'silent' },
      shutdown: { grace_ms: 0 },
    },
    { bots: [desk] },
  );
  const relay = await startRelay(Number(new URL(server.address.grpc).port), lineMs);
  closing.push(async () => {
    relay.close();
    await server.close();
    await models.close();
  });
  /** By turn, ms since the epoch. */
  const arrivals = new Map<number, number>();
  const question = { say: 'Do you have anything on Tuesday?', expect: { heard: 'nine' } } as const;
  const { failures, findings, conversationId } = await platform.call(
    relay.target,
    { agent: 'desk', pace: 10, steps: [...Array.from({ length: QUESTIONS }, () => question), { hang_up: true }] },
    {
      models: models.url,
      onEvent: ({ what, turn = 0 }) => {
        if (what === 'prompt' && !arrivals.has(turn)) arrivals.set(turn, systemClock.nowMs());
      },
    },
  );
  expect({ failures, findings }).toEqual({ failures: [], findings: [] });
  const shown: unknown = await (await fetch(`http://127.0.0.1:${String(opsPort)}/calls/${conversationId}`)).json();
  const { startedAtMs, facts } = FACTS.parse(shown);
  const answers = facts
    .filter(({ event }) => event === 'input_ended')
    .map(({ turnId }) => {
      const fact = (name: string) => facts.find(({ event, turnId: id }) => event === name && id === turnId);
      const started = fact('reply_started');
      const sentMs = startedAtMs + (started?.atMs ?? 0);
      const arrivedMs = arrivals.get(Number(turnId?.split('#').at(-1))) ?? 0;
      return { parts: withWire(PARTS.parse(fact('answer_parts')), sentMs, arrivedMs), latencyMs: started?.['latencyMs'] };
    });
  expect(answers).toHaveLength(QUESTIONS);
  return answers;
}

/** Each part at its shortest. */
function fastest(answers: Awaited<ReturnType<typeof answersWith>>): Readonly<Record<string, number>> {
  return Object.fromEntries(ANSWER_PARTS.map((part) => [part, Math.min(...answers.map(({ parts }) => parts[part] ?? 0))]));
}

describe('the parts of the time to a reply', () => {
  it.each(Object.entries(SLOW))('name what is slow: %s grows by it, no other does, and they add up', async (slow, slowness) => {
    const answers = await answersWith(slowness);
    const found = fastest(answers);
    const grownMs = (part: string) => (found[part] ?? 0) - (usual[part] ?? 0);
    expect(ANSWER_PARTS.filter((part) => grownMs(part) > DELAY_MS / 5)).toEqual([slow]);
    expect(grownMs(slow)).toBeGreaterThan(DELAY_MS * 0.8);
    expect(grownMs(slow)).toBeLessThan(DELAY_MS * 1.3);
    for (const { parts, latencyMs } of answers) {
      const { endpointingMs: _, wireMs: __, ...afterInput } = parts;
      expect(Object.values(afterInput).reduce((sum, ms) => sum + ms, 0)).toBe(latencyMs);
    }
  });
});
