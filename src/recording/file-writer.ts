// Seals pieces and appends them to their files. Synchronous, for a thread of its own: asynchronous calls cost ten times the processor time
// of a write.
import { closeSync, constants, mkdirSync, openSync, rmSync, writevSync } from 'node:fs';
import { dirname } from 'node:path';
import { FileSealer, type PlainPiece } from './sealed-file.ts';

/** What is appended to one file. */
export interface Appended {
  readonly path: string;
  readonly pieces: readonly PlainPiece[];
  /** The file is new; its folder is created if needed. */
  readonly isFirst: boolean;
  /** Nothing more is appended. */
  readonly isLast: boolean;
  /** Written behind the last piece; undefined for a recording that is cut. */
  readonly summary?: object | undefined;
}

/** Why something could not be written: a code of the system such as `ENOSPC`, or `ERR_…` for a defect of ours. Undefined: it was written. */
export type WriteFailure = string | undefined;

/** Writes batches, one at a time. */
export interface RecordingWriter {
  /** Takes the memory of the pieces. @returns an outcome for each member of the batch. Never rejects. */
  write(batch: readonly Appended[]): Promise<readonly WriteFailure[]>;
  /** Call it when the last batch is written. */
  close(): Promise<void>;
}

/** The files of one folder. */
export class FileWriter {
  readonly #key: Buffer;
  /** Of the files that are not finished, by path. */
  readonly #sealers = new Map<string, FileSealer>();

  /** @param key - seals the files; 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** A file that was deleted meanwhile is not created again (`ENOENT`), and one that failed takes nothing more. */
  append(appended: Appended): WriteFailure {
    const { path, isFirst, isLast } = appended;
    if (isFirst) this.#sealers.set(path, new FileSealer(this.#key));
    const sealer = this.#sealers.get(path);
    try {
      if (sealer !== undefined) appendTo(path, sealedParts(sealer, appended), isFirst);
      if (isLast) this.#sealers.delete(path);
      return sealer === undefined ? 'ERR_UNKNOWN_FILE' : undefined;
    } catch (thrown) {
      this.#sealers.delete(path);
      return thrown instanceof Error ? String(Reflect.get(thrown, 'code') ?? thrown.name) : 'unknown';
    }
  }
}

/** The bytes that belong into the file, in parts. */
export function sealedParts(sealer: FileSealer, { pieces, isFirst, summary }: Appended): readonly Uint8Array[] {
  return [
    ...(isFirst ? [sealer.head] : []),
    ...pieces.flatMap(({ kind, bytes }) => sealer.piece(kind, bytes)),
    ...(summary === undefined ? [] : sealer.summary(summary)),
  ];
}

function appendTo(path: string, parts: readonly Uint8Array[], isNew: boolean): void {
  if (parts.length === 0) return;
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
  if (isNew) mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, O_WRONLY | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0), 0o600);
  try {
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    if (writevSync(file, parts) < bytes) throw Object.assign(new Error('the disk took only a part'), { code: 'ENOSPC' });
  } catch (thrown) {
    // A file without its header is no recording.
    if (isNew) rmSync(path, { force: true });
    throw thrown;
  } finally {
    closeSync(file);
  }
}
