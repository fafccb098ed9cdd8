// How RPCs and sockets that end with an error stand in the log and the metrics. Clients can cause them as fast as they like, so each
// kind gets one line a second, the rest is there at debug level only; strangers' refusals are never more than that, because
// the token check itself reports them. All are counted.
import type { Clock } from '../base/clock.ts';
import type { AppError, ErrorCode } from '../base/errors.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Logger } from '../base/log.ts';

/** What a line can be found by. */
export type WireIds = Readonly<Record<'trackingId', string> & Partial<Record<'conversationId', string | undefined>>>;

/** What can be said to be refused. A closed list: each text is a key of the pacer. */
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

/** What can be said to be ignored, likewise. */
export type IgnoredWhat = 'an envelope of an unknown type';

/** What keeps a server from having a session for a call: its caller hears a prompt and is transferred, instead of an error. */
const TURNED_AWAY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'overloaded',
  'shutting_down',
  'store_unavailable',
  'home_unreachable',
  'state_unreadable',
]);

/** Whether an error of `Sessions.acquire` is to be heard as a spoken line. */
export function endsInTransfer({ code }: AppError): boolean {
  return TURNED_AWAY.has(code);
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

  /** An RPC or a socket ends with this error. */
  count({ code }: AppError): void {
    this.#onRefused(code);
  }

  /** Writes of something that has no effect (W-17). */
  ignored(what: IgnoredWhat, ids: WireIds): void {
    const leftOut = this.#pacer.next(what);
    if (leftOut !== undefined) this.#log.warn({ leftOut, ...ids }, `${what} was ignored`);
  }

  /**
   * Writes of one refusal.
   *
   * @param what - begins the sentence.
   * @param isStranger - it needs no token, so anybody may have sent it.
   */
  write(what: RefusedWhat, error: AppError, ids: WireIds, isStranger = false): void {
    const fields = { code: error.code, ...error.details, ...ids };
    const text = `${what} was refused: ${error.message}`;
    const isQuiet = error.code !== 'internal' && (isStranger || error.code === 'unauthenticated');
    const leftOut = isQuiet ? undefined : this.#pacer.next(`${what} ${error.code}`);
    if (leftOut === undefined) this.#log.debug(fields, text);
    else if (error.code === 'internal') this.#log.error({ ...fields, leftOut, err: error }, text);
    else this.#log.warn({ ...fields, leftOut }, text);
  }
}
