// `npm run build -- --site`: the documentation as pages that need no server and ask nobody for anything: open index.html.
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import MiniSearch from 'minisearch';
import { CONFORMANCE_PAGE, conformancePage } from '../fake-platform-pages.mjs';
import { PROTOCOL_PAGE, protocolPage } from '../protocol-table.mjs';
import { DOORS, HOME, PAGES } from './doors.mjs';
import { addressOf, readPage } from './page.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const ASSETS = ['style.css', 'search.js'];
/** Pictures in pages. */
const IMAGES = 'docs/images';

/**
 * Builds the site.
 *
 * @param {string} target - absolute folder; replaced
 * @returns {{ pages: number, files: number, links: number, bytes: number }}
 * @throws {Error} that names every link which leads nowhere
 */
export function buildSite(target) {
  const pages = PAGES.map((file) => readPage(file, textOf(file)));
  const titles = new Map(pages.map(({ file, title }) => [file, title]));
  const dead = deadLinks(pages);
  if (dead.length > 0) throw new Error(`these links lead nowhere:\n${dead.map((line) => `  ${line}\n`).join('')}`);
  rmSync(target, { recursive: true, force: true });
  let bytes = 0;
  /** @param {string} file @param {string} text */
  const write = (file, text) => {
    const place = path.join(target, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
    bytes += Buffer.byteLength(text);
  };
  for (const page of pages) write(page.file.replace(/\.md$/u, '.html'), document(page.file, titles, page.html));
  const files = new Set(pages.flatMap(({ links }) => links.flatMap(({ to }) => (PAGES.includes(to) ? [] : [to]))));
  for (const file of files) write(`${file}.html`, document(file, titles, `<h1>${escaped(file)}</h1><pre>${escaped(textOf(file))}</pre>`));
  write('index.html', `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${addressOf('index.html', HOME)}">`);
  write('search-index.js', `globalThis.SEARCH_INDEX = ${JSON.stringify(JSON.stringify(searchIndex(pages)))};\n`);
  for (const name of ASSETS) cpSync(path.join(import.meta.dirname, name), path.join(target, name));
  cpSync(path.join(ROOT, IMAGES), path.join(target, IMAGES), { recursive: true });
  cpSync(
    createRequire(import.meta.url)
      .resolve('minisearch')
      .replace(/dist\/.*$/u, 'dist/umd/index.js'),
    path.join(target, 'minisearch.js'),
  );
  return { pages: pages.length, files: files.size, links: pages.reduce((sum, { links }) => sum + links.length, 0), bytes };
}

/** A page that is made here, or the file. @param {string} file */
function textOf(file) {
  if (file === CONFORMANCE_PAGE) return conformancePage(ROOT);
  return file === PROTOCOL_PAGE ? protocolPage(ROOT) : readFileSync(path.join(ROOT, file), 'utf8');
}

/** @param {readonly import('./page.mjs').Page[]} pages */
function deadLinks(pages) {
  const byFile = new Map(pages.map((page) => [page.file, page]));
  return pages.flatMap(({ file, links }) =>
    links.flatMap(({ to, anchor }) => {
      const page = byFile.get(to);
      if (page !== undefined) return anchor === '' || page.anchors.has(anchor) ? [] : [`${file}: ${to}#${anchor}`];
      const isFile =
        !to.startsWith('..') && !to.endsWith('.md') && statSync(path.join(ROOT, to), { throwIfNoEntry: false })?.isFile() === true;
      return isFile ? [] : [`${file}: ${to}`];
    }),
  );
}

/** @param {readonly import('./page.mjs').Page[]} pages */
function searchIndex(pages) {
  const search = new MiniSearch({ fields: ['title', 'text'], storeFields: ['title', 'page', 'address'] });
  search.addAll(
    pages.flatMap(({ file, title: page, sections }) =>
      sections.map(({ anchor, title, text }) => {
        const address = `${addressOf('index.html', file)}#${anchor}`;
        return { id: address, address, page, title, text };
      }),
    ),
  );
  return search;
}

/**
 * @param {string} file
 * @param {ReadonlyMap<string, string>} titles - of all pages
 * @param {string} html
 */
function document(file, titles, html) {
  const title = titles.get(file) ?? file;
  const root = '../'.repeat(file.split('/').length - 1);
  const here = DOORS.find(({ pages }) => pages.includes(file));
  const doors = DOORS.map(({ name, pages: [first = HOME] }) => link(file, first, name, name === here?.name));
  const pages = here?.pages.map((page) => link(file, page, titles.get(page) ?? page, page === file)) ?? DOORS.map(doorCard(file));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} · Parley</title>
<link rel="stylesheet" href="${root}style.css">
<header><a class="home" href="${root}${addressOf('index.html', HOME)}">Parley</a><nav>${doors.join('')}</nav>
<search><input type="search" placeholder="Search" aria-label="Search" data-root="${root}"><ol></ol></search></header>
<div class="columns"><nav aria-label="Pages">${pages.join('')}</nav><main>${html}</main></div>
<script src="${root}minisearch.js"></script><script src="${root}search-index.js"></script><script src="${root}search.js"></script>
</html>
`;
}

/** @param {string} file */
function doorCard(file) {
  /** @param {import('./doors.mjs').Door} door */
  return ({ name, for: why, pages: [first = HOME] }) => `${link(file, first, name, false)}<p>${escaped(why)}</p>`;
}

/**
 * @param {string} from
 * @param {string} to
 * @param {string} title
 * @param {boolean} isHere
 */
function link(from, to, title, isHere) {
  return `<a href="${addressOf(from, to)}"${isHere ? ' aria-current="page"' : ''}>${escaped(title)}</a>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
