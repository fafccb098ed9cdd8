// The compiled program, which is what is measured.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';

/** Its path. @throws Error when it was not built. */
export function builtMain(): string {
  const main = path.join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
  if (!existsSync(main)) throw new Error('there is no build: run `npm run build` first');
  return main;
}
