// What every part of one server process is made with.
import type { Clock } from '../base/clock.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';

export interface ProcessParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes again what was opened, in reverse order. */
  readonly lifecycle: Lifecycle;
}
