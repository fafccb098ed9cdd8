// Writes refusals to the log without letting a flood of forged tokens become a flood of lines: each reason at most once
// a second, with the number of those left out. It is given the reason and never anything of the token.
import type { Clock } from '../base/clock.ts';
import { LinePacer } from '../base/line-pacer.ts';
import type { Logger } from '../base/log.ts';
import { REFUSAL_HINTS, type RefusalReason } from './refusal.ts';

/** One line per reason and second. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #pacer: LinePacer<RefusalReason>;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#pacer = new LinePacer(clock);
  }

  /** Notes a refusal. `defect` says where a `verifier_failed` came from. */
  note(reason: RefusalReason, defect?: string): void {
    const leftOut = this.#pacer.next(reason);
    if (leftOut === undefined) return;
    const fields = { reason, hint: REFUSAL_HINTS[reason], leftOut, defect };
    if (reason === 'verifier_failed') this.#log.error(fields, 'token refused');
    else this.#log.warn(fields, 'token refused');
  }
}
