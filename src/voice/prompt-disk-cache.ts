// Keeps synthesized prompts across restarts: one WAV file per prompt in a folder, in the format of WAV mode. Knows
// keys and bytes, never texts. When the disk fails, there is one warning and no time saved, but every prompt is still played.
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { MULAW_BYTES_PER_MS } from '../speech/audio-format.ts';
import { MULAW_WAV_HEADER_BYTES, mulawWav, mulawWavHeader } from '../speech/wav.ts';
import { MAX_PROMPT_MS } from './prompt-audio.ts';

/** Files of the cache; all other files in the folder are ignored. */
const OUR_FILE = /^[0-9a-f]{64}\.wav$/;
/** Temporary files of interrupted writes. */
const LEFT_OVER = /^[0-9a-f]{64}\.wav\.\d+$/;
/** Age from which a temporary file is removed, ms: a younger one may be in use by another process that shares the folder. */
const LEFT_OVER_AGE_MS = 3_600_000;
const MAX_FILE_BYTES = MULAW_WAV_HEADER_BYTES + MAX_PROMPT_MS * MULAW_BYTES_PER_MS + 1;

export interface PromptDiskCacheOptions {
  /** Created when missing. Several processes may share it. */
  readonly folder: string;
  /** Most bytes of prompts; the least recently used are removed first. Default 256 MiB. */
  readonly maxBytes?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A folder of prompts. No method throws. */
export class PromptDiskCache {
  readonly #options: Required<PromptDiskCacheOptions>;
  readonly #files = new Map<string, { readonly bytes: number; usedMs: number }>();
  #totalBytes = 0;
  #opening: Promise<void> | undefined;
  #isWritable = true;

  constructor(options: PromptDiskCacheOptions) {
    this.#options = { maxBytes: 256 * 1024 * 1024, ...options };
  }

  /** The prompt of a key (64 hex digits) as µ-law, or undefined when there is none or its file is damaged. */
  async read(key: string): Promise<Uint8Array | undefined> {
    await this.#open();
    const bytes = await this.#readFile(key);
    if (bytes === undefined) return undefined;
    const mulaw = promptOf(bytes);
    if (mulaw === undefined) this.#options.log.debug({ key: key.slice(0, 8) }, 'a stored prompt is damaged and will be synthesized again');
    return mulaw;
  }

  /** Stores a prompt, replacing an older one with this key. */
  async write(key: string, mulaw: Uint8Array): Promise<void> {
    await this.#open();
    const wav = mulawWav(mulaw);
    if (!this.#isWritable || wav.length > Math.min(MAX_FILE_BYTES, this.#options.maxBytes)) return;
    this.#forget(key);
    await this.#makeRoom(this.#options.maxBytes - wav.length);
    try {
      await writeFileAtomic(this.#path(key), Buffer.from(wav.buffer, wav.byteOffset, wav.length), { mode: 0o600 });
      this.#remember(key, wav.length, this.#options.clock.nowMs());
    } catch (cause) {
      this.#giveUpWriting(cause);
    }
  }

  #open(): Promise<void> {
    this.#opening ??= this.#takeStock();
    return this.#opening;
  }

  /** Counts the stored prompts and removes those beyond the limit. */
  async #takeStock(): Promise<void> {
    const { folder, maxBytes, clock } = this.#options;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const name of await readdir(folder)) {
        if (!OUR_FILE.test(name) && !LEFT_OVER.test(name)) continue;
        const stat = await lstat(join(folder, name)).catch(() => undefined);
        if (stat?.isFile() !== true) continue;
        if (OUR_FILE.test(name)) this.#remember(name.slice(0, 64), stat.size, stat.mtimeMs);
        else if (clock.nowMs() - stat.mtimeMs > LEFT_OVER_AGE_MS) await remove(join(folder, name));
      }
    } catch (cause) {
      this.#giveUpWriting(cause);
      return;
    }
    await this.#makeRoom(maxBytes);
  }

  /** Removes the least recently used prompts until at most `limitBytes` are left. */
  async #makeRoom(limitBytes: number): Promise<void> {
    if (this.#totalBytes <= limitBytes) return;
    const oldestFirst = [...this.#files].sort(([, a], [, b]) => a.usedMs - b.usedMs);
    for (const [key] of oldestFirst) {
      if (this.#totalBytes <= limitBytes) return;
      this.#forget(key);
      await remove(this.#path(key));
    }
  }

  async #readFile(key: string): Promise<Uint8Array | undefined> {
    // Follows no link and does not block on a pipe.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(this.#path(key), flags).catch(() => undefined);
    if (file === undefined) return undefined;
    try {
      const stat = await file.stat();
      if (!stat.isFile() || stat.size > MAX_FILE_BYTES) return undefined;
      const bytes = await file.readFile();
      const now = this.#options.clock.nowMs();
      const known = this.#files.get(key);
      if (known !== undefined) known.usedMs = now;
      // Keeps the order of use across restarts. Fails on a read-only disk, which does no harm.
      if (this.#isWritable) await file.utimes(now / 1000, now / 1000).catch(() => undefined);
      return bytes;
    } catch {
      // An unreadable file counts as missing.
      return undefined;
    } finally {
      await file.close().catch(() => undefined);
    }
  }

  #path(key: string): string {
    return join(this.#options.folder, `${key}.wav`);
  }

  #remember(key: string, bytes: number, usedMs: number): void {
    this.#forget(key);
    this.#files.set(key, { bytes, usedMs });
    this.#totalBytes += bytes;
  }

  #forget(key: string): void {
    this.#totalBytes -= this.#files.get(key)?.bytes ?? 0;
    this.#files.delete(key);
  }

  #giveUpWriting(cause: unknown): void {
    if (!this.#isWritable) return;
    this.#isWritable = false;
    const { log, folder } = this.#options;
    const code = cause instanceof Error ? String(Reflect.get(cause, 'code') ?? cause.name) : 'unknown';
    log.warn({ folder, code }, 'prompts cannot be stored on disk; they stay in memory and are synthesized again after a restart');
  }
}

/** The µ-law bytes of a stored file; undefined unless it is exactly what {@link mulawWav} makes. */
function promptOf(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length <= MULAW_WAV_HEADER_BYTES) return undefined;
  const claimed = new DataView(bytes.buffer, bytes.byteOffset).getUint32(MULAW_WAV_HEADER_BYTES - 4, true);
  if (claimed === 0 || MULAW_WAV_HEADER_BYTES + claimed + (claimed & 1) !== bytes.length) return undefined;
  const header = mulawWavHeader(claimed);
  if (header.some((byte, index) => byte !== bytes[index])) return undefined;
  // A copy, because slices of a Buffer share its memory.
  return new Uint8Array(bytes.subarray(MULAW_WAV_HEADER_BYTES, MULAW_WAV_HEADER_BYTES + claimed));
}

async function remove(path: string): Promise<void> {
  // Already gone or not removable: ignored.
  await unlink(path).catch(() => undefined);
}
