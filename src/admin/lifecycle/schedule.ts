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

/** Share of the lead time for spreading servers that started together. */
const JITTER_PART = 0.1;
/** Share of a pause between attempts for spreading them. */
const RETRY_JITTER_PART = 0.2;
/** Number of attempts before a token expires, whatever the platform asks for. */
const LAST_TRIES = 5;
/** Number of pauses in which a registration with a lost answer may appear. */
const REGISTRATION_PAUSES = 5;
/** Number of intervals without a successful check that raise an alarm. */
const ALARM_CHECKS = 3;

/**
 * When to renew, ms since the epoch. The lead time is at most half of the token's lifetime; a longer one would renew without
 * end.
 *
 * @param drawn - 0 to 1, drawn once per token.
 */
export function renewalDueMs(expiresAtMs: number, lifetimeMs: number, { leadMs }: LifecycleTimes, drawn: number): number {
  const lead = Math.min(leadMs, lifetimeMs / 2);
  return expiresAtMs - lead - lead * JITTER_PART * drawn;
}

/** When a missing renewal raises the alarm, ms since the epoch: half of the lead time is still left then. */
export function alarmDueMs(expiresAtMs: number, lifetimeMs: number, { leadMs }: LifecycleTimes): number {
  return expiresAtMs - Math.min(leadMs, lifetimeMs / 2) / 2;
}

/** Until when to wait for a registration before sending another one, ms since the epoch. */
export function registrationDueMs(sentMs: number, { retryMs }: LifecycleTimes): number {
  return sentMs + REGISTRATION_PAUSES * retryMs;
}

/** Whether another registration may be sent. A time of sending in the future comes from a wrong clock and does not count. */
export function isRegistrationDue(sentMs: number, nowMs: number, times: LifecycleTimes): boolean {
  return nowMs < sentMs || nowMs >= registrationDueMs(sentMs, times);
}

/** When failing checks raise the alarm, ms since the epoch. @param wellAtMs - end of the last successful one. */
export function checkAlarmDueMs(wellAtMs: number, { checkMs, retryMs }: LifecycleTimes): number {
  return wellAtMs + ALARM_CHECKS * Math.max(checkMs, retryMs);
}

/**
 * The pause after a failed attempt, ms. Respects the pause that the platform asked for, unless too few attempts would be left
 * before the token expires.
 *
 * @param drawn - 0 to 1.
 * @param bounds - `wantedMs`: the pause that was asked for; `leftMs`: the time until the token expires.
 */
export function retryPauseMs(
  { retryMs }: LifecycleTimes,
  drawn: number,
  { wantedMs, leftMs }: { readonly wantedMs: number; readonly leftMs: number },
): number {
  const ownMs = retryMs * (1 - RETRY_JITTER_PART + 2 * RETRY_JITTER_PART * drawn);
  return Math.max(ownMs, Math.min(wantedMs, leftMs - LAST_TRIES * retryMs));
}
