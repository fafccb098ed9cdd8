// This process as its operator knows it, whether it serves calls or starts workers: id, log and control.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import type { LogFields, Logger, ProcessLogger } from '../../base/log.ts';
import type { LoadedSettings } from '../config/load-settings.ts';
import { serverLogger } from '../development.ts';
import { processFields } from '../process-parts.ts';
import { ProcessControl } from './process-control.ts';

export interface OwnProcess {
  /** New for each start of the process. */
  readonly instanceId: string;
  /** Every line contains the fields of this process. */
  readonly log: Logger;
  readonly control: ProcessControl;
  /** Whether the process takes no new calls until it is undrained. */
  readonly startsDrained: boolean;
}

export interface OwnProcessOptions {
  /** Further fields of every log line. */
  readonly fields?: LogFields;
  /** Default: the logger of a server with these settings. */
  readonly root?: ProcessLogger;
  /** Default false. */
  readonly startsDrained?: boolean;
}

/**
 * Creates the description of this process. Call it once.
 *
 * @param name - `server`, `primary` or `worker N`.
 * @param load - reads the configuration again; throws AppError `config_invalid`.
 */
export function ownProcess(
  name: string,
  loaded: LoadedSettings,
  load: () => LoadedSettings,
  { fields = {}, root = serverLogger(loaded.settings), startsDrained = false }: OwnProcessOptions = {},
): OwnProcess {
  const instanceId = randomUUID();
  const log = root.child({ ...fields, ...processFields(instanceId) });
  return { instanceId, log, startsDrained, control: new ProcessControl({ name, instanceId, loaded, load, root, log, clock: systemClock }) };
}
