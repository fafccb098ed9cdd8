// docs/public-types.txt: every type that the package shows to the programs of others, as the compiler writes it for them. A change to it
// is a change that users may notice. Reads declarations alone, those of this project or of any build of the package.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';

/** Where the report lies, relative to the project. */
export const PUBLIC_TYPES = 'docs/public-types.txt';
const OPENING = `Every type that the package exports, and those that these mention. Written by \`npm run generate\`. Where it changes, users may notice:
CHANGELOG.md says so, under Changed or Removed where something is gone.
`;

/** @typedef {{ readonly name: string, readonly exports: Readonly<Record<string, { readonly types?: string }>> }} Manifest */
/** @typedef {{ readonly checker: ts.TypeChecker, readonly entries: ReadonlyMap<string, readonly ts.Symbol[]> }} Entries */

/**
 * The report of the sources as they are. The same sources always give the same report.
 *
 * @param {string} root - of the project
 * @throws {Error} when they do not compile
 */
export function publicTypes(root) {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-types-'));
  try {
    const compiler = path.join(root, 'node_modules/typescript-native/bin/tsc');
    const argv = [compiler, '-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--noCheck', '--outDir', folder];
    const { status, stdout } = spawnSync(process.execPath, argv, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(`the sources do not compile: ${stdout}`);
    return reportOf(entriesOf(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')), folder), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * What an installed package exports: `parley-voice/testing TestCall`.
 *
 * @param {string} root - of the package
 * @returns {readonly string[]}
 */
export function exportedNames(root) {
  const { entries } = entriesOf(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')), path.join(root, 'dist'));
  return [...entries].flatMap(([entry, symbols]) => symbols.map(({ name }) => `${entry} ${name}`));
}

/**
 * @param {Manifest} manifest
 * @param {string} dist - folder of the declarations
 * @returns {Entries}
 */
function entriesOf({ name, exports }, dist) {
  const files = new Map(
    Object.entries(exports).flatMap(([entry, { types }]) =>
      types === undefined ? [] : [[name + entry.slice(1), path.join(dist, path.relative('dist', types))]],
    ),
  );
  /** @type {ts.CompilerOptions} */
  const options = { noLib: true, types: [], module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
  const host = ts.createCompilerHost(options);
  // What other packages declare is their business; without them this takes no time.
  host.resolveModuleNameLiterals = (literals, file) => literals.map(({ text }) => ({ resolvedModule: declarationOf(text, file) }));
  const program = ts.createProgram([...files.values()], options, host);
  const checker = program.getTypeChecker();
  const entries = [...files].map(([entry, file]) => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${entry} exports nothing`);
    return /** @type {const} */ ([entry, checker.getExportsOfModule(module).toSorted(byName)]);
  });
  return { checker, entries: new Map(entries) };
}

/**
 * @param {string} name - as an import has it
 * @param {string} file - that imports it
 * @returns {ts.ResolvedModuleFull | undefined}
 */
function declarationOf(name, file) {
  if (!name.startsWith('.')) return undefined;
  const resolvedFileName = path.resolve(path.dirname(file), name.replace(/\.(?<m>m?)[jt]s$/u, '.d.$<m>ts'));
  return { resolvedFileName, extension: resolvedFileName.endsWith('.d.mts') ? ts.Extension.Dmts : ts.Extension.Dts };
}

/**
 * @param {Entries} found
 * @param {string} folder - of the declarations
 */
function reportOf({ checker, entries }, folder) {
  const printer = ts.createPrinter({ removeComments: true });
  /** Declarations by module, in the order of their names. @type {Map<string, Map<string, string>>} */
  const modules = new Map();
  /** @type {Set<ts.Node>} */
  const seen = new Set();
  /** @param {ts.Symbol} symbol */
  const add = (symbol) => {
    const target = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
    for (const declaration of target.declarations ?? []) {
      const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      if (!ts.isSourceFile(statement.parent) || seen.has(statement)) continue;
      seen.add(statement);
      const source = statement.parent;
      const module = path.relative(folder, source.fileName).replace(/\.d\.m?ts$/u, '');
      const texts = modules.get(module) ?? new Map();
      modules.set(module, texts);
      const text = printer.printNode(ts.EmitHint.Unspecified, statement, source);
      texts.set(target.name, [texts.get(target.name), text].filter(Boolean).join('\n'));
      visit(statement);
    }
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    if (symbol !== undefined) add(symbol);
    ts.forEachChild(node, visit);
  };
  for (const symbol of [...entries.values()].flat()) add(symbol);
  const names = [...entries].map(([entry, symbols]) => `${entry}\n${symbols.map((symbol) => `  ${symbol.name}\n`).join('')}`);
  const texts = [...modules].toSorted(byFirst).map(([module, declared]) => {
    const declarations = [...declared].toSorted(byFirst).map(([, text]) => text);
    return `// ${module}\n${declarations.join('\n')}\n`;
  });
  return [OPENING, ...names, ...texts].join('\n');
}

/** @param {ts.Symbol} one @param {ts.Symbol} other */
function byName(one, other) {
  return one.name < other.name ? -1 : 1;
}

/** @template T @param {readonly [string, T]} one @param {readonly [string, T]} other */
function byFirst([one], [other]) {
  return one < other ? -1 : 1;
}
