// A service behind HTTP: limits parallel requests, sets a deadline for each, retries once where that can help, and stops requests with a
// circuit breaker. Knows nothing of the requests; their texts, keys and answers appear in no failure.
import { linkAbort, pause, type LinkedAbort } from './abort.ts';
import { CircuitBreaker, type CircuitPass, type CircuitState } from './circuit-breaker.ts';
import type { CancelTimer, Clock } from './clock.ts';
import { AppError, type ErrorCode } from './errors.ts';
import {
  exchange,
  isGoodStatus,
  refusalOf,
  RequestFailure,
  type ExchangeLimits,
  type HttpAnswer,
  type HttpRequest,
  type RequestBody,
  type RequestOutcome,
  type SendRequest,
} from './http-exchange.ts';
import { sendRequest } from './http-send.ts';
import { isLoopback } from './loopback.ts';

/** Pause before the second try, ms, unless the service asks for a longer one. */
const RETRY_MS = 150;
/** Longest pause that the service may ask for, ms; if it asks for more, there is no second try. */
const MAX_RETRY_MS = 2000;

/** Observes one service. What it throws is ignored. */
export interface HttpServiceObserver {
  /** A request is over, `durationMs` after it was asked for. */
  requestEnded?(outcome: RequestOutcome, durationMs: number): void;
  /** A request is sent for the second time. */
  requestRetried?(): void;
  circuitChanged?(state: CircuitState): void;
}

/** Which service it is, and the limits of its use. */
export interface HttpServiceOptions extends ExchangeLimits {
  /** Subject of the service's error messages, such as `the speech service`. */
  readonly name: string;
  /** The code of the service's errors. */
  readonly code: ErrorCode;
  /** Every address begins with this; see {@link isServiceAddress}. */
  readonly url: string;
  /** Sent as a bearer token; undefined: none. */
  readonly key: string | undefined;
  /** Longest time from asking to the end of the answer, the second try included, ms. */
  readonly timeoutMs: number;
  /** Most requests at once; further ones fail. Default 256. */
  readonly maxRunning?: number;
  readonly clock: Clock;
  readonly observer?: HttpServiceObserver;
  /** Default: {@link sendRequest}. */
  readonly send?: SendRequest;
}

/** A good answer, with two ways for its reader to influence the request. */
export interface ServiceAnswer extends HttpAnswer {
  /** A part of the answer was passed on: if it fails from now on, the request is not repeated. */
  passedOn(): void;
  /** Sets the time limit of the whole exchange, ms from its start; never makes it shorter. */
  allow(timeoutMs: number): void;
}

/** True for an address that a service may have: https, or http on this machine; no user, no query, no fragment. */
export function isServiceAddress(url: URL): boolean {
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/gu, '')));
  return isSafe && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** One service. Whoever created it closes it. */
export class HttpService {
  readonly #options: HttpServiceOptions & { readonly maxRunning: number; readonly send: SendRequest };
  readonly #breaker: CircuitBreaker;
  readonly #running = new Set<LinkedAbort>();
  readonly #settling = new Set<Promise<unknown>>();
  #isClosed = false;

  /** @throws AppError `config_invalid` for an address that {@link isServiceAddress} refuses. */
  constructor(options: HttpServiceOptions) {
    const url = options.url.replace(/\/+$/u, '');
    if (!URL.canParse(url) || !isServiceAddress(new URL(url))) {
      throw new AppError('config_invalid', `${options.name} must have an https:// address (http:// on loopback only)`);
    }
    this.#options = { maxRunning: 256, send: sendRequest, ...options, url };
    this.#breaker = new CircuitBreaker({
      clock: options.clock,
      onChange: (state) => {
        this.#notify((observer) => observer.circuitChanged?.(state));
      },
    });
  }

  /**
   * Posts `body` to `path` below the service's address. Sends it a second time, and no more, when the connection failed or
   * broke, and after the status 429 or 5xx; only while there is time and nothing was passed on.
   *
   * @param take - reads the answer; called once per try. Throws {@link RequestFailure} for content it cannot use.
   * @throws AppError with the code of the options, also when `signal` aborts; its `details.outcome` says how it ended.
   */
  async ask<T>(
    request: { readonly path: string; readonly headers?: Readonly<Record<string, string>>; readonly body: RequestBody },
    signal: AbortSignal,
    take: (answer: ServiceAnswer) => Promise<T>,
  ): Promise<T> {
    const { url, key, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const authorization: Readonly<Record<string, string>> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    let outcome: RequestOutcome = 'ok';
    try {
      const headers = { ...request.headers, ...authorization };
      return await this.#admitted({ method: 'POST', url: url + request.path, headers, body: request.body }, signal, take);
    } catch (thrown) {
      // Any other error of a reader means that it cannot use the answer.
      outcome = thrown instanceof RequestFailure ? thrown.outcome : 'bad_answer';
      throw this.#errorOf(thrown);
    } finally {
      this.#notify((observer) => observer.requestEnded?.(outcome, clock.monotonicMs() - startedMs));
    }
  }

  /** Aborts running requests. Resolves when none is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const running of this.#running) running.abort('shutdown');
    await Promise.all(this.#settling);
  }

  async #admitted<T>(request: HttpRequest, signal: AbortSignal, take: (answer: ServiceAnswer) => Promise<T>): Promise<T> {
    if (this.#isClosed || signal.aborted) throw new RequestFailure('cancelled', this.#isClosed ? 'is closed' : 'was not waited for');
    if (this.#running.size >= this.#options.maxRunning) throw new RequestFailure('busy', 'is asked too many things at once');
    const pass = this.#breaker.enter();
    if (pass === undefined) throw new RequestFailure('circuit_open', 'failed too often and is left alone for a while');
    const whole = linkAbort(signal);
    this.#running.add(whole);
    const work = this.#tryTwice(request, whole, take);
    const settled = work.then(
      () => {
        pass.succeeded();
      },
      (thrown: unknown) => {
        report(pass, thrown);
      },
    );
    this.#settling.add(settled);
    try {
      return await work;
    } finally {
      whole.dispose();
      this.#running.delete(whole);
      this.#settling.delete(settled);
    }
  }

  async #tryTwice<T>(request: HttpRequest, whole: LinkedAbort, take: (answer: ServiceAnswer) => Promise<T>): Promise<T> {
    const { clock, send, timeoutMs } = this.#options;
    const deadline = new Deadline(clock, timeoutMs, whole);
    let isPassedOn = false;
    const takeOne = (answer: HttpAnswer): Promise<T> => {
      if (!isGoodStatus(answer.status)) throw refusalOf(answer, clock);
      return take({
        ...answer,
        passedOn: () => {
          isPassedOn = true;
        },
        allow: (allowedMs) => {
          deadline.allow(allowedMs);
        },
      });
    };
    const tryOnce = (): Promise<T> => exchange({ clock, send, limits: this.#options }, request, whole.signal, takeOne);
    try {
      return await tryOnce().catch(async (thrown: unknown) => {
        const pauseMs = isPassedOn ? undefined : pauseBeforeRetry(thrown);
        if (pauseMs === undefined || pauseMs >= deadline.leftMs) throw thrown;
        if (!(await pause(pauseMs, clock, whole.signal))) throw thrown;
        this.#notify((observer) => observer.requestRetried?.());
        return tryOnce();
      });
    } catch (thrown) {
      if (!whole.signal.aborted) throw thrown;
      if (deadline.isOver) throw new RequestFailure('timeout', `took longer than ${String(deadline.limitMs)} ms`);
      throw new RequestFailure('cancelled', whole.signal.reason === 'shutdown' ? 'is closed' : 'was not waited for');
    } finally {
      deadline.cancel();
    }
  }

  #errorOf(thrown: unknown): AppError {
    const { name, code } = this.#options;
    if (!(thrown instanceof RequestFailure)) {
      // The message of a foreign error may quote the answer; ours never do.
      const why = thrown instanceof AppError ? thrown.message : thrown instanceof Error ? thrown.name : 'unknown';
      return new AppError(code, `${name} answered with something that cannot be used: ${why}`, { details: { outcome: 'bad_answer' } });
    }
    const status: Readonly<Record<string, number>> = thrown.status === undefined ? {} : { status: thrown.status };
    return new AppError(code, `${name} ${thrown.message}`, { details: { outcome: thrown.outcome, ...status } });
  }

  #notify(what: (observer: HttpServiceObserver) => void): void {
    const { observer } = this.#options;
    if (observer === undefined) return;
    try {
      what(observer);
    } catch {
      // A failing observer must not fail a request.
    }
  }
}

/** The time limit of one request, which the reader of the answer may extend. */
class Deadline {
  readonly #clock: Clock;
  readonly #whole: LinkedAbort;
  readonly #startedMs: number;
  #limitMs: number;
  #isOver = false;
  #cancelTimer: CancelTimer = () => undefined;

  constructor(clock: Clock, limitMs: number, whole: LinkedAbort) {
    this.#clock = clock;
    this.#whole = whole;
    this.#startedMs = clock.monotonicMs();
    this.#limitMs = limitMs;
    this.#arm();
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  get leftMs(): number {
    return this.#startedMs + this.#limitMs - this.#clock.monotonicMs();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  allow(limitMs: number): void {
    this.#limitMs = Math.max(this.#limitMs, limitMs);
  }

  cancel(): void {
    this.#cancelTimer();
  }

  #arm(): void {
    this.#cancelTimer = this.#clock.after(this.leftMs, () => {
      if (this.leftMs > 0) this.#arm();
      else {
        this.#isOver = !this.#whole.signal.aborted;
        this.#whole.abort('deadline');
      }
    });
  }
}

function report(pass: CircuitPass, thrown: unknown): void {
  const outcome = thrown instanceof RequestFailure ? thrown.outcome : 'bad_answer';
  if (outcome === 'cancelled') pass.abandoned();
  // A service that refuses a request is available.
  else if (outcome === 'client_error') pass.succeeded();
  else pass.failed();
}

/** How long to wait before the second try; undefined when there must be none. */
function pauseBeforeRetry(thrown: unknown): number | undefined {
  if (!(thrown instanceof RequestFailure)) return undefined;
  const { outcome, retryAfterMs = RETRY_MS } = thrown;
  const canHelp = outcome === 'unreachable' || outcome === 'rate_limited' || outcome === 'server_error';
  return canHelp && retryAfterMs <= MAX_RETRY_MS ? Math.max(retryAfterMs, RETRY_MS) : undefined;
}
