// Reacts when file descriptors run out: closes idle connections, and reports it in health checks and the log. At the start, warns when the
// settings may need more descriptors than the process has.
import { every, type CancelTimer, type Clock } from '../base/clock.ts';
import type { Descriptors } from '../base/descriptors.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Logger } from '../base/log.ts';
import type { Readiness } from '../ops/readiness.ts';
import type { Settings } from './config/settings.ts';

const PERIOD_MS = 1000;
/** Most connections of the operations server and the webhook endpoint. */
const OTHER_CONNECTIONS = 200;
/** The reason in the readiness answer. */
const DESCRIPTORS = 'descriptors';
const MEND = 'raise the limit (LimitNOFILE, ulimit -n)';

export interface DescriptorWatchOptions {
  readonly descriptors: Descriptors;
  readonly readiness: Pick<Readiness, 'hold'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Checks once a second and for each new connection. Call `close`. */
export class DescriptorWatch {
  readonly #options: DescriptorWatchOptions;
  readonly #pacer: LinePacer<'refused'>;
  readonly #cancel: CancelTimer;
  #release: (() => void) | undefined;

  constructor(options: DescriptorWatchOptions) {
    this.#options = options;
    this.#pacer = new LinePacer(options.clock);
    this.#cancel = every(options.clock, PERIOD_MS, () => {
      this.#check();
    });
  }

  /** Whether a new connection can stay open without another one being closed. */
  readonly mayTake = (): boolean => {
    const { descriptors, log } = this.#options;
    if (!descriptors.isShort) return true;
    this.#check();
    const leftOut = this.#pacer.next('refused');
    if (leftOut !== undefined)
      log.warn({ closed: leftOut + 1 }, 'connections were closed, those without a good token first: no file descriptors are left for them');
    return false;
  };

  close(): void {
    this.#cancel();
  }

  #check(): void {
    const { descriptors, readiness, log } = this.#options;
    const { limit, reserved } = descriptors;
    if (this.#release === undefined) {
      if (!descriptors.isShort) return;
      this.#release = readiness.hold(DESCRIPTORS);
      log.error(
        { event: 'descriptors_short', limit, used: descriptors.used, reserved },
        `file descriptors run out, connections are closed: ${MEND}`,
      );
    } else if (descriptors.isAmple) {
      this.#release();
      this.#release = undefined;
      log.info({ event: 'descriptors_there', limit, used: descriptors.counted }, 'there are file descriptors again');
    }
  }
}

/** The descriptors that the process may need with these settings, including those in use now. */
export function descriptorsNeeded({ used, reserved }: Descriptors, { grpc, websocket }: Settings): number {
  return used + reserved + OTHER_CONNECTIONS + grpc.maxConnections + (websocket.enabled ? websocket.maxConnections : 0);
}

/** Warns when the settings allow more connections than the process has descriptors. */
export function warnOfFewDescriptors(descriptors: Descriptors, settings: Settings, log: Logger): void {
  const needed = descriptorsNeeded(descriptors, settings);
  const { limit } = descriptors;
  if (limit === undefined || limit >= needed) return;
  log.warn(
    { event: 'descriptors_few', limit, needed },
    `the process may open fewer file descriptors than its settings need: ${MEND}, or lower grpc.max_connections or websocket.max_connections`,
  );
}
