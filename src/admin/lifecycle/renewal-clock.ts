// When the current token of one data source ends, and what follows from it: when it is renewed, when somebody is woken, and
// how long to pause. Counts time, does nothing.
import type { Clock } from '../../base/clock.ts';
import type { AppError, ErrorCode } from '../../base/errors.ts';
import { retryAfterOf } from '../rest/rest-error.ts';
import { alarmDueMs, renewalDueMs, retryPauseMs, type LifecycleTimes } from './schedule.ts';

/** What only people mend: asking again soon is of no use, while there is time. */
export const FOR_PEOPLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'authorization_needed',
  'config_invalid',
  'data_source_unclear',
  'login_needed',
  'org_not_registered',
]);

export interface RenewalClockOptions {
  readonly times: LifecycleTimes;
  /** Of a whole token, ms. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly draw: () => number;
}

/** The time of one token after the other. */
export class RenewalClock {
  readonly #options: RenewalClockOptions;
  #expiresAtMs: number | undefined;
  /** When to renew, ms since the epoch. */
  #dueMs = 0;
  #isAlarmed = false;

  constructor(options: RenewalClockOptions) {
    this.#options = options;
  }

  /** End of the current token, ms since the epoch; undefined when it is not known. */
  get expiresAtMs(): number | undefined {
    return this.#expiresAtMs;
  }

  /** Until the current token ends, ms; Infinity when that is not known. */
  get leftMs(): number {
    return (this.#expiresAtMs ?? Infinity) - this.#options.clock.nowMs();
  }

  /** It is time for another token (L-06, L-07). */
  get isDue(): boolean {
    return this.#expiresAtMs === undefined || this.#options.clock.nowMs() >= this.#dueMs;
  }

  /** Somebody has been woken for the current token. */
  get isAlarmed(): boolean {
    return this.#isAlarmed;
  }

  /** The current token ends then, ms since the epoch. */
  ends(expiresAtMs: number | undefined): void {
    const { times, lifetimeMs, draw } = this.#options;
    if (expiresAtMs === this.#expiresAtMs) return;
    this.#expiresAtMs = expiresAtMs;
    this.#dueMs = expiresAtMs === undefined ? 0 : renewalDueMs(expiresAtMs, lifetimeMs, times, draw());
    this.#isAlarmed = false;
  }

  /** A token has just been made. By a clock that is hours behind ours it is due at once, and the next one, and the next. */
  renewed(): void {
    const { clock, times } = this.#options;
    this.#dueMs = Math.max(this.#dueMs, clock.nowMs() + times.retryMs);
  }

  /** @returns whether somebody must be woken now; once for each token. */
  alarm(): boolean {
    const { clock, times, lifetimeMs } = this.#options;
    if (this.#expiresAtMs === undefined || this.#isAlarmed) return false;
    this.#isAlarmed = clock.nowMs() >= alarmDueMs(this.#expiresAtMs, lifetimeMs, times);
    return this.#isAlarmed;
  }

  /** The pause after a step that went well, ms. */
  get pauseMs(): number {
    const { times, clock } = this.#options;
    return Math.max(0, Math.min(times.checkMs, this.#dueMs - clock.nowMs()));
  }

  /** The pause after one that failed, ms. */
  retryPauseMs(error: AppError): number {
    const { times, draw } = this.#options;
    const wantedMs = Math.max(retryAfterOf(error), FOR_PEOPLE.has(error.code) ? this.#peopleMs : 0);
    return retryPauseMs(times, draw(), { wantedMs, leftMs: this.leftMs });
  }

  /** How long people get before the next check, ms: no longer than the token may wait for its renewal, which need not fail. */
  get #peopleMs(): number {
    const { times, clock } = this.#options;
    const untilDueMs = this.#dueMs - clock.nowMs();
    return untilDueMs > 0 ? Math.min(times.checkMs, Math.max(times.retryMs, untilDueMs)) : times.checkMs;
  }
}
