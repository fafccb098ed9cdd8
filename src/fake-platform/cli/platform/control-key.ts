// The key with which commands control a running fake platform: one file per port, in a folder under the temp folder that
// only the user can read. Without the key, nobody controls the platform.
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { AppError } from '../../../base/errors.ts';
import { isFileError } from '../../../base/terminal/surroundings.ts';

const KEY_BYTES = 32;
const KEY = /^[0-9a-f]{64}$/u;
const OTHERS = 0o077;

/** Makes a new key; nobody has it yet. */
export function newControlKey(): string {
  return randomBytes(KEY_BYTES).toString('hex');
}

/**
 * Stores the key of a platform, so that the user's other commands find it.
 *
 * @returns a function that deletes the file.
 * @throws AppError `platform_unavailable` when the folder is not the user's own.
 */
export async function keepControlKey(port: number, key: string): Promise<() => Promise<void>> {
  const file = fileOf(port);
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await demandOwn(path.dirname(file));
    // A killed platform left this file: only one process can listen on the port, and this one does.
    await rm(file, { force: true });
    await writeFile(file, key, { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    if (isFileError(thrown)) throw unusable(file, thrown);
    throw thrown;
  }
  return () => rm(file, { force: true });
}

/** The key of the platform on a port. @throws AppError `platform_unavailable` when the user runs no platform there. */
export async function controlKeyOf(port: number): Promise<string> {
  const file = fileOf(port);
  let key: string;
  try {
    await demandOwn(path.dirname(file));
    key = (await readFile(file, 'utf8')).trim();
  } catch (thrown) {
    if (isFileError(thrown) && thrown.code === 'ENOENT') throw notRunning(port);
    throw isFileError(thrown) ? unusable(file, thrown) : thrown;
  }
  if (!KEY.test(key)) throw notRunning(port);
  return key;
}

/** The error when no platform of the user runs on a port. */
export function notRunning(port: number): AppError {
  return new AppError(
    'platform_unavailable',
    `no fake platform of yours runs on port ${String(port)}: start \`parley platform\` in another terminal, or name its --port`,
  );
}

function fileOf(port: number): string {
  return path.join(os.tmpdir(), `parley-${String(process.getuid?.() ?? 'user')}`, `platform-${String(port)}.key`);
}

/** Requires that the folder is the user's own: everybody can write to the temp folder, so somebody else may have made it first. */
async function demandOwn(folder: string): Promise<void> {
  const found = await lstat(folder);
  const isOurs = found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
  if (!isOurs) throw new AppError('platform_unavailable', `${folder} is not yours: remove it, or set TMPDIR to a folder that is`);
  if ((found.mode & OTHERS) !== 0 && process.getuid !== undefined) await chmod(folder, 0o700);
}

function unusable(file: string, cause: NodeJS.ErrnoException): AppError {
  return new AppError('platform_unavailable', `${file} cannot be used (${cause.code ?? 'unknown'})`, { cause });
}
