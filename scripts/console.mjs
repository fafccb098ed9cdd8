// Builds the web pages of console/: of each page a script, a style sheet and an HTML file. `npm run build` writes them to dist/console;
// a server that runs from the source builds them in memory.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '..');

/**
 * The pages by the names of their files in console/, with their titles. One that is a single file has everything in its HTML, and shows
 * the data that is put in place of `null` into the element `#data`; the others load their script and style sheet from beside them.
 *
 * @type {Readonly<Record<string, { title: string, isSingleFile?: true }>>}
 */
const PAGES = { call: { title: 'Call', isSingleFile: true }, operations: { title: 'Parley' }, softphone: { title: 'Softphone' } };
/** Scripts that a page loads by itself: code of the audio thread. */
const OTHERS = ['softphone-worklets.ts'];

/** @returns {Promise<ReadonlyMap<string, string>>} the texts of all files by name, such as `call.html` */
export async function consoleFiles() {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...Object.keys(PAGES).map((name) => `${name}.tsx`), ...OTHERS].map((name) => `console/${name}`),
    outdir: 'dist/console',
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    tsconfig: 'console/tsconfig.json',
    legalComments: 'none',
    write: false,
  });
  const files = new Map(outputFiles.map((file) => [path.basename(file.path), file.text]));
  for (const [name, { isSingleFile }] of Object.entries(PAGES)) {
    files.set(`${name}.html`, html(name, files));
    if (isSingleFile) for (const ending of ['js', 'css']) files.delete(`${name}.${ending}`);
  }
  // What the packages in the scripts ask for.
  files.set('licenses.txt', `preact\n\n${readFileSync(path.join(ROOT, 'node_modules/preact/LICENSE'), 'utf8')}`);
  return files;
}

/** @param {string} folder - absolute; made when it is missing */
export async function writeConsole(folder) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of await consoleFiles()) writeFileSync(path.join(folder, name), text);
}

/**
 * @param {string} name - of the page
 * @param {ReadonlyMap<string, string>} files
 */
function html(name, files) {
  const { title, isSingleFile } = PAGES[name] ?? { title: name };
  const [script = '', style = ''] = [files.get(`${name}.js`), files.get(`${name}.css`)];
  const policy = `default-src 'none'; script-src '${hash(script)}'; style-src '${hash(style)}'; img-src data:; media-src data: blob:`;
  const head = isSingleFile
    ? `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${style}</style>`
    : `<link rel="icon" href="data:,">\n<link rel="stylesheet" href="${name}.css">\n<script src="${name}.js" defer></script>`;
  const body = isSingleFile ? `<script type="application/json" id="data">null</script>\n<script>${script}</script>` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
${head}
<title>${title}</title>
</head>
<body>
<div id="page"></div>
${body}
</body>
</html>
`;
}

/** @param {string} text - of an element, whole */
function hash(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
