// Delays of fake services: log-normal, like those of real services, and reproducible by their seed.
import { seededNumbers } from '../../base/seeded-numbers.ts';

/** The 95th percentile of the standard normal distribution. */
const Z_95 = 1.645;

/** Makes a function that draws delays, ms; it returns 0 for undefined. */
export function serviceTimes(seed: number): (times: readonly [median: number, p95: number] | undefined) => number {
  const next = seededNumbers(seed);
  return (times) => {
    if (times === undefined) return 0;
    const [median, p95] = times;
    const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    return median * Math.exp((Math.log(p95 / median) / Z_95) * normal);
  };
}
