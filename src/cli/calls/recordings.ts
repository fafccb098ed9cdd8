// What the commands of `parley calls` share: settings, opening the recording that the operand names, and output.
import type { Command } from 'commander';
import { sealKeys } from '../../app/changing-secrets.ts';
import { loadSections } from '../../app/config/load-settings.ts';
import { readBounded } from '../../base/terminal/surroundings.ts';
import { RECORDING_SUFFIX, RecordingFolder } from '../../recording/recording-folder.ts';
import type { Recording } from '../../recording/recording.ts';
import type { RecordingKeys } from '../../recording/sealed-file.ts';
import { openedRecording, type Complain } from '../opened-recording.ts';
import { acceptSettings, neededOperand, settingsArguments } from '../settings-arguments.ts';

/** The text for the operand of commands about one call. */
export const WHICH_CALL = 'id of a recording, conversation id of a call (its newest recording), or a file that ends in .parley-call';

/** Adds the options of every `parley calls` command. */
export function callsCommand(command: Command, example: string): Command {
  return acceptSettings(command).option('--json', 'print JSON').addHelpText('after', `\nExample:\n  $ parley calls ${example}`);
}

/** The configured folder of recordings, and the keys that open them. @throws AppError `config_invalid`. */
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
 * Opens the recording that the operand names, and logs who opened it.
 * @param purpose - why the recording is opened.
 * @throws AppError `recording_unreadable` or `config_invalid`; RangeError for a file that cannot be read.
 */
export async function openRecording(command: Command, purpose: string): Promise<Opened> {
  const which = neededOperand(command);
  const { folder, keys } = recordingsOf(command);
  const { bytes: file } = which.endsWith(RECORDING_SUFFIX) ? { bytes: await readBounded(which) } : await folder.file(which);
  const recording = openedRecording(file, keys, purpose, complainOf(command));
  return { id: recording.header.id, file, keys, recording };
}

/** Makes the function that writes a line to the command's standard error. */
export function complainOf(command: Command): Complain {
  return (line) => command.configureOutput().writeErr?.(`${line}\n`);
}

/** Prints a result: `data` as JSON with `--json`, otherwise the text. */
export function print(command: Command, data: unknown, text: string): void {
  const isJson = command.getOptionValue('json') === true;
  command.configureOutput().writeOut?.(isJson ? `${JSON.stringify(data, null, 2)}\n` : `${text.trimEnd()}\n`);
}
