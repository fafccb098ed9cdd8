// Medians, percentiles and straight lines through measured values. Knows no unit.

/** The value that `part` (0 to 1) of the values do not exceed; NaN without values. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** As {@link percentile}, to the hundredth; 0 without values. */
export function percentileFigure(values: readonly number[], part: number): number {
  return values.length === 0 ? 0 : hundredths(percentile(values, part));
}

/** A value to the hundredth. */
export function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The middle value; the mean of both of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? (sorted[half] ?? Number.NaN) : ((sorted[half - 1] ?? Number.NaN) + (sorted[half] ?? Number.NaN)) / 2;
}

/** A value for people and for JSON: rounded, and null where there is none. */
export function rounded(value: number, digits = 2): number | null {
  return Number.isFinite(value) ? Number(value.toFixed(digits)) : null;
}

/** A straight line through points. */
export interface Trend {
  /** Change of y per unit of x. */
  readonly slope: number;
  /** Standard error of the slope. */
  readonly error: number;
}

/** Least squares; NaN with fewer than three points. */
export function trend(points: readonly { readonly x: number; readonly y: number }[]): Trend {
  const count = points.length;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const rest = points.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return count < 3 ? { slope: Number.NaN, error: Number.NaN } : { slope, error: Math.sqrt(rest / (count - 2) / spread) };
}
