// Compiles the program into a folder: `node compile-program.mjs ROOT TARGET FOLDER…`. Bots stay files of their own, as they are in
// the package. The program and what it imports of other packages is joined into few files: half of the processor time of a start
// would go into finding and reading 1300 of them.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { writeConsole } from '../../scripts/console.mjs';

const [, , root = '', target = '', ...folders] = process.argv;
/** Beside modules of ours, because what is thrown there shall not look like code of a bot. */
const PACKAGES = 'src/packages';
/** Packages in CommonJS ask for modules of Node. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);\n`;

/** Where modules lie that are joined. */
const JOINED = ['src', 'test/support', 'test/fleet', 'test/fixtures/load'].map((folder) => path.join(root, folder) + path.sep);
/** Modules that are begun by their place, as a command, a thread or a process. */
const BEGUN = [
  ...['src/cli/main.ts', 'src/fake-platform/load/load-worker.ts', 'src/fake-platform/load/worker-process.ts'],
  ...['src/recording/reading-worker.ts', 'src/recording/writing-worker.ts', 'src/voice/synthesizers/flite-worker.ts'],
  ...['test/fixtures/load/small-server.ts', 'test/fleet/caller-process.ts'],
];
/** @type {{ exports: Record<string, string | { '@parley/source': string }> }} */
const { exports: names } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const named = Object.values(names).flatMap((name) => (typeof name === 'object' ? [path.normalize(name['@parley/source'])] : []));

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
      if (name.startsWith('.') && isJoined(importer) && isJoined(path.resolve(path.dirname(importer), name))) return undefined;
      if (/^(?:\.|parley-voice)/u.test(name)) return { path: name.replace(/\.ts$/u, '.js'), external: true };
      // Whoever imports a package while it runs gets its names as Node finds them, and these read WebAssembly that lies beside them.
      return kind === 'dynamic-import' || name.startsWith('@echogarden/') ? { path: name, external: true } : undefined;
    });
    building.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      if (!isJoined(file)) return undefined;
      const place = `ownPlaceOf(${JSON.stringify(path.relative(root, file).replace(/\.ts$/u, '.js'))})`;
      const contents = readFileSync(file, 'utf8')
        .replaceAll('import.meta.url', place)
        .replaceAll('import.meta.dirname', `new URL('.', ${place}).pathname`);
      return { contents, loader: 'ts' };
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
  entryPoints: [...BEGUN, ...named, ...files.filter((file) => file.endsWith('.ts') && !isJoined(path.join(root, file)))],
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
  // Where a module would lie by itself.
  const up = JSON.stringify(`${path.relative(path.dirname(file), target)}/`);
  const own = `const ownPlaceOf = (place) => new URL(${up} + place, import.meta.url).href;\n`;
  const before = own + (file.startsWith(path.join(target, PACKAGES)) ? REQUIRE : '');
  writeFileSync(
    file,
    text.replace(/^(?:#!.*\n)?/u, (command) => command + before),
  );
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

/** @param {string} file */
function isJoined(file) {
  return JOINED.some((folder) => file.startsWith(folder));
}
