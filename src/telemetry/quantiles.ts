// Estimates quantiles of a histogram.

/**
 * The value below which a share of the observations lies, by linear interpolation within its bucket. The last bucket has no upper
 * bound, so its lower bound is returned.
 *
 * @param part - the share, 0 to 1.
 * @param bounds - upper bounds, ascending, of all buckets but the last one.
 * @param counts - observations in each bucket; one more than there are bounds.
 * @returns undefined without observations.
 */
export function quantile(part: number, bounds: readonly number[], counts: readonly number[]): number | undefined {
  const wanted = part * counts.reduce((sum, count) => sum + count, 0);
  if (wanted === 0) return undefined;
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    const count = counts[index] ?? 0;
    const lower = bounds[index - 1] ?? 0;
    if (below + count >= wanted) return lower + ((bound - lower) * (wanted - below)) / count;
    below += count;
  }
  return bounds.at(-1);
}
