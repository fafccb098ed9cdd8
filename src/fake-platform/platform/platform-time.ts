// The platform's wall clock. Durations use the monotonic clock instead.

/** The time as the platform sees it, which may be wrong on purpose; ms since the epoch. */
export type PlatformTime = () => number;

/** Ms since the epoch in ISO form with Z. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
