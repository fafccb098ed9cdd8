// Why mutants may survive: joins the survivors of a run with the reasons people gave, and writes both into the docs. A
// reason belongs to a file and a mutation, not to a line number, so that it survives edits elsewhere in the file.
import { readFileSync, writeFileSync } from 'node:fs';
import * as prettier from 'prettier';
import { z } from 'zod';
import { scoreOf } from './mutant-results.mjs';

const REASONS_FILE = 'scripts/mutant-reasons.json';
const DOCUMENT = 'docs/mutants.md';

/** File → mutation (`before ⇒ after`) → reason. */
const REASONS = z.record(z.string(), z.record(z.string(), z.string().min(1)));

/**
 * @typedef {import('./mutant-results.mjs').Survivor} Survivor
 * @typedef {Survivor & { reason: string | undefined }} Judged
 */

/**
 * @param {readonly string[]} patterns - the files of the area
 * @param {readonly Survivor[]} survivors
 * @returns {{ survivors: Judged[], outdated: string[] }} `outdated` are reasons that no survivor needs
 */
export function addReasons(patterns, survivors) {
  const reasons = REASONS.parse(JSON.parse(readFileSync(REASONS_FILE, 'utf8')));
  const judged = survivors.map((survivor) => ({ ...survivor, reason: reasons[survivor.file]?.[mutationOf(survivor)] }));
  const outdated = Object.entries(reasons)
    .filter(([file]) => patterns.some((pattern) => file.startsWith(pattern.replace('**/*.ts', ''))))
    .flatMap(([file, given]) =>
      Object.keys(given)
        .filter((mutation) => !survivors.some((survivor) => survivor.file === file && mutationOf(survivor) === mutation))
        .map((mutation) => `${file}: ${mutation}`),
    );
  return { survivors: judged, outdated };
}

/** @param {Survivor} survivor */
function mutationOf({ before, after }) {
  return `${before} ⇒ ${after}`;
}

/**
 * Writes the section of each area into the docs.
 *
 * @param {readonly { area: string, counts: import('./mutant-results.mjs').Counts, survivors: readonly Judged[] }[]} results
 */
export async function writeSections(results) {
  let text = readFileSync(DOCUMENT, 'utf8');
  for (const { area, counts, survivors } of results) {
    const [start, end] = [`<!-- generated: ${area} -->`, `<!-- end: ${area} -->`];
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`${DOCUMENT} has no place for ${area}: ${start} … ${end}`);
    text = `${text.slice(0, from)}${start}\n\n${sectionOf(counts, survivors)}\n\n${text.slice(to)}`;
  }
  const settings = await prettier.resolveConfig(DOCUMENT);
  writeFileSync(DOCUMENT, await prettier.format(text, { ...settings, parser: 'markdown' }));
}

/**
 * @param {import('./mutant-results.mjs').Counts} counts
 * @param {readonly Judged[]} survivors
 */
function sectionOf(counts, survivors) {
  const { killed, timeout, survived, noCoverage } = counts;
  const head = `${String(scoreOf(counts))} % killed: ${String(killed)} by a failing test, ${String(timeout)} by a time limit; ${String(survived + noCoverage)} survive.`;
  const items = survivors.map(({ file, line, before, after, reason }) =>
    [`- \`${file}:${String(line)}\` ${reason ?? '**no reason given yet**'}`, `  - ${code(before)}`, `  - ${code(after)}`].join('\n'),
  );
  return [head, ...items].join('\n\n');
}

/** @param {string} text */
function code(text) {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}
