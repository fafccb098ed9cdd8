// Limits failed sign-ins, and so their log lines: an address that failed often must wait. The secrets themselves are too long to be
// guessed.
import type { Clock } from '../base/clock.ts';

/** Failed attempts of one address within {@link WINDOW_MS} after which it must wait. */
export const MAX_FAILURES = 10;
/** The window, which is also the longest wait, ms. */
export const WINDOW_MS = 60_000;
/** Most remembered addresses; a further one displaces the one that was added first. */
const MAX_ADDRESSES = 1000;

/** One per server. */
export class FailedSignIns {
  readonly #clock: Clock;
  readonly #failed = new Map<string, { count: number; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether this address must wait. */
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
