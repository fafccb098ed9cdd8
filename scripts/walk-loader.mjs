// How `check:walk` loads the server: as a tree of modules of its own, whose functions say when they begin. Everything that is
// imported without the mark in its address, the fake platform above all, is loaded as ever. Runs in the loader's own thread.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '..');
const MARK = '?walk';

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const resolved = await next(specifier, context);
  const isOurs = resolved.url.startsWith('file:') && !resolved.url.includes('/node_modules/');
  if (!isOurs || !(specifier.endsWith(MARK) || context.parentURL?.endsWith(MARK) === true)) return resolved;
  const url = new URL(resolved.url);
  url.search = MARK;
  return { ...resolved, url: url.href };
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith(MARK) || !new URL(url).pathname.endsWith('.ts')) return next(url, context);
  const file = fileURLToPath(url);
  const name = path.relative(ROOT, file).replaceAll(path.sep, '/');
  const source = await readFile(file, 'utf8');
  const { outputText } = ts.transpileModule(name.startsWith('src/') ? withMarks(name, source) : source, {
    fileName: file,
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
  });
  return { format: 'module', source: outputText, shortCircuit: true };
}

/**
 * The source with a call of `walked(file, place)` at the beginning of each function.
 *
 * @param {string} name
 * @param {string} source
 */
function withMarks(name, source) {
  /** @type {{ at: number, text: string }[]} */
  const marks = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const body = ts.isFunctionLike(node) && 'body' in node ? node.body : undefined;
    if (body !== undefined) {
      const at = body.getStart();
      const mark = `walked(${JSON.stringify(name)}, ${String(at)})`;
      if (ts.isBlock(body)) marks.push({ at: at + 1, text: `${mark};` });
      else marks.push({ at, text: `(${mark}, ` }, { at: body.getEnd(), text: ')' });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.ES2023, true));
  marks.sort((one, other) => one.at - other.at);
  const pieces = marks.map(({ at, text }, index) => `${text}${source.slice(at, marks[index + 1]?.at)}`);
  return source.slice(0, marks[0]?.at) + pieces.join('');
}
