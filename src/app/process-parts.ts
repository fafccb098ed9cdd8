// What every part of a server process is created with, and what every line of its log says of it.
import type { Clock } from '../base/clock.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import { packageVersion } from '../base/package-root.ts';

export interface ProcessParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes what was opened, in reverse order. */
  readonly lifecycle: Lifecycle;
}

/** Number of characters of an instance id in log lines. */
const SHOWN_ID = 8;

/** A short form of the id of a process. */
export function shownId(instanceId: string): string {
  return instanceId.slice(0, SHOWN_ID);
}

/** The fields of every line of a process. @param instanceId - new for each start. */
export function processFields(instanceId: string): { readonly server: string; readonly version: string } {
  return { server: shownId(instanceId), version: packageVersion() };
}
