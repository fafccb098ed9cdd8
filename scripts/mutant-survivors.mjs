// Why mutants may survive: joins the survivors of a run with the reasons people gave. A
// reason belongs to a file and a mutation, not to a line number, so that it survives edits elsewhere in the file.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const REASONS_FILE = 'scripts/mutant-reasons.json';

/** File → mutation (`before ⇒ after`) → reason. */
const REASONS = z.record(z.string(), z.record(z.string(), z.string().min(1)));

/**
 * @typedef {import('./mutant-results.mjs').Survivor} Survivor
 * @typedef {Survivor & { reason: string | undefined }} Explained
 */

/**
 * @param {readonly string[]} patterns - the files of the area
 * @param {readonly Survivor[]} survivors
 * @returns {{ survivors: Explained[], outdated: string[] }} `outdated` are reasons that no survivor needs
 */
export function addReasons(patterns, survivors) {
  const reasons = REASONS.parse(JSON.parse(readFileSync(REASONS_FILE, 'utf8')));
  const explained = survivors.map((survivor) => ({ ...survivor, reason: reasons[survivor.file]?.[mutationOf(survivor)] }));
  const outdated = Object.entries(reasons)
    .filter(([file]) => patterns.some((pattern) => file.startsWith(pattern.replace('**/*.ts', ''))))
    .flatMap(([file, given]) =>
      Object.keys(given)
        .filter((mutation) => !survivors.some((survivor) => survivor.file === file && mutationOf(survivor) === mutation))
        .map((mutation) => `${file}: ${mutation}`),
    );
  return { survivors: explained, outdated };
}

/** @param {Survivor} survivor */
function mutationOf({ before, after }) {
  return `${before} ⇒ ${after}`;
}
