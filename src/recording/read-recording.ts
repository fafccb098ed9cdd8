// Reads a recording from its file.
import { parseJson } from '../base/json.ts';
import { EventReader } from './event-block.ts';
import { isRecordingHeader } from './recorded-shape.ts';
import type { Recording, RecordingHeader } from './recording.ts';
import { FileOpener, FileSealer, PIECE, unreadable, type Piece, type RecordingKeys } from './sealed-file.ts';

/** Ids of recordings. They begin with the time, so that names sort like calls. */
export const RECORDING_ID = /^\d{8}T\d{6}-[\da-f]{8}$/u;

/** What the summary at the end of a file says of the call. */
export interface RecordingSummary {
  readonly end: string;
  readonly durationMs: number;
  readonly turns: number;
}

/**
 * The recording in a file. A recording that was cut, because its process died or a limit was reached, has no `ended` event.
 *
 * @param keys - may be empty for a file that was exported open.
 * @throws AppError `recording_unreadable` for another key, a changed file, and everything else that cannot be read.
 */
export function readRecording(file: Uint8Array, keys: RecordingKeys): Recording {
  const opener = new FileOpener(file, keys);
  const { pieces } = opener.all(file);
  const [first, ...others] = pieces;
  const header = headerOf(first, opener.isOpen);
  const events = new EventReader(opener.isOpen);
  const botSound: Uint8Array[] = [];
  for (const { kind, bytes } of others) {
    if (kind === PIECE.events) events.read(bytes);
    else if (kind === PIECE.sound) botSound.push(bytes);
    else throw unreadable('a newer version has written it');
  }
  // A turn opens before its first event, but its opening is written together with that event.
  const inOrder = events.events.toSorted((a, b) => a.atMs - b.atMs);
  return { header, events: inOrder, callerSound: events.callerSound, botSound: Buffer.concat(botSound) };
}

/** The same recording in a file that everybody can read without a key. @throws as {@link readRecording}. */
export function unsealed(file: Uint8Array, keys: RecordingKeys): Uint8Array {
  const { pieces, summary } = new FileOpener(file, keys).all(file);
  const sealer = new FileSealer(undefined);
  const sealed = pieces.flatMap(({ kind, bytes }) => sealer.piece(kind, bytes));
  const end = typeof summary === 'object' && summary !== null ? sealer.summary(summary) : [];
  return Buffer.concat([sealer.head, ...sealed, ...end]);
}

/** Header and summary of a recording, from the first and the last bytes of its file. @throws as {@link readRecording}. */
export function headAndEnd(
  start: Uint8Array,
  end: Uint8Array,
  keys: RecordingKeys,
): { readonly header: RecordingHeader; readonly summary: RecordingSummary | undefined } {
  const opener = new FileOpener(start, keys);
  const header = headerOf(opener.first(start), opener.isOpen);
  // We have sealed this file, so the summary is trusted to have its type.
  return { header, summary: opener.summary(end) as RecordingSummary | undefined };
}

function headerOf(piece: Piece | undefined, isOpen: boolean): RecordingHeader {
  const header = piece?.kind === PIECE.header ? parseJson(piece.bytes) : undefined;
  if (typeof header !== 'object' || header === null || Reflect.get(header, 'form') !== 1)
    throw unreadable('a newer version has written it');
  if (isOpen && !isRecordingHeader(header)) throw unreadable('its header is no header of a recording');
  const id: unknown = Reflect.get(header, 'id');
  // Anybody may have made an open file.
  if (typeof id !== 'string' || !RECORDING_ID.test(id)) throw unreadable('its id is no id of a recording');
  // For any other file its maker had the key, and is trusted.
  return header as RecordingHeader;
}
