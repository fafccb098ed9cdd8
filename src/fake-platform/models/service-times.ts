// How long a fake service takes: log-normal times, as services have them, which a seed alone decides.
import { seededNumbers } from '../../base/seeded-numbers.ts';

/** The 95th percentile of the standard normal distribution. */
const Z_95 = 1.645;

/** Draws times in ms; undefined as what to draw is no time at all. */
export function serviceTimes(seed: number): (times: readonly [median: number, p95: number] | undefined) => number {
  const next = seededNumbers(seed);
  return (times) => {
    if (times === undefined) return 0;
    const [median, p95] = times;
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    return median * Math.exp((Math.log(p95 / median) / Z_95) * normal);
  };
}
