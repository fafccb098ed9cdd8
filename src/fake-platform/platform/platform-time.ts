// The platform's wall clock. Durations are measured with the monotonic clock instead.

/** The time on the platform's clock, which tests can make wrong; ms since the epoch. */
export type PlatformTime = () => number;

/** A time in ms since the epoch, as ISO text with Z. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
