// Writes refusals to the log without letting a flood of forged tokens become a flood of lines: each reason at most once
// a second, with the number of those left out. It is given the reason and never anything of the token.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { REFUSAL_HINTS, type RefusalReason } from './refusal.ts';

/** Shortest time between two lines with the same reason. */
const PAUSE_MS = 1000;

/** One line per reason and second. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  // Bounded by the closed list of reasons.
  readonly #seen = new Map<RefusalReason, { writtenAtMs: number; leftOut: number }>();

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes a refusal. `defect` says where a `verifier_failed` came from. */
  note(reason: RefusalReason, defect?: string): void {
    const nowMs = this.#clock.monotonicMs();
    const seen = this.#seen.get(reason);
    if (seen !== undefined && nowMs - seen.writtenAtMs < PAUSE_MS) {
      seen.leftOut += 1;
      return;
    }
    this.#seen.set(reason, { writtenAtMs: nowMs, leftOut: 0 });
    const fields = { reason, hint: REFUSAL_HINTS[reason], leftOut: seen?.leftOut ?? 0, ...(defect === undefined ? {} : { defect }) };
    if (reason === 'verifier_failed') this.#log.error(fields, 'token refused');
    else this.#log.warn(fields, 'token refused');
  }
}
