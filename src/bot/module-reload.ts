// URLs from which Node loads a module, and its imports from the same folder, once more. Old versions stay in memory until the
// process ends, because Node cannot drop an ES module. CommonJS files have no such URLs, but can be dropped.
import { realpathSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isNoModuleFolder } from './loader.ts';
import { carriedUrl, RELOAD } from './reload-hooks.mjs';

interface Resolved {
  readonly url: string;
}
type NextResolve = (specifier: string, context: { readonly parentURL?: string }) => Resolved;

let generations = 0;

/**
 * A new generation of the modules of a folder.
 *
 * @param folder - absolute.
 * @returns a function from the absolute path of a file to its URL.
 */
export function nextGeneration(folder: string): (file: string) => string {
  if (generations === 0) carryGenerations();
  dropCommonJs(folder);
  generations += 1;
  const generation = String(generations);
  return (file) => {
    const url = pathToFileURL(file);
    url.searchParams.set(RELOAD, generation);
    return url.href;
  };
}

/**
 * Node caches CommonJS files by name, whatever the query of their URL. Importers keep their exports. Packages stay one copy: many
 * native libraries load only once in a process.
 */
function dropCommonJs(folder: string): void {
  const kept = createRequire(import.meta.url).cache;
  const start = realFolder(folder) + path.sep;
  for (const file of Object.keys(kept)) {
    if (!file.startsWith(start) || path.extname(file) === '.node') continue;
    if (!file.slice(start.length).split(path.sep).some(isNoModuleFolder)) Reflect.deleteProperty(kept, file);
  }
}

/** Node caches modules under their real paths. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // The file is gone; reading it will report that.
    return folder;
  }
}

/** Once per process, and permanently. Has no effect on modules that are not reloaded. */
function carryGenerations(): void {
  // Node 22.15 and newer resolve in the same thread; `register` is all that Node 20 has, and deprecated from 26 on.
  const registerHooks: unknown = Reflect.get(module, 'registerHooks');
  if (typeof registerHooks !== 'function') {
    module.register('./reload-hooks.mjs', import.meta.url);
    return;
  }
  const resolve = (specifier: string, context: { readonly parentURL?: string }, nextResolve: NextResolve): Resolved => {
    const resolved = nextResolve(specifier, context);
    return { ...resolved, url: carriedUrl(specifier, context.parentURL, resolved.url) };
  };
  Reflect.apply(registerHooks, module, [{ resolve }]);
}
