// What every part of a server process is created with.
import type { Clock } from '../base/clock.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';

export interface ProcessParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes what was opened, in reverse order. */
  readonly lifecycle: Lifecycle;
}
