// What the commands of `parley calls` share: settings, the recording that is meant, output, and the audit of who opened it.
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { sealKeys } from '../../app/changing-secrets.ts';
import { loadSections } from '../../app/config/load-settings.ts';
import { createLogger } from '../../base/log.ts';
import { readBounded } from '../../base/terminal/surroundings.ts';
import { readRecording } from '../../recording/read-recording.ts';
import { RECORDING_SUFFIX, RecordingFolder } from '../../recording/recording-folder.ts';
import type { Recording } from '../../recording/recording.ts';
import type { RecordingKeys } from '../../recording/sealed-file.ts';
import { acceptSettings, neededOperand, settingsArguments } from '../settings-arguments.ts';

/** The operand of the commands for one call. */
export const WHICH_CALL = 'id of a recording, conversation id of a call (its newest recording), or a file that ends in .parley-call';

/** Adds what all of them take. */
export function callsCommand(command: Command, example: string): Command {
  return acceptSettings(command).option('--json', 'print JSON').addHelpText('after', `\nExample:\n  $ parley calls ${example}`);
}

/** The configured folder and its keys. @throws AppError `config_invalid`. */
export function recordingsOf(command: Command): { readonly folder: RecordingFolder; readonly path: string; readonly keys: RecordingKeys } {
  const { recordings } = loadSections({ argv: settingsArguments(command) }, 'recordings').settings;
  const keys = sealKeys(recordings.keys);
  return { folder: new RecordingFolder(recordings.folder, keys), path: recordings.folder, keys };
}

/** A recording that was opened. */
export interface Opened {
  readonly id: string;
  readonly file: Uint8Array;
  readonly keys: RecordingKeys;
  readonly recording: Recording;
}

/**
 * Opens the recording that the operand names, and notes who did.
 *
 * @param purpose - what for.
 * @throws AppError `recording_unreadable` or `config_invalid`; RangeError for a file that cannot be read.
 */
export async function openRecording(command: Command, purpose: string): Promise<Opened> {
  const which = neededOperand(command);
  const { folder, keys } = recordingsOf(command);
  const { bytes: file } = which.endsWith(RECORDING_SUFFIX) ? { bytes: await readBounded(which) } : await folder.file(which);
  const recording = readRecording(file, keys);
  const { id, call } = recording.header;
  audit(command, {
    event: 'recording_opened',
    purpose,
    recording: id,
    conversationId: call.conversationId,
    organizationId: call.organizationId,
  });
  return { id, file, keys, recording };
}

/** Writes who did what to standard error, as a line of the log. */
export function audit(command: Command, fields: Readonly<Record<string, string>>): void {
  const write = (text: string): void => {
    command.configureOutput().writeErr?.(text);
  };
  createLogger({ level: 'info', destination: { write } }).info({ ...fields, user: userInfo().username }, 'a recording was used');
}

/** Prints a result: `data` as JSON with `--json`, otherwise the text. */
export function print(command: Command, data: unknown, text: string): void {
  const isJson = command.getOptionValue('json') === true;
  command.configureOutput().writeOut?.(isJson ? `${JSON.stringify(data, null, 2)}\n` : `${text.trimEnd()}\n`);
}
