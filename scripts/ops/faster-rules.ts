// The rules for Prometheus with all of their times divided, so that what takes an hour takes a minute. Shares and latencies stay.

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @param text - of a rule file. Its windows, its `for` and its thresholds in minutes and days are divided by `times`. */
export function fasterRules(text: string, times: number): string {
  const duration = (amount: string, unit: string): string => `${String((Number(amount) * (UNIT_MS[unit] ?? Number.NaN)) / times)}ms`;
  return text
    .replaceAll(/\[(\d+)([smhd])\]/gu, (_window, amount: string, unit: string) => `[${duration(amount, unit)}]`)
    .replaceAll(/^( +for: )(\d+)([smhd])$/gmu, (_line, key: string, amount: string, unit: string) => key + duration(amount, unit))
    .replaceAll(/\b\d+ \* (?:60|86400)\b/gu, (seconds) => `${seconds} / ${String(times)}`);
}
