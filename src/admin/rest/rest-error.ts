// What the platform says when it refuses, and the error that a failed request becomes. Texts of the platform enter here,
// scrubbed; nothing else of request or answer does.
import { z } from 'zod';
import { AppError, type ErrorCode, type ErrorDetails } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import { RequestFailure, type RequestOutcome } from '../../base/http-exchange.ts';
import { scrub } from '../../base/scrub.ts';

/** Longest wait that is believed, ms: a wrong header must not silence us for days. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** What the platform said beside the status. */
export interface PlatformWords {
  /** One line without secrets; undefined when it said nothing that can be read. */
  readonly message: string | undefined;
  /** To quote to its support. */
  readonly trackingId: string | undefined;
}

/** A request that the platform answered, but not as we wished. */
export class Refusal extends RequestFailure {
  readonly words: PlatformWords;

  constructor({ outcome, message, status, retryAfterMs }: RequestFailure, words: PlatformWords) {
    super(outcome, message, { ...(status === undefined ? {} : { status }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
    this.words = words;
  }
}

/** A request to the administration interface that failed. Its message and details may be logged. */
export class RestError extends AppError {
  readonly outcome: RequestOutcome;
  /** Of the last answer; undefined when none came. */
  readonly status: number | undefined;
  readonly trackingId: string | undefined;
  /** The platform's own words; undefined when it said nothing. */
  readonly platformMessage: string | undefined;
  /** When the platform wants to be asked again, ms from the failure. */
  readonly retryAfterMs: number | undefined;
  /** True when this try, or one before it, may have had its effect: read what is there before asking again. */
  readonly mayHaveHappened: boolean;

  /** @param request - what was asked, such as `GET /things`: without query and without secrets. */
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
 * The code of a failure that is final.
 *
 * @param isAuthorized - whether a token was sent, which can then be what the platform refuses.
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
 * What a refusal says: the platform's form (5.4), or that of OAuth.
 *
 * @param body - as it came; undefined when it could not be read whole.
 * @param header - the correlation id of the answer's header.
 * @param secrets - what we sent and the words may not repeat.
 */
export function platformWords(body: string | undefined, header: string | null, secrets: readonly string[]): PlatformWords {
  const read = errorBody.safeParse(parseJson(body ?? '')).data;
  const described = (read?.errors ?? []).map(({ description }) => description);
  const lines = [read?.message, ...described, read?.error, read?.error_description].filter((line) => line !== undefined);
  const message = scrub([...new Set(lines)].join(' / '), secrets);
  return { message: message === '' ? undefined : message, trackingId: trackingIdOf(header ?? read?.trackingId, secrets) };
}

/** An id that can be quoted; undefined for anything of another form, or that repeats a secret. */
export function trackingIdOf(id: string | null | undefined, secrets: readonly string[]): string | undefined {
  return typeof id === 'string' && /^[\w.:/-]{1,128}$/u.test(id) && scrub(id, secrets) === id ? id : undefined;
}

/** How long the platform wants to be left alone after this failure, ms; 0 when it did not say. */
export function retryAfterOf(failure: unknown): number {
  return failure instanceof RestError ? Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
}

/** Whether the platform refused because what was meant does not exist, or no longer (contract 5.4). */
export function isNotThere(thrown: unknown): thrown is AppError {
  if (!(thrown instanceof AppError) || thrown.code !== 'platform_refused') return false;
  const { status } = thrown.details;
  return status === 404 || status === 410;
}

/** Whether what failed may have had its effect all the same: read what is there before it is asked for again. */
export function mayHaveBeenDone(thrown: unknown): boolean {
  if (!(thrown instanceof AppError)) return true;
  // Answered, but not as it must be: something was done.
  return thrown.code === 'platform_answer_invalid' || thrown.details['mayHaveHappened'] === true;
}
