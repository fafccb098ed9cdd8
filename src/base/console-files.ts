// The built pages of console/ for whoever serves or writes them: in the package they lie in dist/console, and a process that runs from the
// source builds them once, in memory.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from './package-root.ts';

let built: Promise<ReadonlyMap<string, string>> | undefined;

/** A file of the pages by its name, such as `call.html`. @returns undefined when there is no such file. @throws Error when the source does not build. */
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
  // By its place: the package has the script no more, and src/ imports nothing of it.
  const script: unknown = await import(pathToFileURL(path.join(packageRoot(), 'scripts', 'console.mjs')).href);
  return (script as { consoleFiles: () => Promise<ReadonlyMap<string, string>> }).consoleFiles();
}
