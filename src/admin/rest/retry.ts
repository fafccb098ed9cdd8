// Decides whether a failed request may be sent again, and after which pause. Pure.
import type { HttpMethod, RequestFailure } from '../../base/http-exchange.ts';

export interface RetryLimits {
  /** Most attempts of one request. */
  readonly maxTries: number;
  /** Upper bound of the pause before the second attempt, ms; doubles with each further attempt. */
  readonly firstPauseMs: number;
  /** Upper bound of every pause that the platform did not request, ms. */
  readonly maxPauseMs: number;
  /** Longest requested pause that we wait, ms; for a longer one the request fails at once. */
  readonly maxRetryAfterMs: number;
}

export const RETRY_LIMITS: RetryLimits = { maxTries: 4, firstPauseMs: 500, maxPauseMs: 8000, maxRetryAfterMs: 30_000 };

/** Statuses with which the platform allows another attempt. */
const COME_BACK = new Set([423, 429, 503]);
/** Codes of errors without a connection, so that the request had no effect. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/**
 * Whether the platform may have done what was requested although no successful answer came. A server that requests a pause has done
 * nothing yet; a 503 without such a request may come from a proxy that lost the answer.
 */
export function mayHaveHappened({ outcome, status, systemCode, retryAfterMs }: RequestFailure): boolean {
  if (status !== undefined) return status >= 500 && !(status === 503 && retryAfterMs !== undefined);
  if (outcome === 'unreachable') return systemCode === undefined || !NEVER_SENT.has(systemCode);
  return outcome === 'timeout' || outcome === 'cancelled' || outcome === 'bad_answer';
}

/** Whether another attempt may succeed: not after a refusal, an invalid answer, or an abort. */
function mayPass({ outcome, status }: RequestFailure): boolean {
  if (status !== undefined) return status >= 500 || COME_BACK.has(status);
  return outcome === 'timeout' || outcome === 'unreachable';
}

/**
 * The pause before the next attempt, ms; undefined when there must be none. GET, PUT and DELETE may be sent again after any temporary
 * failure, POST only when it surely had no effect.
 *
 * @param tries - number of attempts so far.
 * @param random - returns a number from 0 up to but not including 1; randomizes the whole pause, so that many clients do not return
 * together.
 */
export function pauseBeforeRetry(
  failure: RequestFailure,
  { method, tries, limits, random }: { method: HttpMethod; tries: number; limits: RetryLimits; random: () => number },
): number | undefined {
  if (tries >= limits.maxTries || !mayPass(failure) || (method === 'POST' && mayHaveHappened(failure))) return undefined;
  const { retryAfterMs } = failure;
  if (retryAfterMs === undefined) return random() * Math.min(limits.maxPauseMs, limits.firstPauseMs * 2 ** (tries - 1));
  // Not before the requested time, and spread out after it.
  return retryAfterMs > limits.maxRetryAfterMs ? undefined : retryAfterMs + random() * limits.firstPauseMs;
}
