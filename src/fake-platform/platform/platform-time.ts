// What time the platform believes it is. Durations are not its business: those are monotonic.

/** The platform's wall clock, which may be wrong on purpose; ms since the epoch. */
export type PlatformTime = () => number;

/** Ms since the epoch in ISO form with Z. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
