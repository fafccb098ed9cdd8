// When a token is renewed and when an alarm is due. Pure numbers.

/** The times of a lifecycle, all ms. */
export interface LifecycleTimes {
  /** How long before a token's expiry the next one is obtained (L-07). */
  readonly leadMs: number;
  /** Pause between failed attempts. */
  readonly retryMs: number;
  /** Interval of checks of a healthy data source: somebody may have changed it (H-25). */
  readonly checkMs: number;
}

/** Random share of the lead time, so that servers that started together do not renew together. */
const JITTER_PART = 0.1;
/** Random share of a pause, so that servers do not retry together. */
const RETRY_JITTER_PART = 0.2;
/** Number of attempts that must remain before a token expires, even if the platform asks for a longer pause. */
const LAST_TRIES = 5;
/** Number of pauses to wait for a registration whose answer was lost. */
const REGISTRATION_PAUSES = 5;
/** Number of intervals without a successful check that raise an alarm. */
const ALARM_CHECKS = 3;

/**
 * When to renew, ms since the epoch. The lead time is at most half of the token's lifetime, so that a new token is not due at once.
 *
 * @param drawn - random number from 0 to 1, drawn once per token.
 */
export function renewalDueMs(expiresAtMs: number, lifetimeMs: number, { leadMs }: LifecycleTimes, drawn: number): number {
  const lead = Math.min(leadMs, lifetimeMs / 2);
  return expiresAtMs - lead - lead * JITTER_PART * drawn;
}

/** When a missing renewal raises the alarm, ms since the epoch: after half of the lead time. */
export function alarmDueMs(expiresAtMs: number, lifetimeMs: number, { leadMs }: LifecycleTimes): number {
  return expiresAtMs - Math.min(leadMs, lifetimeMs / 2) / 2;
}

/** Until when to wait for the record of a registration, before another registration is sent, ms since the epoch. */
export function registrationDueMs(sentMs: number, { retryMs }: LifecycleTimes): number {
  return sentMs + REGISTRATION_PAUSES * retryMs;
}

/** Whether another registration may be sent. A `sentMs` in the future comes from a wrong clock and is ignored. */
export function isRegistrationDue(sentMs: number, nowMs: number, times: LifecycleTimes): boolean {
  return nowMs < sentMs || nowMs >= registrationDueMs(sentMs, times);
}

/** When failing checks raise the alarm, ms since the epoch. @param wellAtMs - end of the last successful check. */
export function checkAlarmDueMs(wellAtMs: number, { checkMs, retryMs }: LifecycleTimes): number {
  return wellAtMs + ALARM_CHECKS * Math.max(checkMs, retryMs);
}

/**
 * The pause after a failed attempt, ms. Respects the pause that the platform asked for, unless too few attempts would remain before
 * the token expires.
 *
 * @param drawn - random number from 0 to 1.
 * @param bounds - `wantedMs`: the requested pause; `leftMs`: the time until the token expires.
 */
export function retryPauseMs(
  { retryMs }: LifecycleTimes,
  drawn: number,
  { wantedMs, leftMs }: { readonly wantedMs: number; readonly leftMs: number },
): number {
  const ownMs = retryMs * (1 - RETRY_JITTER_PART + 2 * RETRY_JITTER_PART * drawn);
  return Math.max(ownMs, Math.min(wantedMs, leftMs - LAST_TRIES * retryMs));
}
