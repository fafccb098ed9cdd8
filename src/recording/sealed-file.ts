// The file format of a recording: sealed pieces one after the other, so that a file can be written while the call goes on and read up to
// the place where it was cut. A piece that was changed, left out or moved does not open. Knows nothing of calls.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
/** Begins every file; the byte after it says whether the file is sealed or open. */
const MAGIC = Buffer.from('PARLEY-CALL\x01');
const SALT_BYTES = 20;
/** Number of bytes before the first piece. */
const HEAD_BYTES = MAGIC.length + SALT_BYTES + 1;
/** A key that everybody knows: an open file has the same format as a sealed one. */
const OPEN_KEY = Buffer.alloc(KEY_BYTES);
/** Size of the last piece, bytes. Constant, so that the piece is found from the end of the file. */
const SUMMARY_BYTES = 512;
/** Size of the last piece as it is in the file, bytes. */
export const SEALED_SUMMARY_BYTES = LENGTH_BYTES + SUMMARY_BYTES + TAG_BYTES;
/** The first piece of a file lies within this many bytes. */
export const MAX_HEAD_BYTES = 65_536;

/** Kinds of pieces; the first byte of a piece. */
export const PIECE = { header: 0, events: 1, sound: 2, summary: 3 } as const;

/** A piece before it is sealed. */
export interface PlainPiece {
  readonly kind: number;
  /** Shares its memory with nothing: the thread that seals it takes it over. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** An opened piece. */
export interface Piece {
  readonly kind: number;
  readonly bytes: Buffer;
}

/** Keys that seal recordings, of 32 bytes: the first one seals, all of them open. */
export type RecordingKeys = readonly Buffer[];

/** Seals the pieces of one file, in their order. */
export class FileSealer {
  /** The bytes before the first piece. */
  readonly head: Buffer;
  readonly #key: Buffer;
  #pieces = 0;

  /** @param key - undefined: everybody can read the file. */
  constructor(key: Buffer | undefined) {
    this.head = Buffer.concat([MAGIC, Buffer.of(key === undefined ? 0 : 1), randomBytes(SALT_BYTES)]);
    this.#key = fileKey(key ?? OPEN_KEY, this.head);
  }

  /** Seals the next piece. @returns its bytes, in parts. */
  piece(kind: number, bytes: Uint8Array): readonly Buffer[] {
    return sealed(this.#key, nonceOf(this.#pieces++), kind, bytes);
  }

  /** Seals the last piece. @throws RangeError when it does not fit. */
  summary(summary: object): readonly Buffer[] {
    const json = Buffer.from(JSON.stringify({ ...summary, pieces: this.#pieces }));
    if (json.length >= SUMMARY_BYTES) throw new RangeError('the summary of a recording is too long');
    const bytes = Buffer.alloc(SUMMARY_BYTES - 1, ' ');
    json.copy(bytes);
    return sealed(this.#key, SUMMARY_NONCE, PIECE.summary, bytes);
  }
}

/** Opens the pieces of one file. */
export class FileOpener {
  /** Whether everybody can read this file. */
  readonly isOpen: boolean;
  readonly #keys: readonly Buffer[];
  #key: Buffer | undefined;

  /** @param start - the first bytes of the file. @throws AppError `recording_unreadable` when it is no recording. */
  constructor(start: Uint8Array, keys: RecordingKeys) {
    const head = Buffer.from(start.subarray(0, HEAD_BYTES));
    if (head.length < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC))
      throw unreadable('it has another form or is cut before its beginning');
    this.isOpen = head[MAGIC.length] === 0;
    this.#keys = (this.isOpen ? [OPEN_KEY] : keys).map((key) => fileKey(key, head));
  }

  /** The first piece. @throws AppError `recording_unreadable` when no key opens it. */
  first(start: Uint8Array): Piece {
    const at = pieceAt(start, HEAD_BYTES);
    if (at === undefined) throw unreadable('it is cut before its header ends');
    for (const key of this.#keys) {
      const piece = opened(key, nonceOf(0), at.sealed);
      if (piece === undefined) continue;
      this.#key = key;
      return piece;
    }
    throw unreadable('it was sealed with another key, or changed');
  }

  /**
   * All pieces, and the summary, which is undefined for a file that was cut.
   *
   * @throws AppError `recording_unreadable` when a piece was changed, left out, added or moved.
   */
  all(file: Uint8Array): { readonly pieces: readonly Piece[]; readonly summary: unknown } {
    const pieces = [this.first(file)];
    let offset = HEAD_BYTES;
    for (let at = pieceAt(file, offset); at !== undefined; at = pieceAt(file, offset)) {
      const isFirst = offset === HEAD_BYTES;
      offset = at.end;
      if (isFirst) continue;
      const piece = this.#opened(nonceOf(pieces.length), at.sealed);
      if (piece !== undefined) pieces.push(piece);
      else return { pieces, summary: this.#end(file, offset, pieces.length) };
    }
    return { pieces, summary: undefined };
  }

  /** The summary in the last bytes of a file; undefined when it has none. */
  summary(end: Uint8Array): unknown {
    const at = pieceAt(end, Math.max(0, end.length - SEALED_SUMMARY_BYTES));
    const piece = at === undefined ? undefined : this.#opened(SUMMARY_NONCE, at.sealed);
    return piece === undefined ? undefined : parseJson(piece.bytes);
  }

  #end(file: Uint8Array, end: number, count: number): unknown {
    const summary = end === file.length ? this.summary(file) : undefined;
    if (typeof summary === 'object' && summary !== null && Reflect.get(summary, 'pieces') === count) return summary;
    throw unreadable('a piece of it was changed, left out or moved');
  }

  #opened(nonce: Buffer, bytes: Buffer): Piece | undefined {
    return this.#key === undefined ? undefined : opened(this.#key, nonce, bytes);
  }
}

/** The error for a file that is no whole recording. @param why - completes the sentence. */
export function unreadable(why: string): AppError {
  return new AppError('recording_unreadable', `the recording cannot be read: ${why}`);
}

/** Every file has a key of its own, so that its nonces can be a counter. */
function fileKey(key: Buffer, head: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, head, 'parley-call', KEY_BYTES));
}

function nonceOf(piece: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(piece, NONCE_BYTES - 4);
  return nonce;
}
const SUMMARY_NONCE = Buffer.alloc(NONCE_BYTES, 0xff);

function sealed(key: Buffer, nonce: Buffer, kind: number, bytes: Uint8Array): readonly Buffer[] {
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(bytes.length + 1);
  return [length, cipher.update(Buffer.of(kind)), cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
}

function opened(key: Buffer, nonce: Buffer, bytes: Buffer): Piece | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  const textEnd = bytes.length - TAG_BYTES;
  decipher.setAuthTag(bytes.subarray(textEnd));
  try {
    const plain = Buffer.concat([decipher.update(bytes.subarray(0, textEnd)), decipher.final()]);
    return { kind: plain[0] ?? -1, bytes: plain.subarray(1) };
  } catch {
    return undefined;
  }
}

/** The whole piece whose first byte is at `offset`; undefined when there is none. */
function pieceAt(file: Uint8Array, offset: number): { readonly sealed: Buffer; readonly end: number } | undefined {
  const view = Buffer.from(file.buffer, file.byteOffset, file.length);
  if (offset + LENGTH_BYTES > view.length) return undefined;
  const start = offset + LENGTH_BYTES;
  const end = start + view.readUInt32BE(offset) + TAG_BYTES;
  return end > view.length ? undefined : { sealed: view.subarray(start, end), end };
}
