// How a refused RPC stands in the log. Strangers can cause refusals as fast as they like, so theirs are written at debug
// level only; the token check itself reports them, a few lines a second at most.
import type { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

/** What a line can be found by. */
export interface WireIds {
  readonly trackingId?: string | undefined;
  readonly conversationId?: string | undefined;
}

/**
 * Writes one line.
 *
 * @param what - begins the sentence, for example "a stream".
 * @param isStranger - the RPC needs no token, so anybody may have sent it.
 */
export function logRefused(log: Logger, what: string, error: AppError, ids: WireIds, isStranger = false): void {
  const fields = { code: error.code, ...error.details, ...ids };
  if (error.code === 'internal') log.error({ ...fields, err: error }, `${what} failed`);
  else if (isStranger || error.code === 'unauthenticated') log.debug(fields, `${what} was refused: ${error.message}`);
  else log.warn(fields, `${what} was refused: ${error.message}`);
}
