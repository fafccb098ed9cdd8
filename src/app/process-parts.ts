// The parts that every component of a server process gets, and the fields of every log line.
import type { Clock } from '../base/clock.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import { packageVersion } from '../base/package-root.ts';

export interface ProcessParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes in reverse order what was opened. */
  readonly lifecycle: Lifecycle;
}

/** Number of characters of an instance id in log lines. */
const SHOWN_ID = 8;

/** The short form of an instance id. */
export function shownId(instanceId: string): string {
  return instanceId.slice(0, SHOWN_ID);
}

/** The fields of every log line of a process. @param instanceId - new for each start. */
export function processFields(instanceId: string): { readonly server: string; readonly version: string } {
  return { server: shownId(instanceId), version: packageVersion() };
}
