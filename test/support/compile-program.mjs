// Compiles the program into a folder: `node compile-program.mjs ROOT TARGET FOLDER…`. Modules of ours stay files of their own, as
// they are in the package. What they import of other packages is joined into few files: a server that reads 400 files and not 1300
// starts with a fifth less processor time.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { writeConsole } from '../../scripts/console.mjs';

const [, , root = '', target = '', ...folders] = process.argv;
/** Beside modules of ours, because what is thrown there shall not look like code of a bot. */
const PACKAGES = 'src/packages';
/** Packages in CommonJS ask for modules of Node. */
const REQUIRE = `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n`;

const files = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?ts$|\.mjs$/u.test(name) && !/\.(?:test|d)\.m?ts$/u.test(name))
    .map((name) => path.join(folder, name)),
);

/** @type {import('esbuild').Plugin} */
const apart = {
  name: 'apart',
  setup(building) {
    building.onResolve({ filter: /^/ }, ({ path: name, importer, kind }) => {
      if (kind === 'entry-point' || isPackage(importer)) return undefined;
      if (/^(?:\.|parley-voice)/u.test(name)) return { path: name.replace(/\.ts$/u, '.js'), external: true };
      // Whoever imports a package while it runs gets its names as Node finds them, and these read WebAssembly that lies beside them.
      return kind === 'dynamic-import' || name.startsWith('@echogarden/') ? { path: name, external: true } : undefined;
    });
    building.onLoad({ filter: /[\\/]node_modules[\\/].*\.c?js$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      if (!/\b__(?:dir|file)name\b/u.test(text)) return undefined;
      const places = `var __dirname = ${JSON.stringify(path.dirname(file))}, __filename = ${JSON.stringify(file)};`;
      return { contents: `${places}${text}` };
    });
  },
};

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: files.filter((file) => file.endsWith('.ts')),
  outdir: target,
  outbase: root,
  chunkNames: `${PACKAGES}/[name]-[hash]`,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  plugins: [apart],
  logLevel: 'warning',
  write: false,
});
for (const { path: file, text } of outputFiles) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, file.startsWith(path.join(target, PACKAGES)) ? REQUIRE + text : text);
}
for (const file of files.filter((name) => name.endsWith('.mjs'))) {
  mkdirSync(path.dirname(path.join(target, file)), { recursive: true });
  copyFileSync(path.join(root, file), path.join(target, file));
}
await writeConsole(path.join(target, 'dist', 'console'));

/** @param {string} file */
function isPackage(file) {
  return file.split(path.sep).includes('node_modules');
}
