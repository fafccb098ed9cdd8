// The built pages of console/. The package has them in dist/console; a process that runs from the source builds them once, in
// memory.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from './package-root.ts';

let built: Promise<ReadonlyMap<string, string>> | undefined;

/** Reads a built file, such as `call.html`. @returns undefined when there is none. @throws Error when the source does not build. */
export async function consoleFile(name: string): Promise<string | undefined> {
  // No path leads out of the folder.
  if (!/^[a-z-]+\.[a-z]+$/u.test(name)) return undefined;
  if (import.meta.url.endsWith('.ts')) {
    built ??= buildFiles();
    return (await built).get(name);
  }
  return readFile(path.join(packageRoot(), 'dist', 'console', name), 'utf8').catch(() => undefined);
}

async function buildFiles(): Promise<ReadonlyMap<string, string>> {
  // By its path: the package does not contain this script, so src/ cannot import it statically.
  const script: unknown = await import(pathToFileURL(path.join(packageRoot(), 'scripts', 'console.mjs')).href);
  return (script as { consoleFiles: () => Promise<ReadonlyMap<string, string>> }).consoleFiles();
}
