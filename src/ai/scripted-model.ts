// A language model with scripted answers, for tests of assistants: no network, no key, no waiting.
import { AppError } from '../base/errors.ts';
import { systemClock } from '../base/clock.ts';
import { pause } from '../base/abort.ts';
import type { JsonObject } from '../base/json.ts';
import type { LanguageModel, ProviderCall } from './model.ts';

/** One answer: words, a tool use, both, or a failure. */
export type ScriptedAnswer =
  | string
  | {
      readonly say?: string;
      /** Set for a tool use: the name of the tool. */
      readonly use?: string;
      readonly input?: JsonObject;
      /** Delay of the first part, ms. */
      readonly afterMs?: number;
      /** Set when the answer fails after its words. `error`: a refusal. `stall`: no more parts. `cut`: a broken connection. */
      readonly fails?: 'error' | 'stall' | 'cut';
    };

/** See {@link scripted}. */
export interface ScriptedModel extends LanguageModel {
  /** All requests so far, in order. */
  readonly asked: readonly ProviderCall[];
}

/**
 * Makes a model that gives these answers in order, word by word. After the last answer, every request fails as if a service refused it.
 * @example
 * const model = scripted({ use: 'book', input: { slot: 'Tuesday' } }, 'It is booked.');
 */
export function scripted(...answers: readonly ScriptedAnswer[]): ScriptedModel {
  const asked: ProviderCall[] = [];
  return {
    ...{ specificationVersion: 'v3', provider: 'scripted', modelId: 'scripted', asked },
    doStream(call) {
      const given = answers[asked.push(call) - 1];
      if (given === undefined) return Promise.reject(new AppError('bot_failed', 'the scripted model has no further answer'));
      const written = typeof given === 'string' ? { say: given } : given;
      return Promise.resolve({ stream: parts(written, call.abortSignal) });
    },
  };
}

async function* parts(
  { say = '', use, input = {}, afterMs = 0, fails }: Exclude<ScriptedAnswer, string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<object> {
  yield { type: 'stream-start', warnings: [] };
  if (afterMs > 0) await pause(afterMs, systemClock, signal);
  for (const delta of say.match(/\S+\s*/gu) ?? []) yield { type: 'text-delta', id: '0', delta };
  if (fails === 'stall') await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
  if (fails === 'cut') throw new AppError('bot_failed', 'the scripted model breaks off');
  if (fails === 'error') yield { type: 'error', error: { statusCode: 500 } };
  if (use !== undefined) yield { type: 'tool-call', toolCallId: use, toolName: use, input: JSON.stringify(input) };
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } };
  yield { type: 'finish', finishReason: { unified: use === undefined ? 'stop' : 'tool-calls' }, usage };
}
