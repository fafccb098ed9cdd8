// HTTP client for the administration interface: bearer token, tracking id, limits of time and size, retries if safe, and one refresh of the
// token. Knows no resources and keeps nothing between requests.
import { randomUUID } from 'node:crypto';
import { abortAfter, linkAbort, pause, waitAtMost, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { exchange, RequestFailure, type HttpMethod, type SendRequest } from '../../base/http-exchange.ts';
import type { Logger } from '../../base/log.ts';
import type { PlatformAddress } from '../platform-address.ts';
import type { TokenSource } from '../token-source.ts';
import { takeAnswer, type RestAnswer } from './rest-answer.ts';
import { codeOf, isNotThere, Refusal, RestError, type PlatformWords } from './rest-error.ts';
import { mayHaveHappened, pauseBeforeRetry, RETRY_LIMITS, type RetryLimits } from './retry.ts';
import { secretsIn } from '../../base/scrub.ts';

/** Limits of time, size and attempts. */
export interface RestLimits {
  /** Limit for one attempt, ms. */
  readonly tryMs: number;
  /** Limit for a request with all its attempts, pauses and tokens, ms. */
  readonly wholeMs: number;
  /** Largest response, bytes. */
  readonly maxAnswerBytes: number;
  readonly retry: RetryLimits;
}

export const REST_LIMITS: RestLimits = { tryMs: 15_000, wholeMs: 60_000, maxAnswerBytes: 2_000_000, retry: RETRY_LIMITS };

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded;charset=UTF-8';

export interface RestClientOptions {
  readonly address: PlatformAddress;
  /** Undefined: requests have no token, and a 401 is an ordinary refusal. */
  readonly tokens: TokenSource | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: RestLimits;
  /** Default: Node's fetch. */
  readonly send?: SendRequest;
  /** Random numbers for the pauses, from 0 up to but not including 1. Default: Math.random. */
  readonly random?: () => number;
  /** Called before each request that changes something; when the promise rejects, the request is not sent. */
  readonly confirm?: (() => Promise<void>) | undefined;
  /** When aborted, nothing more is sent or retried, but a sent request is waited for. Undefined: never. */
  readonly resting?: AbortSignal | undefined;
}

export interface RestRequest {
  readonly method: HttpMethod;
  /** The path below the base address, beginning with a slash, possibly with a query. */
  readonly path: string;
  /** Sent as a form if it is URLSearchParams, otherwise as JSON. */
  readonly body?: Readonly<Record<string, unknown>> | URLSearchParams;
}

type Settled = RestClientOptions & Required<Pick<RestClientOptions, 'limits' | 'send' | 'random'>>;

/** Sends requests with the tokens of one source. Keeps nothing open. */
export class RestClient {
  readonly address: PlatformAddress;
  readonly #options: Settled;

  constructor(options: RestClientOptions) {
    this.address = options.address;
    this.#options = { limits: REST_LIMITS, send: globalThis.fetch, random: Math.random, ...options };
  }

  /**
   * Sends a request until it succeeds, as often as that is safe.
   *
   * @param read - converts the answer; throws AppError `platform_answer_invalid` for unusable content.
   * @throws RestError `platform_refused`, `platform_unavailable` (also when `signal` aborts), `platform_answer_invalid`, or
   * `authorization_needed` for a second 401; and what the token source and `confirm` throw.
   */
  async send<T>(request: RestRequest, signal: AbortSignal, read: (answer: RestAnswer) => T): Promise<T> {
    const { clock, limits, confirm } = this.#options;
    if (request.method !== 'GET') await confirm?.();
    const whole = abortAfter(limits.wholeMs, clock, signal);
    try {
      return await new Asking(this.#options, request, whole).ask(read);
    } finally {
      whole.dispose();
    }
  }

  /** Deletes the resource at `path`. Also succeeds when it is missing and an earlier attempt may have deleted it. */
  async delete(path: string, signal: AbortSignal): Promise<void> {
    await this.send({ method: 'DELETE', path }, signal, () => undefined).catch((thrown: unknown) => {
      if (!(thrown instanceof RestError && isNotThere(thrown) && thrown.mayHaveHappened)) throw thrown;
    });
  }
}

/**
 * Escapes an id so that it stays one segment of a path.
 *
 * @throws AppError `config_invalid` for an id that is empty, too long, or would lead to another path.
 */
export function pathSegment(id: string): string {
  if (id === '' || id.length > 512 || id === '.' || id === '..') {
    throw new AppError('config_invalid', 'an id of the platform is a text of 1 to 512 characters and no dots alone');
  }
  return encodeURIComponent(id);
}

/** One request with all its attempts. */
class Asking {
  readonly #options: Settled;
  readonly #request: RestRequest;
  readonly #whole: LinkedAbort;
  readonly #startedMs: number;
  /** Our tracking id; the number of the attempt is appended. */
  readonly #trackingId = `parley_${randomUUID()}`;
  /** Values that we sent and that no message may repeat. */
  #secrets: readonly string[];
  #token: string | undefined;
  #tries = 0;
  #mayHaveHappened = false;

  constructor(options: Settled, request: RestRequest, whole: LinkedAbort) {
    this.#options = options;
    this.#request = request;
    this.#whole = whole;
    this.#startedMs = options.clock.monotonicMs();
    const { body = {} } = request;
    this.#secrets = secretsIn(body instanceof URLSearchParams ? Object.fromEntries(body) : body);
  }

  async ask<T>(read: (answer: RestAnswer) => T): Promise<T> {
    const answer = await this.#answer();
    try {
      return read(answer);
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'platform_answer_invalid') throw thrown;
      const failure = new RequestFailure('bad_answer', `answered with something unknown: ${thrown.message}`, { status: answer.status });
      throw this.#error(failure, { message: undefined, trackingId: answer.trackingId });
    }
  }

  async #answer(): Promise<RestAnswer> {
    const { tokens, limits, random, log, resting } = this.#options;
    const { method } = this.#request;
    if (tokens !== undefined) await this.#useToken(tokens.current(this.#whole.signal));
    let isRefreshed = false;
    for (;;) {
      if (resting?.aborted === true) throw this.#error(new RequestFailure('cancelled', 'is asked for nothing any more'));
      this.#tries += 1;
      const outcome = await this.#try();
      if (!(outcome instanceof RequestFailure)) return outcome;
      if (outcome.status === 401 && tokens !== undefined && this.#token !== undefined && !isRefreshed) {
        // refresh once. The refused request had no effect, so even a POST may be sent again.
        isRefreshed = true;
        await this.#useToken(tokens.refreshed(this.#token, this.#whole.signal));
        continue;
      }
      this.#mayHaveHappened ||= method !== 'GET' && mayHaveHappened(outcome);
      const pauseMs = pauseBeforeRetry(outcome, { method, tries: this.#tries - Number(isRefreshed), limits: limits.retry, random });
      if (pauseMs === undefined || pauseMs >= this.#leftMs || this.#whole.signal.aborted) throw this.#error(outcome);
      log.warn(
        { ...this.#said, outcome: outcome.outcome, status: outcome.status, pauseMs: Math.round(pauseMs) },
        'asking the platform again',
      );
      if (!(await this.#paused(pauseMs))) throw this.#error(outcome);
    }
  }

  /** Waits before the next attempt. @returns false when there must be none. */
  async #paused(pauseMs: number): Promise<boolean> {
    const { clock, resting } = this.#options;
    const pausing = linkAbort(this.#whole.signal);
    const end = (): void => {
      pausing.abort('shutdown');
    };
    resting?.addEventListener('abort', end, { once: true });
    if (resting?.aborted === true) end();
    try {
      return await pause(pauseMs, clock, pausing.signal);
    } finally {
      resting?.removeEventListener('abort', end);
      pausing.dispose();
    }
  }

  /** Waits for a token within the limit of the whole request. */
  async #useToken(token: Promise<string>): Promise<void> {
    const waited = await waitAtMost(token, Math.max(0, this.#leftMs), this.#options.clock, this.#whole.signal);
    if (waited.kind !== 'value') throw this.#error(this.#stopped());
    this.#token = waited.value;
    this.#secrets = [...this.#secrets, waited.value];
  }

  /** Makes one attempt. @returns the response, or the failure. */
  async #try(): Promise<RestAnswer | RequestFailure> {
    const { address, clock, limits, send, log } = this.#options;
    const { method, path, body } = this.#request;
    const attempt = abortAfter(limits.tryMs, clock, this.#whole.signal);
    const headers = {
      accept: JSON_TYPE,
      'user-agent': 'parley',
      [address.trackingHeader]: `${this.#trackingId}_${String(this.#tries)}`,
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(body === undefined ? {} : { 'content-type': body instanceof URLSearchParams ? FORM : JSON_TYPE }),
    };
    const text = body instanceof URLSearchParams ? body.toString() : body === undefined ? undefined : JSON.stringify(body);
    const sent = { method, url: address.baseUrl + path, headers, body: text };
    const exchangeLimits = { firstByteMs: limits.tryMs, maxAnswerBytes: limits.maxAnswerBytes };
    try {
      const answer = await exchange({ clock, send, limits: exchangeLimits }, sent, attempt.signal, (arriving) =>
        takeAnswer(arriving, { clock, trackingHeader: address.trackingHeader, secrets: this.#secrets }),
      );
      const { status } = answer;
      const trackingId = answer instanceof Refusal ? answer.words.trackingId : answer.trackingId;
      log.debug({ ...this.#said, status, platformTrackingId: trackingId, tries: this.#tries }, 'the platform answered');
      return answer;
    } catch (thrown) {
      if (!(thrown instanceof RequestFailure)) throw thrown;
      if (this.#whole.signal.aborted) return this.#stopped();
      return attempt.signal.aborted ? new RequestFailure('timeout', `did not answer within ${String(limits.tryMs)} ms`) : thrown;
    } finally {
      attempt.dispose();
    }
  }

  /** Why a request was stopped: its whole limit is over, or nobody waits any more. */
  #stopped(): RequestFailure {
    const { wholeMs } = this.#options.limits;
    return this.#leftMs <= 0
      ? new RequestFailure('timeout', `did not answer well within ${String(wholeMs)} ms`)
      : new RequestFailure('cancelled', 'was not waited for');
  }

  #error(failure: RequestFailure, words?: PlatformWords): RestError {
    const said = words ?? (failure instanceof Refusal ? failure.words : { message: undefined, trackingId: undefined });
    // An unreadable answer to a change is an answer nevertheless: the change has been made.
    const happened = this.#mayHaveHappened || (this.#request.method !== 'GET' && failure.outcome === 'bad_answer');
    return new RestError(codeOf(failure, this.#options.tokens !== undefined), this.#name, failure, said, happened);
  }

  get #leftMs(): number {
    return this.#startedMs + this.#options.limits.wholeMs - this.#options.clock.monotonicMs();
  }

  /** The request without its query, for messages. */
  get #name(): string {
    return `${this.#request.method} ${this.#request.path.split('?')[0] ?? ''}`;
  }

  get #said(): Readonly<Record<string, unknown>> {
    return { request: this.#name, trackingId: this.#trackingId };
  }
}
