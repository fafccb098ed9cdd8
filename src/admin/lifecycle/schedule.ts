// When a token is renewed and when somebody must be woken. Numbers in, numbers out.

/** The times of a lifecycle, all ms. */
export interface LifecycleTimes {
  /** How long before the end of a token the next one is fetched (L-07). */
  readonly leadMs: number;
  /** Between two tries that fail. */
  readonly retryMs: number;
  /** Between two looks at a data source that is well: somebody may have changed it (H-25). */
  readonly checkMs: number;
}

/** Part of the lead time by which servers that started together are spread. */
const JITTER_PART = 0.1;
/** Part of a pause between tries by which they are spread. */
const RETRY_JITTER_PART = 0.2;

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

/** The pause after a try that failed, ms. @param drawn - 0 to 1. */
export function retryPauseMs({ retryMs }: LifecycleTimes, drawn: number): number {
  return retryMs * (1 - RETRY_JITTER_PART + 2 * RETRY_JITTER_PART * drawn);
}
