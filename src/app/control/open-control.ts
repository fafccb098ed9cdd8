// Opens the control socket of a server.
import { openControlSocket, type ControlSocket } from '../../ops/control-socket.ts';
import type { Settings } from '../config/settings.ts';
import type { ProcessParts } from '../process-parts.ts';
import { commandIn } from './commands.ts';
import type { ProcessControl } from './process-control.ts';

/** Opens the control socket if the settings name one. @throws AppError `listen_failed`. */
export async function openControl(
  { control: { socket } }: Pick<Settings, 'control'>,
  control: ProcessControl | undefined,
  { clock, log }: Pick<ProcessParts, 'clock' | 'log'>,
): Promise<ControlSocket | undefined> {
  if (socket === undefined || control === undefined) return undefined;
  return openControlSocket({ path: socket, log, run: (sent) => control.everywhere(commandIn(sent, clock.nowMs())) });
}
