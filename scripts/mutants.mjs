// `npm run mutants`: changes the code in small ways and sees whether the tests notice. Which files and which tests stands
// in mutant-areas.mjs, how they run in stryker.config.mjs, what is left out in mutant-texts.mjs.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AREA_NAMES, AREA_VARIABLE, AREAS, STATE_FOLDER } from './mutant-areas.mjs';
import { readReport, scoreOf, sumOf, withoutSurvivors } from './mutant-results.mjs';
import { addReasons } from './mutant-survivors.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const LEAST_PERCENT = 90;

const HELP = `Changes the code in small ways ("mutants") and sees whether the unit tests notice.

  npm run mutants                                all areas: ${AREA_NAMES.join(', ')}
  npm run mutants -- auth                        one area
  npm run mutants -- auth --files src/auth/nonces.ts
                                                 only these files; the results of the others are kept
  npm run mutants -- auth --last                 what the last run has found, without testing again
  npm run mutants -- --full                      tests all of them anew
  npm run mutants -- --concurrency 1             how many test processes at once; default 2

Unchanged mutants that were killed keep that result from the run before (${STATE_FOLDER}/). Survivors are listed on stdout as file:line with
what the mutant made of it; progress goes to stderr. The last line of stdout is JSON:
{"ok","killed","survived","timeout","noCoverage","score","byFolder"}. Exit code 0 when at least ${String(LEAST_PERCENT)} % were killed in
every area (a mutant that hangs the tests counts as killed), 1 when not, 2 when it could not be found out.
`;

/** @typedef {import('./mutant-areas.mjs').Area} Area */

process.exitCode = await main();

/** @returns {Promise<number>} the exit code */
async function main() {
  const options = readArguments();
  if (typeof options === 'number') return options;
  process.chdir(ROOT);
  mkdirSync(STATE_FOLDER, { recursive: true });
  for (const area of options.last ? [] : options.areas) {
    process.stderr.write(`mutants of ${area}\n`);
    forgetSurvivors(`${STATE_FOLDER}/${area}.incremental.json`, options.files?.split(','));
    const code = await run(area, options);
    if (code !== 0) return complain(`the mutants of ${area} could not be tested (exit code ${String(code)}); see above`);
  }
  const missing = options.areas.find((area) => !existsSync(reportOf(area)));
  if (missing !== undefined) return complain(`there is no earlier run of ${missing}`);

  const results = options.areas.map((area) => {
    const { counts, survivors, slow } = readReport(JSON.parse(readFileSync(reportOf(area), 'utf8')));
    return { area, counts, slow, ...addReasons(AREAS[area].mutate, survivors) };
  });
  for (const result of results) print(result);

  const total = sumOf(results.map(({ counts }) => counts));
  const byFolder = Object.fromEntries(results.map(({ area, counts }) => [area, { ...counts, score: scoreOf(counts) }]));
  const ok = results.every(({ counts }) => scoreOf(counts) >= LEAST_PERCENT);
  process.stdout.write(`${JSON.stringify({ ok, ...total, score: scoreOf(total), byFolder })}\n`);
  return ok ? 0 : 1;
}

/** @returns {number | { areas: readonly Area[], files: string | undefined, last: boolean, full: boolean, concurrency: number }} */
function readArguments() {
  const { values, positionals } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      last: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      files: { type: 'string' },
      concurrency: { type: 'string', default: '2' },
    },
    allowPositionals: true,
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const foreign = positionals.filter((name) => !AREA_NAMES.some((area) => area === name));
  if (foreign.length > 0) return complain(`there is no area ${foreign.join(', ')}; the areas are ${AREA_NAMES.join(', ')}`);
  const concurrency = Number(values.concurrency);
  if (!Number.isInteger(concurrency) || concurrency < 1) return complain('--concurrency wants a number from 1');
  const { last, full, files } = values;
  const areas = AREA_NAMES.filter((area) => positionals.length === 0 || positionals.includes(area));
  if (files !== undefined && areas.length !== 1) return complain('--files wants one area');
  return { areas, files, last, full, concurrency };
}

/**
 * What survived is tested again each time: a new test need not have been near it before.
 *
 * @param {string} kept - the file of the tester
 * @param {readonly string[] | undefined} files - only of these
 */
function forgetSurvivors(kept, files) {
  if (existsSync(kept)) writeFileSync(kept, JSON.stringify(withoutSurvivors(JSON.parse(readFileSync(kept, 'utf8')), files)));
}

/**
 * Tests the mutants of one area, at low priority.
 *
 * @param {Area} area
 * @param {{ files: string | undefined, full: boolean, concurrency: number }} options
 * @returns {Promise<number>} the exit code of the tester
 */
function run(area, { files, full, concurrency }) {
  const only = files === undefined ? [] : ['--mutate', files];
  const choices = ['--testRunner', 'in-one-process', '--concurrency', String(concurrency), ...only, ...(full ? ['--force'] : [])];
  const child = spawn(
    process.execPath,
    ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', 'stryker.config.mjs', ...choices],
    // What it prints is progress; a program may read our stdout.
    { stdio: ['ignore', 2, 2], env: { ...process.env, [AREA_VARIABLE]: area } },
  );
  if (child.pid !== undefined) setPriority(child.pid, Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      resolve(code ?? 1);
    });
  });
}

/** @param {{ area: Area, counts: import('./mutant-results.mjs').Counts, slow: readonly string[], survivors: readonly import('./mutant-survivors.mjs').Explained[], outdated: readonly string[] }} result */
function print({ area, counts, slow, survivors, outdated }) {
  const lines = [`${area}: ${String(scoreOf(counts))} % killed, ${String(survivors.length)} survivors`];
  for (const { file, line, column, kind, before, after, covered, reason } of survivors) {
    lines.push(
      `  ${file}:${String(line)}:${String(column)} ${kind}${covered ? '' : ' (no test comes here)'}`,
      `    - ${before}`,
      `    + ${after}`,
    );
    if (reason !== undefined) lines.push(`    = ${reason}`);
  }
  if (slow.length > 0) lines.push(`  ended by a time limit: ${slow.join(', ')}`);
  for (const mutation of outdated) lines.push(`  a reason is no longer needed: ${mutation}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** @param {Area} area */
function reportOf(area) {
  return `${STATE_FOLDER}/${area}.report.json`;
}

/** @param {string} problem */
function complain(problem) {
  process.stderr.write(`${problem}\n`);
  return 2;
}
