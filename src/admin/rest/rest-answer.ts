// Reads a whole response of the administration interface: JSON, or a refusal with the platform's message. The caller decides what follows.
import type { Clock } from '../../base/clock.ts';
import { isGoodStatus, refusalOf, RequestFailure, type HttpAnswer } from '../../base/http-exchange.ts';
import { platformWords, Refusal, trackingIdOf } from './rest-error.ts';

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, unchecked; undefined for an empty body. */
  readonly body: unknown;
  /** The platform's id of this request. */
  readonly trackingId: string | undefined;
}

/**
 * Reads a response to its end.
 *
 * @param secrets - values that we sent and that a refusal's message must not repeat.
 * @returns a refusal as a value, because its status counts even when its body is incomplete.
 * @throws RequestFailure `bad_answer` for a successful response that is no JSON or too long, `unreachable` when it is incomplete.
 */
export async function takeAnswer(
  answer: HttpAnswer,
  { clock, trackingHeader, secrets }: { clock: Clock; trackingHeader: string; secrets: readonly string[] },
): Promise<RestAnswer | Refusal> {
  const { status, headers } = answer;
  const header = headers.get(trackingHeader);
  if (!isGoodStatus(status)) {
    // An incomplete body is not quoted, because a secret that was cut in two would not be recognized.
    const text = await textOf(answer).catch(() => undefined);
    return new Refusal(refusalOf(answer, clock), platformWords(text, header, secrets));
  }
  const text = await textOf(answer);
  return { status, headers, body: text === '' ? undefined : parsed(text, status), trackingId: trackingIdOf(header, secrets) };
}

async function textOf({ chunks }: HttpAnswer): Promise<string> {
  const taken: Uint8Array[] = [];
  for await (const chunk of chunks) taken.push(chunk);
  return Buffer.concat(taken).toString('utf8');
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body.
    throw new RequestFailure('bad_answer', `answered with something that is no JSON (status ${String(status)})`, { status });
  }
}
