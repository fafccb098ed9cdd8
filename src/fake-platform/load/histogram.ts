// Times as a histogram with three significant digits that can be merged and serialized. Only this file uses the library.
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram as Recorded } from 'hdr-histogram-js';

/** The figures of a histogram; times are ms. All are 0 without values. */
export interface Percentiles {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

const MICROSECONDS = 1000;
/** Longest recorded time, ms; longer times count as this one. */
const LONGEST_MS = 3_600_000;
const LONGEST_COARSE_MS = 60_000;

// The JavaScript build: a load records about ten thousand values a second, which takes 0.3 % of a core. The WebAssembly build is faster,
// but its memory must be freed manually.
function emptyWith(numberOfSignificantValueDigits: 2 | 3, highestMs: number): Recorded {
  const highestTrackableValue = highestMs * MICROSECONDS;
  return build({ bitBucketSize: 32, lowestDiscernibleValue: 1, highestTrackableValue, numberOfSignificantValueDigits });
}

/** Times with three significant digits, or two if coarse; the finest step is a microsecond. */
export class Histogram {
  readonly #recorded: Recorded;
  readonly #longestMs: number;

  private constructor(recorded: Recorded, longestMs: number) {
    this.#recorded = recorded;
    this.#longestMs = longestMs;
  }

  static empty(): Histogram {
    return new Histogram(emptyWith(3, LONGEST_MS), LONGEST_MS);
  }

  /** Two digits and at most a minute: a worker can serialize it every second while it sends frames. */
  static coarse(): Histogram {
    return new Histogram(emptyWith(2, LONGEST_COARSE_MS), LONGEST_COARSE_MS);
  }

  /** Reads the text of {@link Histogram.encoded}. @throws RangeError for any other text. */
  static decoded(text: string): Histogram {
    try {
      const recorded = decodeFromCompressedBase64(text, 32, false);
      return new Histogram(recorded, recorded.highestTrackableValue / MICROSECONDS);
    } catch (cause) {
      throw new RangeError('a histogram cannot be read', { cause });
    }
  }

  /** Adds a time, ms; a negative one counts as 0. */
  record(ms: number): void {
    this.#recorded.recordValue(Math.round(Math.min(Math.max(ms, 0), this.#longestMs) * MICROSECONDS));
  }

  add(other: Histogram): void {
    this.#recorded.add(other.#recorded);
  }

  get count(): number {
    return this.#recorded.totalCount;
  }

  /** The percentile of the times, ms; 0 without values. @param percent - 0 to 100. */
  at(percent: number): number {
    return this.count === 0 ? 0 : this.#recorded.getValueAtPercentile(Math.min(100, Math.max(0, percent))) / MICROSECONDS;
  }

  get percentiles(): Percentiles {
    const { count } = this;
    return {
      count,
      mean: count === 0 ? 0 : this.#recorded.mean / MICROSECONDS,
      p50: this.at(50),
      p90: this.at(90),
      p99: this.at(99),
      p999: this.at(99.9),
      max: this.at(100),
    };
  }

  /**
   * The 95 % confidence interval of a percentile, ms, by the order statistics of independent values. Its upper end is Infinity when there
   * are too few values: a longer measurement could have shown anything.
   */
  range(percent: number): readonly [low: number, high: number] {
    const { count } = this;
    if (count === 0) return [0, Number.POSITIVE_INFINITY];
    const part = percent / 100;
    const spread = (1.96 * Math.sqrt(part * (1 - part) * count)) / count;
    return [this.at((part - spread) * 100), part + spread > 1 ? Number.POSITIVE_INFINITY : this.at((part + spread) * 100)];
  }

  /** The histogram as compressed text. */
  get encoded(): string {
    return encodeIntoCompressedBase64(this.#recorded);
  }
}
