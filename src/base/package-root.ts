// Where the package lies on disk and which version it is, for the files that ship beside the code: proto/ and config/. Works from src/
// and from the compiled dist/src/, which stand at different depths.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from './errors.ts';

/** Absolute path of the nearest folder above this file that holds a package.json. */
export function packageRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new AppError('internal', 'no package.json above the code: the installation is incomplete');
    folder = parent;
  }
  return folder;
}

/** Whether npm installed the package, for somebody else's project. */
export function isInstalled(): boolean {
  return packageRoot().split(path.sep).includes('node_modules');
}

/**
 * Absolute default folder for what a server writes: the package itself in a clone and in our image; when npm installed the package, a
 * folder of the user, because nobody writes to `node_modules`.
 */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (!isInstalled()) return packageRoot();
  const { XDG_STATE_HOME: given = '' } = env;
  return path.join(path.isAbsolute(given) ? given : path.join(homedir(), '.local', 'state'), 'parley');
}

/** The package's version, or `unknown`. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(packageRoot(), 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}
