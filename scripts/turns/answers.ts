// Calls to an assistant whose services take a known time, and how long its callers wait for the first sound of an answer.
import { assistant, chatModel } from '../../src/ai/index.ts';
import { createServer } from '../../src/app/index.ts';
import { fakeModels, startPlatform } from '../../src/cli/platform.ts';

export interface AnsweredOptions {
  /** Whether the recognizer hears while the caller speaks. */
  readonly isStreamed: boolean;
  readonly calls: number;
  /** From a pause to its words, ms. */
  readonly recognitionMs: number;
}

const QUESTIONS = [
  'When are you open?',
  'I would like to change my appointment on Tuesday.',
  'Where can I park my car?',
  'Do I have to bring something, or is my name enough?',
  'That is all. Thank you.',
] as const;
/** More at once would wait for one another. */
const AT_ONCE = 5;

/** @returns from the last sound of the caller to the first sound of the answer, ms, for each answer. */
export async function answered({ isStreamed, calls, recognitionMs }: AnsweredOptions): Promise<readonly number[]> {
  const numbers = Array.from({ length: calls * QUESTIONS.length }, (_, index) => String(index));
  const always = (ms: number): [number, number] => [ms, ms * 1.0001];
  const platform = await startPlatform();
  const models = await fakeModels({
    heard: numbers.map((number) => `I would like to know the ${number} things.`),
    words_per_second: 8,
    // No text comes twice: its sound would be there already.
    rules: numbers.map((number) => ({
      when: `the ${number} things`,
      say: `Of the ${number} things I know little. We are open until five.`,
    })),
    speech_pace: 1,
    delays: { recognition: always(recognitionMs), first_token: always(350), token: always(25), speech: always(180) },
  });
  const desk = assistant({
    ...{ id: 'desk', name: 'Desk', model: chatModel({ url: models.url, model: 'fake' }) },
    ...{ instructions: 'You answer questions.', greeting: 'Hello.' },
  });
  const server = await createServer(
    {
      ...platform.trust,
      grpc: { host: '127.0.0.1', port: 0 },
      recognizer: {
        ...{ engine: 'http', http: { url: models.url, model: 'fake' } },
        ...(isStreamed && { stream: { url: models.transcriptionUrl, model: 'fake' } }),
      },
      synthesizer: { engine: 'http', cache_folder: '', http: { url: models.url, model: 'fake', format: 'pcm' } },
      tls: { mode: 'off' },
      ops: { port: 0 },
      log: { level: 'silent' },
      shutdown: { grace_ms: 0 },
    },
    { bots: [desk] },
  );
  const waits: number[] = [];
  let left = calls;
  const oneAfterTheOther = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const steps = [...QUESTIONS.map((say) => ({ say })), { hang_up: true as const }];
      const { replies, failures } = await platform.call(server.address.grpc, { agent: 'desk', steps });
      if (failures.length > 0) throw new Error(`a call failed: ${JSON.stringify(failures)}`);
      // The greeting answers nobody.
      waits.push(...replies.slice(1).flatMap(({ latencyMs }) => latencyMs ?? []));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, calls) }, oneAfterTheOther));
  } finally {
    await server.close();
    await models.close();
    await platform.close();
  }
  return waits;
}
