// A process that serves calls, or starts those that do, as its operator knows it: its id, its log, and how it is controlled.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import type { LogFields, Logger, ProcessLogger } from '../../base/log.ts';
import type { LoadedSettings } from '../config/load-settings.ts';
import { serverLogger } from '../development.ts';
import { processFields } from '../process-parts.ts';
import { ProcessControl } from './process-control.ts';

export interface OwnProcess {
  /** New for each start. */
  readonly instanceId: string;
  /** Every line says which process writes it. */
  readonly log: Logger;
  readonly control: ProcessControl;
  /** It takes no new calls until it is undrained. */
  readonly startsDrained: boolean;
}

export interface OwnProcessOptions {
  /** More fields for its log. */
  readonly fields?: LogFields;
  /** Default: the log of a server with these settings. */
  readonly root?: ProcessLogger;
  /** Default false. */
  readonly startsDrained?: boolean;
}

/**
 * This process. Call it once.
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
