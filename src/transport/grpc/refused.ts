// How a refused RPC stands in the log. Strangers can cause refusals as fast as they like, so theirs are written at debug
// level only; the token check itself reports them, a few lines a second at most.
import type { AppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

/**
 * Writes one line.
 *
 * @param what - begins the sentence, for example "a stream".
 * @param isStranger - the RPC needs no token, so anybody may have sent it.
 */
export function logRefused(log: Logger, what: string, error: AppError, trackingId: string | undefined, isStranger = false): void {
  const fields = { code: error.code, ...error.details, ...(trackingId === undefined ? {} : { trackingId }) };
  if (error.code === 'internal') log.error({ ...fields, err: error }, `${what} failed`);
  else if (isStranger || error.code === 'unauthenticated') log.debug(fields, `${what} was refused: ${error.message}`);
  else log.warn(fields, `${what} was refused: ${error.message}`);
}
