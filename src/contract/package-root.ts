// Where the package lies on disk, for the files that ship beside the code: proto/ and config/. Works from src/ and from
// the compiled dist/src/, which stand at different depths.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the nearest folder above this file that holds a package.json. */
export function packageRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('no package.json above the code; the package is not installed whole');
    folder = parent;
  }
  return folder;
}
