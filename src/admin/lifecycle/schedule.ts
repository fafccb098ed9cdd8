// When a token is renewed and when somebody must be woken. Numbers in, numbers out.

/** The times of a lifecycle, all ms. */
export interface LifecycleTimes {
  /** How long before the end of a token the next one is fetched (L-07). */
  readonly leadMs: number;
  /** Between two tries that fail. */
  readonly retryMs: number;
  /** Between two checks of a data source that is well: somebody may have changed it (H-25). */
  readonly checkMs: number;
}

/** Part of the lead time by which servers that started together are spread. */
const JITTER_PART = 0.1;
/** Part of a pause between tries by which they are spread. */
const RETRY_JITTER_PART = 0.2;
/** So many tries are made before a token ends, whatever the platform wants. */
const LAST_TRIES = 5;
/** So many pauses between tries a registration whose answer was lost may take to turn up. */
const REGISTRATION_PAUSES = 5;
/** So many intervals without a check that went well are an alarm. */
const ALARM_CHECKS = 3;

/**
 * When to renew, ms since the epoch. A lead time that is longer than half of the token's life would renew without end; then
 * half of the life it is.
 *
 * @param drawn - 0 to 1, drawn once per token.
 */
export function renewalDueMs(expiresAtMs: number, lifetimeMs: number, { leadMs }: LifecycleTimes, drawn: number): number {
  const lead = Math.min(leadMs, lifetimeMs / 2);
  return expiresAtMs - lead - lead * JITTER_PART * drawn;
}

/** When a renewal that has not come is an alarm, ms since the epoch: half of the lead time is still left then. */
export function alarmDueMs(expiresAtMs: number, lifetimeMs: number, { leadMs }: LifecycleTimes): number {
  return expiresAtMs - Math.min(leadMs, lifetimeMs / 2) / 2;
}

/** Until when a registration that was sent then is waited for before another one is sent, ms since the epoch. */
export function registrationDueMs(sentMs: number, { retryMs }: LifecycleTimes): number {
  return sentMs + REGISTRATION_PAUSES * retryMs;
}

/** Whether another registration may be sent. One that was sent in the future was sent by a wrong clock, nobody knows when. */
export function isRegistrationDue(sentMs: number, nowMs: number, times: LifecycleTimes): boolean {
  return nowMs < sentMs || nowMs >= registrationDueMs(sentMs, times);
}

/** When checks that do not succeed are an alarm, ms since the epoch. @param wellAtMs - end of the last one that did. */
export function checkAlarmDueMs(wellAtMs: number, { checkMs, retryMs }: LifecycleTimes): number {
  return wellAtMs + ALARM_CHECKS * Math.max(checkMs, retryMs);
}

/**
 * The pause after a try that failed, ms. Not before the time that is wanted, such as the platform named, unless too few
 * tries were left then before the token ends.
 *
 * @param drawn - 0 to 1.
 * @param bounds - `wantedMs`: how long nobody should ask; `leftMs`: until the token ends.
 */
export function retryPauseMs(
  { retryMs }: LifecycleTimes,
  drawn: number,
  { wantedMs, leftMs }: { readonly wantedMs: number; readonly leftMs: number },
): number {
  const ownMs = retryMs * (1 - RETRY_JITTER_PART + 2 * RETRY_JITTER_PART * drawn);
  return Math.max(ownMs, Math.min(wantedMs, leftMs - LAST_TRIES * retryMs));
}
