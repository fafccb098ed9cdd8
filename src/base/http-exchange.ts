// One HTTP request and its answer, with limits for the size and for the time without a byte. Follows no redirects; a failure never
// contains content of request or answer. Its caller decides which status is good and whether to try again.
import { linkAbort } from './abort.ts';
import type { CancelTimer, Clock } from './clock.ts';

/** How a request ended; a closed set that may be a label of a metric. */
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];
export const REQUEST_OUTCOMES = [
  'ok',
  /** Nobody waited for the answer any more. */
  'cancelled',
  /** Not sent: the service had failed too often. */
  'circuit_open',
  /** Not sent: too many requests were under way. */
  'busy',
  'timeout',
  /** No connection, or one that broke. */
  'unreachable',
  'rate_limited',
  /** Any other bad answer that is not a failure of the service: a wrong key, a wrong model, a redirect. */
  'client_error',
  'server_error',
  /** An answer of the right status with the wrong content. */
  'bad_answer',
] as const;

/** The methods that are used. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The part of `fetch` that is used; tests replace it. */
export type SendRequest = (
  url: string,
  init: {
    readonly method: HttpMethod;
    readonly redirect: 'manual';
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: RequestBody;
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/** A body that can be sent twice. */
export type RequestBody = string | FormData;

/** A request. */
export interface HttpRequest {
  readonly method: HttpMethod;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none. */
  readonly body: RequestBody | undefined;
}

/** Bounds of one exchange. */
export interface ExchangeLimits {
  /**
   * Longest wait for the first byte of the answer's body, ms, and then for every further piece. Time in which the reader asks for no
   * piece does not count.
   */
  readonly firstByteMs: number;
  /** Largest body, bytes, after decompression; more than this is a failure. */
  readonly maxAnswerBytes: number;
}

/** An answer of any status, whose body is still arriving. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** In lower case, without parameters; empty when there is none. */
  readonly contentType: string;
  /** The body; can be read once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Why a request failed. The message completes "the service …" and never contains content of request or answer. */
export class RequestFailure extends Error {
  readonly outcome: RequestOutcome;
  readonly status: number | undefined;
  /** How long the service asked us to wait; undefined when it did not. */
  readonly retryAfterMs: number | undefined;
  /** The system's error code of a failed connection, such as ECONNREFUSED; undefined when there is none. */
  readonly systemCode: string | undefined;

  constructor(
    outcome: RequestOutcome,
    message: string,
    more: { readonly status?: number; readonly retryAfterMs?: number; readonly systemCode?: string } = {},
  ) {
    super(message);
    this.outcome = outcome;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
    this.systemCode = more.systemCode;
  }
}

/** Whether a status means success. */
export function isGoodStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The failure of an answer with any other status. */
export function refusalOf({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>, clock: Clock): RequestFailure {
  const retryAfterMs = retryAfter(headers.get('retry-after') ?? '', clock);
  const more = retryAfterMs === undefined ? { status } : { status, retryAfterMs };
  if (status === 429) return new RequestFailure('rate_limited', 'is asked more often than it allows (status 429)', more);
  if (status >= 500) return new RequestFailure('server_error', `failed (status ${String(status)})`, more);
  const what = status >= 300 && status < 400 ? 'redirects, which is not followed' : 'refused the request';
  return new RequestFailure('client_error', `${what} (status ${String(status)})`, more);
}

/**
 * Sends a request and passes its answer to `take`, whatever its status.
 *
 * @param take - checks the status ({@link refusalOf}) and reads the body; its errors are rethrown.
 * @throws RequestFailure; when `signal` aborts, with the outcome `cancelled`.
 */
export async function exchange<T>(
  { clock, send, limits }: { readonly clock: Clock; readonly send: SendRequest; readonly limits: ExchangeLimits },
  { method, url, headers, body }: HttpRequest,
  signal: AbortSignal,
  take: (answer: HttpAnswer) => Promise<T>,
): Promise<T> {
  const attempt = linkAbort(signal);
  const silence = new Silence(clock, limits.firstByteMs, () => {
    attempt.abort('deadline');
  });
  silence.begins();
  try {
    const init = { method, redirect: 'manual', headers, signal: attempt.signal, ...(body === undefined ? {} : { body }) } as const;
    const response = await send(url, init).catch(unreachable);
    const { status, headers: answered } = response;
    const contentType = (answered.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    return await take({ status, headers: answered, contentType, chunks: chunksOf(response, limits.maxAnswerBytes, silence) });
  } catch (thrown) {
    if (signal.aborted) throw new RequestFailure('cancelled', 'was not waited for');
    if (attempt.signal.aborted) throw new RequestFailure('timeout', `sent ${silence.words} within ${String(limits.firstByteMs)} ms`);
    throw thrown;
  } finally {
    silence.ends();
    attempt.dispose();
    // Closes the connection if its answer was not read to the end; otherwise it has no effect.
    attempt.abort('superseded');
  }
}

/** The limit for the time without a byte: one timer, armed only while somebody waits for the next byte. */
class Silence {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #onTooLong: () => void;
  #wasBroken = false;
  #cancelTimer: CancelTimer = () => undefined;

  constructor(clock: Clock, limitMs: number, onTooLong: () => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#onTooLong = onTooLong;
  }

  /** How much the service has sent, for the message about a timeout. */
  get words(): string {
    return this.#wasBroken ? 'nothing more' : 'nothing';
  }

  begins(): void {
    this.#cancelTimer = this.#clock.after(this.#limitMs, this.#onTooLong);
  }

  /** A byte has arrived. */
  isBroken(): void {
    this.#wasBroken = true;
    this.ends();
  }

  /** Nobody waits for a byte any more; has no effect when nobody did. */
  ends(): void {
    this.#cancelTimer();
  }
}

async function* chunksOf(response: Response, maxBytes: number, silence: Silence): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const body: AsyncIterable<Uint8Array> = response.body;
  let bytes = 0;
  try {
    for await (const chunk of body) {
      silence.isBroken();
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new RequestFailure('bad_answer', `answered with more than ${String(maxBytes)} bytes`);
      yield chunk;
      // Only now, because the time that a slow reader took does not count.
      silence.begins();
    }
  } catch (thrown) {
    throw thrown instanceof RequestFailure ? thrown : new RequestFailure('unreachable', 'broke off its answer');
  }
}

function unreachable(thrown: unknown): never {
  if (thrown instanceof RequestFailure) throw thrown;
  // Foreign messages may quote headers, so only the system's error code is kept.
  const cause: unknown = thrown instanceof Error ? thrown.cause : undefined;
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  if (typeof code !== 'string') throw new RequestFailure('unreachable', 'cannot be reached (unknown)');
  throw new RequestFailure('unreachable', `cannot be reached (${code})`, { systemCode: code });
}

/** Seconds or a date, as ms from now. */
function retryAfter(value: string, clock: Clock): number | undefined {
  if (/^\d{1,6}$/u.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock.nowMs());
}
