// How the process that tests mutants loads files: TypeScript is stripped, the tests get mutant-suite.mjs in place of the
// ordinary runner, and a generation in the address of the first file is passed on to everything it imports, so that the
// whole tree can be loaded anew beside the old one. Runs in the loader's own thread.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SUITE = new URL('mutant-suite.mjs', import.meta.url).href;
/** @type {Map<string, Promise<string>>} */
const stripped = new Map();

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  if (specifier === 'vitest' && context.parentURL !== SUITE) return { url: SUITE, shortCircuit: true };
  const resolved = await next(specifier, context);
  const generation = context.parentURL === undefined ? null : new URL(context.parentURL).searchParams.get('generation');
  if (generation === null || !isOurs(resolved.url)) return resolved;
  const url = new URL(resolved.url);
  url.searchParams.set('generation', generation);
  return { ...resolved, url: url.href };
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!isOurs(url) || !new URL(url).pathname.endsWith('.ts')) return next(url, context);
  const file = fileURLToPath(url);
  let source = stripped.get(file);
  if (source === undefined) stripped.set(file, (source = strip(file)));
  return { format: 'module', source: await source, shortCircuit: true };
}

/** @param {string} url */
function isOurs(url) {
  return url.startsWith('file:') && !url.includes('/node_modules/') && url.split('?')[0] !== SUITE;
}

/** @param {string} file */
async function strip(file) {
  const { outputText } = ts.transpileModule(await readFile(file, 'utf8'), {
    fileName: file,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
  });
  return outputText;
}
