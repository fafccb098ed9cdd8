// URLs under which Node loads a module, and what it imports from its own folder, once more. The versions before stay in
// memory until the process ends: Node offers no way to drop an ES module. CommonJS files have no such URLs, but can be dropped.
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
 * A generation of the modules of a folder that has never been loaded.
 *
 * @param folder - absolute.
 * @returns the URL of each file in it; files are absolute.
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
 * Node keeps CommonJS files under their names, whatever the query of the URL that they were imported by. Whoever has one holds
 * on to its exports. Packages stay one copy, and libraries of machine code mostly load once in a process.
 */
function dropCommonJs(folder: string): void {
  const kept = createRequire(import.meta.url).cache;
  const start = realFolder(folder) + path.sep;
  for (const file of Object.keys(kept)) {
    if (!file.startsWith(start) || path.extname(file) === '.node') continue;
    if (!file.slice(start.length).split(path.sep).some(isNoModuleFolder)) Reflect.deleteProperty(kept, file);
  }
}

/** Modules are kept under the names that links lead to. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    // It is gone, which whoever reads it will say.
    return folder;
  }
}

/** Once in a process, and for good: without effect on modules that are not reloaded. */
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
