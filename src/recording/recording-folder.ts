// The folder of recordings: lists, reads and deletes them, and keeps within the operator's limits. Several processes may use it at once.
import { lstat, open, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { headAndEnd, readRecording, RECORDING_ID, type RecordingSummary } from './read-recording.ts';
import type { Recording, RecordingHeader } from './recording.ts';
import { MAX_HEAD_BYTES, SEALED_SUMMARY_BYTES, unreadable, type RecordingKeys } from './sealed-file.ts';

export const RECORDING_SUFFIX = '.parley-call';
const DAY_MS = 86_400_000;
/** Largest assumed difference between the clocks of two servers, ms. */
const CLOCKS_APART_MS = 60_000;
/** Number of recordings that are examined at once. */
const AT_ONCE = 8;

/** How many recordings are kept; the oldest is deleted first. 0: no limit. */
export interface Keeping {
  readonly maxCalls: number;
  readonly maxBytes: number;
  readonly maxAgeDays: number;
}

/** One recording of the folder. */
export interface KeptRecording {
  readonly id: string;
  readonly bytes: number;
  /** Undefined when the recording cannot be read with these keys. */
  readonly header: RecordingHeader | undefined;
  /** Undefined while the call goes on, and when the recording was cut. */
  readonly summary: RecordingSummary | undefined;
}

/** Facts of a call whose recording is wanted. */
export interface KnownCall {
  readonly organizationId: string;
  /** ms since the epoch. */
  readonly startedAtMs: number;
  readonly durationMs: number;
}

/** A folder of recordings. A folder that does not exist is empty. */
export class RecordingFolder {
  readonly #folder: string;
  readonly #keys: RecordingKeys;

  /** @param folder - absolute path. */
  constructor(folder: string, keys: RecordingKeys) {
    this.#folder = folder;
    this.#keys = keys;
  }

  /** All recordings, the newest first. @throws the error of the file system. */
  async list(): Promise<readonly KeptRecording[]> {
    const names = (await this.#names()).toReversed();
    const kept: KeptRecording[] = [];
    for (let at = 0; at < names.length; at += AT_ONCE) {
      const some = await Promise.all(names.slice(at, at + AT_ONCE).map((name) => this.#examined(name)));
      kept.push(...some.filter((recording) => recording !== undefined));
    }
    return kept;
  }

  /**
   * The file of a recording.
   *
   * @param id - of the recording, or the conversation id of the call: then the newest recording of that call is meant.
   * @param known - facts of the call when `id` is its conversation id: then no other call is found.
   * @throws AppError `recording_unreadable` when there is none, or when calls of several organizations have this conversation id.
   */
  async file(id: string, known?: KnownCall): Promise<{ readonly id: string; readonly bytes: Buffer }> {
    const found = await this.find(id, known);
    return { id: found, bytes: await readFile(this.#path(found)) };
  }

  /** The recording, read: see {@link RecordingFolder.file}. @throws AppError `recording_unreadable`. */
  async read(id: string, known?: KnownCall): Promise<Recording> {
    return readRecording((await this.file(id, known)).bytes, this.#keys);
  }

  /** Deletes a recording. @throws AppError `recording_unreadable` when there is none. @returns its id. */
  async delete(id: string): Promise<string> {
    const found = await this.find(id);
    await unlink(this.#path(found));
    return found;
  }

  /** The id of the recording that `id` names: see {@link RecordingFolder.file}. */
  async find(id: string, known?: KnownCall): Promise<string> {
    const names = await this.#names();
    if (known === undefined && names.includes(id + RECORDING_SUFFIX)) return id;
    /** The newest recording of each organization. */
    const found = new Map<string, string>();
    for (const name of names.toReversed()) {
      if (known !== undefined && !isWithin(name, known)) continue;
      const kept = await this.#examined(name);
      const { conversationId, organizationId = '' } = kept?.header?.call ?? {};
      if (kept === undefined || conversationId !== id || found.has(organizationId)) continue;
      if (organizationId === known?.organizationId) return kept.id;
      if (known === undefined) found.set(organizationId, kept.id);
    }
    const [newest, ...others] = found.values();
    if (newest === undefined) throw unreadable('the folder has none with this id');
    if (others.length > 0) throw unreadable(`several organizations have calls with this id: name one of ${[newest, ...others].join(', ')}`);
    return newest;
  }

  /**
   * Deletes the oldest recordings beyond the limits.
   *
   * @param open - returns the ids of recordings that are being written; they stay.
   * @throws the error of the file system.
   */
  async tidy({ maxCalls, maxBytes, maxAgeDays }: Keeping, nowMs: number, open: () => readonly string[] = () => []): Promise<void> {
    const names = await this.#names();
    // Behind the names: a call that begins while the folder is read is open before its file is there.
    const spared = new Set(open().map((id) => id + RECORDING_SUFFIX));
    let [calls, bytes] = [0, 0];
    for (const name of names.toReversed()) {
      const stat = await lstat(join(this.#folder, name)).catch(() => undefined);
      if (stat === undefined) continue;
      const isBeyond =
        (maxCalls > 0 && calls >= maxCalls) ||
        (maxBytes > 0 && bytes + stat.size > maxBytes) ||
        (maxAgeDays > 0 && nowMs - stat.mtimeMs > maxAgeDays * DAY_MS);
      if (isBeyond && !spared.has(name)) await unlink(join(this.#folder, name)).catch(ifPresent);
      else [calls, bytes] = [calls + 1, bytes + stat.size];
    }
  }

  #path(id: string): string {
    return join(this.#folder, id + RECORDING_SUFFIX);
  }

  /** File names of recordings, the oldest first; everything else in the folder is ignored. */
  async #names(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((thrown: unknown) => {
      ifPresent(thrown);
      return [];
    });
    return names.filter((name) => name.endsWith(RECORDING_SUFFIX) && RECORDING_ID.test(idOf(name))).sort();
  }

  async #examined(name: string): Promise<KeptRecording | undefined> {
    const id = idOf(name);
    const file = await open(this.#path(id)).catch(() => undefined);
    // Deleted meanwhile.
    if (file === undefined) return undefined;
    try {
      const { size: bytes } = await file.stat();
      const start = Buffer.alloc(Math.min(bytes, MAX_HEAD_BYTES));
      const end = Buffer.alloc(Math.min(bytes, SEALED_SUMMARY_BYTES));
      await file.read(start, 0, start.length, 0);
      await file.read(end, 0, end.length, bytes - end.length);
      try {
        return { id, bytes, ...headAndEnd(start, end, this.#keys) };
      } catch {
        return { id, bytes, header: undefined, summary: undefined };
      }
    } finally {
      await file.close();
    }
  }
}

function idOf(name: string): string {
  return name.slice(0, -RECORDING_SUFFIX.length);
}

/** The beginning of the id of a recording that begins at this time, ms since the epoch: names sort like calls. */
export function idTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/[-:]|\.\d+Z$/gu, '');
}

/** Whether a recording began during the call. A call that moved has one recording per server. */
function isWithin(name: string, { startedAtMs, durationMs }: KnownCall): boolean {
  const [began] = name.split('-', 1);
  const from = idTime(startedAtMs - CLOCKS_APART_MS);
  return began !== undefined && began >= from && began <= idTime(startedAtMs + durationMs + CLOCKS_APART_MS);
}

/** Another process may have deleted it first. @throws any other error. */
function ifPresent(thrown: unknown): void {
  if (!(thrown instanceof Error) || Reflect.get(thrown, 'code') !== 'ENOENT') throw thrown;
}
