// Limits what failed attempts to come in cost and write down: an address that failed often is told to wait. The secrets are too long to be
// guessed.
import type { Clock } from '../base/clock.ts';

/** Failed attempts of one address within {@link WINDOW_MS} before it is told to wait. */
export const MAX_FAILURES = 10;
/** Also the longest wait, ms. */
export const WINDOW_MS = 60_000;
/** Most addresses that are remembered; one more forgets the one that failed first. */
const MAX_ADDRESSES = 1000;

/** One per server. */
export class FailedSignIns {
  readonly #clock: Clock;
  readonly #failed = new Map<string, { count: number; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a failure of this address is one too many. */
  isLimited(address: string): boolean {
    return (this.#recent(address)?.count ?? 0) >= MAX_FAILURES;
  }

  add(address: string): void {
    const recent = this.#recent(address);
    if (recent !== undefined) recent.count += 1;
    else this.#failed.set(address, { count: 1, untilMs: this.#clock.monotonicMs() + WINDOW_MS });
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > MAX_ADDRESSES && oldest !== undefined) this.#failed.delete(oldest);
  }

  #recent(address: string): { count: number } | undefined {
    const failed = this.#failed.get(address);
    if (failed === undefined || failed.untilMs > this.#clock.monotonicMs()) return failed;
    this.#failed.delete(address);
    return undefined;
  }
}
