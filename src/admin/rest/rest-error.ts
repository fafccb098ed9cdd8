// The platform's refusals, and the error of a failed request. Of requests and responses, only scrubbed texts of the platform come in.
import { z } from 'zod';
import { AppError, type ErrorCode, type ErrorDetails } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import { RequestFailure, type RequestOutcome } from '../../base/http-exchange.ts';
import { scrub } from '../../base/scrub.ts';

/** Longest accepted pause, ms: a wrong header must not stop us for days. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** The content of a refusal besides its status. */
export interface PlatformWords {
  /** One line without secrets; undefined without a readable message. */
  readonly message: string | undefined;
  /** The id to quote to the platform's support. */
  readonly trackingId: string | undefined;
}

/** A response of the platform that is no success. */
export class Refusal extends RequestFailure {
  readonly words: PlatformWords;

  constructor({ outcome, message, status, retryAfterMs }: RequestFailure, words: PlatformWords) {
    super(outcome, message, { ...(status === undefined ? {} : { status }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
    this.words = words;
  }
}

/** The error of a failed request to the administration interface. Message and details may be logged. */
export class RestError extends AppError {
  readonly outcome: RequestOutcome;
  /** The status of the last response; undefined without one. */
  readonly status: number | undefined;
  readonly trackingId: string | undefined;
  /** The platform's own message; undefined without one. */
  readonly platformMessage: string | undefined;
  /** The pause that the platform requested, ms from the failure. */
  readonly retryAfterMs: number | undefined;
  /** Whether this or an earlier attempt may have had its effect: then read the current state before trying again. */
  readonly mayHaveHappened: boolean;

  /** @param request - the request in messages, such as `GET /things`, without query and secrets. */
  constructor(code: ErrorCode, request: string, failure: RequestFailure, words: PlatformWords, happened: boolean) {
    const { outcome, status, retryAfterMs } = failure;
    const { message, trackingId } = words;
    const details: ErrorDetails = {
      outcome,
      ...(status === undefined ? {} : { status }),
      ...(trackingId === undefined ? {} : { trackingId }),
      ...(message === undefined ? {} : { platformMessage: message }),
      ...(happened ? { mayHaveHappened: true } : {}),
    };
    const said = message === undefined ? '' : `: ${message}`;
    const quoted = trackingId === undefined ? '' : ` (tracking id ${trackingId})`;
    const doubt = happened ? '; it may have been done nevertheless' : '';
    super(code, `${request}: the platform ${failure.message}${said}${quoted}${doubt}`, { details });
    this.outcome = outcome;
    this.status = status;
    this.trackingId = trackingId;
    this.platformMessage = message;
    this.retryAfterMs = retryAfterMs;
    this.mayHaveHappened = happened;
  }
}

/**
 * The error code of a final failure.
 *
 * @param isAuthorized - whether a token was sent: then a 401 refuses the token.
 */
export function codeOf({ outcome, status }: RequestFailure, isAuthorized: boolean): ErrorCode {
  if (outcome === 'bad_answer') return 'platform_answer_invalid';
  if (status === 401 && isAuthorized) return 'authorization_needed';
  return outcome === 'client_error' && status !== 423 ? 'platform_refused' : 'platform_unavailable';
}

const text = z.string().min(1).optional().catch(undefined);
const errorBody = z.object({
  message: text,
  trackingId: text,
  errors: z
    .array(z.object({ description: text }))
    .max(20)
    .optional()
    .catch(undefined),
  error: text,
  error_description: text,
});

/**
 * Reads the message of a refusal in the platform's form (5.4) or in OAuth's.
 *
 * @param body - as received; undefined when it was incomplete.
 * @param header - the correlation id in the response's header.
 * @param secrets - values that we sent and that the message must not repeat.
 */
export function platformWords(body: string | undefined, header: string | null, secrets: readonly string[]): PlatformWords {
  const read = errorBody.safeParse(parseJson(body ?? '')).data;
  const described = (read?.errors ?? []).map(({ description }) => description);
  const lines = [read?.message, ...described, read?.error, read?.error_description].filter((line) => line !== undefined);
  const message = scrub([...new Set(lines)].join(' / '), secrets);
  return { message: message === '' ? undefined : message, trackingId: trackingIdOf(header ?? read?.trackingId, secrets) };
}

/** The id if it can be quoted; undefined when it has another form or repeats a secret. */
export function trackingIdOf(id: string | null | undefined, secrets: readonly string[]): string | undefined {
  return typeof id === 'string' && /^[\w.:/-]{1,128}$/u.test(id) && scrub(id, secrets) === id ? id : undefined;
}

/** The pause that the platform requested after this failure, ms; 0 when it requested none. */
export function retryAfterOf(failure: unknown): number {
  return failure instanceof RestError ? Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
}

/** Whether the platform refused because the resource does not exist or no longer exists (contract 5.4). */
export function isNotThere(thrown: unknown): thrown is AppError {
  if (!(thrown instanceof AppError) || thrown.code !== 'platform_refused') return false;
  const { status } = thrown.details;
  return status === 404 || status === 410;
}

/** Whether a failed request may have had its effect: then read the current state before trying again. */
export function mayHaveBeenDone(thrown: unknown): boolean {
  if (!(thrown instanceof AppError)) return true;
  // There was an invalid answer, so the request may have had its effect.
  return thrown.code === 'platform_answer_invalid' || thrown.details['mayHaveHappened'] === true;
}
