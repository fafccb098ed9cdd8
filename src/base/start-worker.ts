// Modules that threads and processes begin with, from the compiled program or from the sources.
import { mkdirSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { packageRoot } from './package-root.ts';

/** The module `name` next to the one at `url`: a source next to a source, compiled next to compiled. @param url - `import.meta.url`. */
export function moduleBeside(url: string, name: string): URL {
  return new URL(`./${name}${path.extname(new URL(url).pathname)}`, url);
}

/**
 * A thread that runs `file` without this process's environment and flags.
 *
 * @param data - the thread's `workerData`.
 * @throws Error when the system cannot start a thread.
 */
export function startWorker(file: URL, data: unknown): Worker {
  return new Worker(runnable(file), { workerData: data, env: {}, execArgv: [] });
}

/** What Node can run without a loader: `file`, or its JavaScript when it is a source. */
export function runnable(file: URL): URL {
  return file.pathname.endsWith('.ts') ? compiled(file) : file;
}

/** The compiled file of each source file. */
const made = new Map<string, URL>();

/**
 * A source file and what it imports, as JavaScript: a thread inherits no TypeScript loader, and loading one takes half a second of CPU.
 * Remove this when the oldest supported Node runs TypeScript.
 */
function compiled(file: URL): URL {
  const known = made.get(file.href);
  if (known !== undefined) return known;
  const { buildSync } = createRequire(import.meta.url)('esbuild') as { readonly buildSync: (options: object) => unknown };
  // In the package, where the thread finds what it imports.
  const outfile = path.join(packageRoot(), 'cache', 'threads', `${path.basename(file.pathname, '.ts')}.mjs`);
  mkdirSync(path.dirname(outfile), { recursive: true });
  const begun = `${outfile}.${String(process.pid)}`;
  const form = { bundle: true, packages: 'external', platform: 'node', format: 'esm', target: `node${process.versions.node}` };
  buildSync({ entryPoints: [fileURLToPath(file)], outfile: begun, ...form });
  renameSync(begun, outfile);
  const url = pathToFileURL(outfile);
  made.set(file.href, url);
  return url;
}
