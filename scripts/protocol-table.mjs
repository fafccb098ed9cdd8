// The page docs/generated/protocol.md, made of docs/protocol-rules.yaml: every rule and how it is obeyed. Checks nothing:
// test/rules/protocol.test.ts does, with the files and tests that cite each rule.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { testTitles } from './test-titles.mjs';

/** The page of the rules, relative to the project; it is not committed. */
export const PROTOCOL_PAGE = 'docs/generated/protocol.md';
const RULES = 'docs/protocol-rules.yaml';
/** Anything that looks like the id of a rule, so that a slip of the pen is found too. */
const RULE_ID = /\b[GW]-\d[0-9A-Z]*\b/gu;

const DUTIES = /** @type {const} */ ({ server: 'server', platform: 'platform', nobody: 'not known' });

/**
 * @typedef {{ id: string, duty: keyof typeof DUTIES, asks: string, how?: string, open?: string }} Rule
 * @typedef {{ title: string, rules: readonly Rule[] }} Section
 * @typedef {{ file: string, title: string }} CitingTest
 * @typedef {{ code: ReadonlyMap<string, readonly string[]>, tests: ReadonlyMap<string, readonly CitingTest[]> }} Citations rule id → files, tests
 */

/**
 * The rules as they are written down.
 *
 * @param {string} root - of the project
 * @returns {readonly Section[]}
 */
export function protocolRules(root) {
  return parse(readFileSync(path.join(root, RULES), 'utf8'));
}

/**
 * Ids of rules in a text, each once.
 *
 * @param {string} text
 */
export function ruleIdsIn(text) {
  return [...new Set(text.match(RULE_ID) ?? [])];
}

/**
 * True for files that play the platform or test who plays it: they show what the double does, not that the server obeys.
 *
 * @param {string} file - relative to the project
 */
export function isOfFakePlatform(file) {
  return file.includes('/fake-platform/');
}

/**
 * Who cites which rule: files of src/ anywhere, tests in their titles.
 *
 * @param {string} root
 * @returns {Citations}
 */
export function protocolCitations(root) {
  /** @type {Map<string, string[]>} */
  const code = new Map();
  /** @type {Map<string, CitingTest[]>} */
  const tests = new Map();
  for (const file of filesIn(root, 'src').filter((name) => name.endsWith('.ts') && !name.startsWith('src/contract/gen/'))) {
    for (const id of ruleIdsIn(readFileSync(path.join(root, file), 'utf8'))) listOf(code, id).push(file);
  }
  for (const file of [...filesIn(root, 'test'), ...filesIn(root, 'bots')].filter((name) => name.endsWith('.test.ts'))) {
    for (const title of testTitles(file, readFileSync(path.join(root, file), 'utf8'))) {
      for (const id of ruleIdsIn(title)) listOf(tests, id).push({ file, title });
    }
  }
  return { code, tests };
}

/**
 * The page of the rules. The same list always gives the same page.
 *
 * @param {string} root
 */
export function protocolPage(root) {
  const lines = [
    '# The turn grammar, rule by rule',
    '',
    '<!-- Written by `npm run generate` from protocol-rules.yaml; do not edit. -->',
    '',
    'A rule of the **server** is ours: at least one test of the server names it in its title, or the build fails. A rule of the',
    '**platform** is the other side’s: the fake platform plays it, and the server is ready for it. What is **not known** binds',
    'nobody; the page says what the server does in its place. Rules that begin with G are those of gRPC; those that begin with W say',
    'what is different on WebSocket. `git grep -w G-38 src test` shows which code and which tests cite a rule.',
    '',
    '<!-- prettier-ignore-start -->',
  ];
  for (const { title, rules } of protocolRules(root)) {
    lines.push('', `## ${title}`, '', '| Rule | Whose | What it asks |', '| --- | --- | --- |');
    for (const { id, duty, asks, how, open } of rules) {
      const what = [asks, how && `**How:** ${how}`, open && `**Not known:** ${open}`].filter((text) => text !== undefined);
      lines.push(`| ${[`**${id}**`, DUTIES[duty], cell(what)].join(' | ')} |`);
    }
  }
  return [...lines, '', '<!-- prettier-ignore-end -->', ''].join('\n');
}

/** @param {readonly string[]} lines */
function cell(lines) {
  return lines.map((line) => line.trim()).join('<br>');
}

/**
 * @template T
 * @param {Map<string, T[]>} map
 * @param {string} key
 * @returns {T[]}
 */
function listOf(map, key) {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

/**
 * Every file under a folder, relative to the project, with forward slashes.
 *
 * @param {string} root
 * @param {string} folder
 */
function filesIn(root, folder) {
  if (!existsSync(path.join(root, folder))) return [];
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort();
}
