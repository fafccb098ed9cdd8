// Opens recordings for all commands, and logs who opened them, because a recording contains what a caller said.
import { userInfo } from 'node:os';
import { createLogger } from '../base/log.ts';
import type { CommandSurroundings } from '../base/terminal/surroundings.ts';
import { readRecording } from '../recording/read-recording.ts';
import type { Recording } from '../recording/recording.ts';
import type { RecordingKeys } from '../recording/sealed-file.ts';

/** Writes a line to standard error. */
export type Complain = CommandSurroundings['complain'];

/** @param purpose - why the recording is opened. @throws AppError `recording_unreadable`. */
export function openedRecording(file: Uint8Array, keys: RecordingKeys, purpose: string, complain: Complain): Recording {
  const recording = readRecording(file, keys);
  const { id, call } = recording.header;
  const { conversationId, organizationId } = call;
  audit({ event: 'recording_opened', purpose, recording: id, conversationId, organizationId }, complain);
  return recording;
}

/** Writes a line of the log that says who did what. */
export function audit(fields: Readonly<Record<string, string>>, complain: Complain): void {
  const write = (line: string): void => {
    complain(line.trimEnd());
  };
  createLogger({ level: 'info', destination: { write } }).info({ ...fields, user: userInfo().username }, 'a recording was used');
}
