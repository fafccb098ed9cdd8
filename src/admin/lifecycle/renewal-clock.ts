// The expiry of one data source's token, and the times that follow from it: when to renew, when to raise an alarm, and how long to pause.
// Only computes.
import type { Clock } from '../../base/clock.ts';
import type { AppError, ErrorCode } from '../../base/errors.ts';
import { retryAfterOf } from '../rest/rest-error.ts';
import { alarmDueMs, renewalDueMs, retryPauseMs, type LifecycleTimes } from './schedule.ts';

/** Errors that only people can fix: frequent attempts are useless as long as the token lasts. */
export const FOR_PEOPLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'authorization_needed',
  'config_invalid',
  'data_source_unclear',
  'login_needed',
  'org_not_registered',
]);

export interface RenewalClockOptions {
  readonly times: LifecycleTimes;
  /** The full lifetime of a token, ms. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
  /** Returns random numbers from 0 to 1. */
  readonly draw: () => number;
}

/** The times of the current token, and of later ones in turn. */
export class RenewalClock {
  readonly #options: RenewalClockOptions;
  #expiresAtMs: number | undefined;
  /** When to renew, ms since the epoch. */
  #dueMs = 0;
  #isAlarmed = false;

  constructor(options: RenewalClockOptions) {
    this.#options = options;
  }

  /** Expiry of the current token, ms since the epoch; undefined when unknown. */
  get expiresAtMs(): number | undefined {
    return this.#expiresAtMs;
  }

  /** Time until the current token expires, ms; Infinity when unknown. */
  get leftMs(): number {
    return (this.#expiresAtMs ?? Infinity) - this.#options.clock.nowMs();
  }

  /** Whether the token must be renewed (L-06, L-07). */
  get isDue(): boolean {
    return this.#expiresAtMs === undefined || this.#options.clock.nowMs() >= this.#dueMs;
  }

  /** Whether the alarm has been raised for the current token. */
  get isAlarmed(): boolean {
    return this.#isAlarmed;
  }

  /** Sets the expiry of the current token, ms since the epoch. */
  ends(expiresAtMs: number | undefined): void {
    const { times, lifetimeMs, draw } = this.#options;
    if (expiresAtMs === this.#expiresAtMs) return;
    this.#expiresAtMs = expiresAtMs;
    this.#dueMs = expiresAtMs === undefined ? 0 : renewalDueMs(expiresAtMs, lifetimeMs, times, draw());
    this.#isAlarmed = false;
  }

  /** Notes that a token was just issued. Without this, a platform clock hours behind ours would make every new token due at once. */
  renewed(): void {
    const { clock, times } = this.#options;
    this.#dueMs = Math.max(this.#dueMs, clock.nowMs() + times.retryMs);
  }

  /** @returns whether to raise the alarm now; true only once for each token. */
  alarm(): boolean {
    const { clock, times, lifetimeMs } = this.#options;
    if (this.#expiresAtMs === undefined || this.#isAlarmed) return false;
    this.#isAlarmed = clock.nowMs() >= alarmDueMs(this.#expiresAtMs, lifetimeMs, times);
    return this.#isAlarmed;
  }

  /** The pause after a successful step, ms. */
  get pauseMs(): number {
    const { times, clock } = this.#options;
    return Math.max(0, Math.min(times.checkMs, this.#dueMs - clock.nowMs()));
  }

  /** The pause after a failed step, ms. */
  retryPauseMs(error: AppError): number {
    const { times, draw } = this.#options;
    const wantedMs = Math.max(retryAfterOf(error), FOR_PEOPLE.has(error.code) ? this.#peopleMs : 0);
    return retryPauseMs(times, draw(), { wantedMs, leftMs: this.leftMs });
  }

  /** The pause when only people can fix an error, ms: until the renewal is due at most, because that may succeed. */
  get #peopleMs(): number {
    const { times, clock } = this.#options;
    const untilDueMs = this.#dueMs - clock.nowMs();
    return untilDueMs > 0 ? Math.min(times.checkMs, Math.max(times.retryMs, untilDueMs)) : times.checkMs;
  }
}
