// Makes modules written in TypeScript load on a Node that cannot do it by itself: with tsx, if it is installed beside the bots.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** What an author must do when TypeScript does not load. */
export const TYPESCRIPT_MEND = 'run Node 22.18 or newer, or install tsx beside the bots: npm install --save-dev tsx';

let isRegistered = false;

/**
 * Registers tsx for this process, once, if it is needed.
 *
 * @param folder - where tsx is looked up: the folder of the bots, absolute.
 * @returns whether modules written in TypeScript load now.
 */
export async function enableTypeScript(folder: string): Promise<boolean> {
  // `process.features.typescript` is there from Node 22.10 on. From our own sources, a loader of TypeScript is running already.
  if (isRegistered || Reflect.get(process.features, 'typescript') || import.meta.url.endsWith('.ts')) return true;
  let manifest: string;
  try {
    manifest = createRequire(path.join(folder, 'bots.js')).resolve('tsx/package.json');
  } catch {
    return false;
  }
  // Not `tsx/esm/api`: that resolves to a CommonJS file whose `register` fails.
  const api: unknown = await import(pathToFileURL(path.join(path.dirname(manifest), 'dist', 'esm', 'api', 'index.mjs')).href);
  const register: unknown = Reflect.get(Object(api), 'register');
  if (typeof register !== 'function') return false;
  Reflect.apply(register, undefined, []);
  isRegistered = true;
  return true;
}

/** Whether an error says that this Node does not load TypeScript. */
export function isTypeScriptUnknown(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_UNKNOWN_FILE_EXTENSION' && thrown.message.includes('".ts"');
}
