// Points in time as text.

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** An ISO time in whole seconds. @param atMs - ms since the epoch. */
export function isoTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

/** An expiry and the time until then: `2027-01-15T08:00:00Z (in 13 days)`. Both arguments are ms since the epoch. */
export function endText(endMs: number, nowMs: number): string {
  const awayMs = Math.abs(endMs - nowMs);
  const [name, ms] = UNITS.find(([, unitMs]) => awayMs >= unitMs) ?? UNITS[2];
  const count = Math.floor(awayMs / ms);
  const away = count === 0 ? 'less than a minute' : `${String(count)} ${name}${count === 1 ? '' : 's'}`;
  return `${isoTime(endMs)} (${endMs <= nowMs ? `${away} ago` : `in ${away}`})`;
}
