// When the platform wants to be asked again, for those who try again by themselves after a request has failed for good.
import { RestError } from './rest-error.ts';

/** Longest time that is believed, ms: a wrong header must not silence us for days. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** How long the platform wants to be left alone after this failure, ms; 0 when it did not say. */
export function retryAfterOf(failure: unknown): number {
  return failure instanceof RestError ? Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
}
