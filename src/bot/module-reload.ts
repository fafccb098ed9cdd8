// URLs under which Node loads a module, and what it imports from its own folder, once more. The versions before stay in
// memory until the process ends: Node offers no way to drop a module.
import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { carriedUrl, RELOAD } from './reload-hooks.mjs';

interface Resolved {
  readonly url: string;
}
type NextResolve = (specifier: string, context: { readonly parentURL?: string }) => Resolved;

let generations = 0;

/** A generation of modules that has never been loaded. @returns the URL of each file in it; files are absolute. */
export function nextGeneration(): (file: string) => string {
  if (generations === 0) carryGenerations();
  generations += 1;
  const generation = String(generations);
  return (file) => {
    const url = pathToFileURL(file);
    url.searchParams.set(RELOAD, generation);
    return url.href;
  };
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
