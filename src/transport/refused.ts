// Logs and counts RPCs and sockets that end with an error. Clients can cause such ends at any rate, so each kind is logged
// once a second, and the rest only at debug level. Refusals of clients without a good token are logged only at debug level,
// because the token check reports bad tokens.
import type { Clock } from '../base/clock.ts';
import type { AppError, ErrorCode } from '../base/errors.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Logger } from '../base/log.ts';

/** Ids in a log line. */
export type WireIds = Readonly<Record<'trackingId', string> & Partial<Record<'conversationId', string | undefined>>>;

/** What was refused. A closed list: each text is a key of the pacer. */
export type RefusedWhat =
  | 'a stream'
  | 'a list request'
  | 'a health check'
  | 'a health watch'
  | 'a reflection request'
  | 'an upgrade'
  | 'a socket'
  | 'a list socket'
  | 'a new call, with a spoken line,';

/** What was ignored; also a closed list. */
export type IgnoredWhat = 'an envelope of an unknown type';

/** Errors that leave a call without a session: in place of an error, the caller hears a prompt and is transferred. */
const SPOKEN_REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'overloaded',
  'shutting_down',
  'store_unavailable',
  'home_unreachable',
  'state_unreadable',
]);

/** Whether an error of `Sessions.acquire` is answered with a spoken line and a transfer. */
export function endsInTransfer({ code }: AppError): boolean {
  return SPOKEN_REFUSALS.has(code);
}

/** One per server. */
export class Refusals {
  readonly #log: Logger;
  readonly #pacer: LinePacer<`${RefusedWhat} ${ErrorCode}` | IgnoredWhat>;
  readonly #onRefused: (code: ErrorCode) => void;

  /** @param onRefused - counts an RPC or a socket that ended with an error. */
  constructor(log: Logger, clock: Clock, onRefused: (code: ErrorCode) => void) {
    this.#log = log;
    this.#pacer = new LinePacer(clock);
    this.#onRefused = onRefused;
  }

  /** Counts an RPC or a socket that ends with this error. */
  count({ code }: AppError): void {
    this.#onRefused(code);
  }

  /** Logs something ignored (W-17). */
  ignored(what: IgnoredWhat, ids: WireIds): void {
    const leftOut = this.#pacer.next(what);
    if (leftOut !== undefined) this.#log.warn({ leftOut, ...ids }, `${what} was ignored`);
  }

  /**
   * Logs one refusal.
   *
   * @param what - the beginning of the message.
   * @param isUnauthenticated - no token was needed, so any client may have caused the refusal.
   */
  write(what: RefusedWhat, error: AppError, ids: WireIds, isUnauthenticated = false): void {
    const fields = { code: error.code, ...error.details, ...ids };
    const text = `${what} was refused: ${error.message}`;
    const isQuiet = error.code !== 'internal' && (isUnauthenticated || error.code === 'unauthenticated');
    const leftOut = isQuiet ? undefined : this.#pacer.next(`${what} ${error.code}`);
    if (leftOut === undefined) this.#log.debug(fields, text);
    else if (error.code === 'internal') this.#log.error({ ...fields, leftOut, err: error }, text);
    else this.#log.warn({ ...fields, leftOut }, text);
  }
}
