// `npm run check`: everything CI runs, in one command. Runs all steps even after one failed, so that one run shows
// everything there is to mend; the closing line counts steps and tests.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { CHECKS, commandList, runCommand } from './commands.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const GENERATED = [
  'src/contract/gen',
  'docs/bot-api.md',
  'docs/public-types.txt',
  'docs/scenario.schema.json',
  'deploy/grafana',
  'deploy/prometheus-operator',
];
/** Longer than the slowest step on a slow machine: only a step that hangs is ended by it. */
const STEP_LIMIT_MS = 14 * 60_000;

/** Steps that run at once: one uses a core. */
const LANES = Math.min(2, availableParallelism());

const HELP = `Runs everything CI runs: generate, test, lint, format, types, layers, unused.

  npm run check                     all of it
  npm run check -- lint types       only these steps
  npm run check -- --json           the result as JSON on stdout, progress on stderr

Others take longer or need a quiet machine, and are no part of all of it. Each has a --help of its own:

${commandList(CHECKS, 'check')}
The closing line is "N passed, N failed". Every step counts one and every test counts one; the step "test" itself counts
only when it breaks for another reason than a failed test. Skipped tests are listed with their reason and count as neither;
a test that is skipped without a reason has failed. The exit code is 1 when anything failed.
`;

/**
 * @typedef {{ passed: number, failed: number, output: string, summary?: string, skipped?: { test: string, reason: string }[] }} Outcome
 * @typedef {{ name: string, failed: number, seconds: number, summary: string, skipped: { test: string, reason: string }[] }} StepResult
 * @typedef {{ name: string, mend: string, run: () => Promise<Outcome>, isAlone?: boolean }} Step - isAlone: it changes files that
 * others read
 */

/** @type {readonly Step[]} */
const STEPS = [
  { name: 'generate', mend: 'commit what `npm run generate` writes', run: generate, isAlone: true },
  // The longest first: the others run beside it. Tests hold on a machine that is busy with other things. Those of the image and of the
  // package also build.
  { name: 'test', mend: 'npm test', run: tests },
  { name: 'lint', mend: 'npm run lint', run: () => script('lint') },
  { name: 'format', mend: 'npm run format', run: () => tool('oxfmt', '--check', '.') },
  { name: 'types', mend: 'npm run types', run: () => script('types') },
  {
    name: 'layers',
    mend: 'npm run check -- layers',
    run: () => tool('depcruise', 'src', 'bots', 'console', '--config', 'dependency-cruiser.config.mjs'),
  },
  { name: 'unused', mend: 'npm run check -- unused', run: () => tool('knip') },
];

const named = CHECKS[process.argv[2] ?? ''];
const { values, positionals } = parseArgs({
  // What is behind the name of a check is its own.
  args: process.argv.slice(2, named === undefined ? undefined : 2),
  options: { help: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
  allowPositionals: true,
});
/** Progress goes where it does not disturb: a program reads stdout when it asked for JSON. */
const progress = values.json ? process.stderr : process.stdout;
const colored = progress.isTTY && process.env['NO_COLOR'] === undefined;

if (named !== undefined) runCommand(named, process.argv.slice(3));
else if (values.help) process.stdout.write(HELP);
else await check(positionals);

/** @param {readonly string[]} wanted - names of steps; none means all */
async function check(wanted) {
  const foreign = wanted.filter((name) => !STEPS.some((step) => step.name === name));
  if (foreign.length > 0) {
    process.stderr.write(`there is no step or check ${foreign.join(', ')}\n\n${HELP}`);
    process.exitCode = 2;
    return;
  }
  const steps = STEPS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));

  /** @type {(StepResult & { passed: number })[]} */
  const results = [];
  let begun = 0;
  /** @param {Step} step */
  const runOne = async ({ name, mend, run }) => {
    begun += 1;
    progress.write(`[${String(begun)}/${String(steps.length)}] ${name} …\n`);
    const startedMs = performance.now();
    const outcome = await run();
    const seconds = (performance.now() - startedMs) / 1000;
    if (outcome.failed > 0) progress.write(`${outcome.output.trimEnd()}\n${paint('red', `${name} failed`)}; to mend: ${mend}\n`);
    const summary = outcome.summary ?? (outcome.failed > 0 ? 'failed' : 'passed');
    results.push({ name, passed: outcome.passed, failed: outcome.failed, seconds, summary, skipped: outcome.skipped ?? [] });
  };
  for (const batch of batchesOf(steps)) {
    const waiting = [...batch];
    const lane = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await runOne(next);
    };
    await Promise.all(Array.from({ length: Math.min(LANES, batch.length) }, lane));
  }
  const order = steps.map(({ name }) => name);
  results.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  if (values.json)
    process.stdout.write(`${JSON.stringify({ passed, failed, steps: results.map(({ passed: _, ...step }) => step) }, undefined, 2)}\n`);
  else printTable(results, passed, failed);
  process.exitCode = failed > 0 ? 1 : 0;
}

/**
 * Steps that may run beside each other, in order.
 *
 * @param {readonly Step[]} steps
 */
function batchesOf(steps) {
  /** @type {Step[][]} */
  const batches = [];
  let isOpen = false;
  for (const step of steps) {
    if (isOpen && step.isAlone !== true) batches.at(-1)?.push(step);
    else batches.push([step]);
    isOpen = step.isAlone !== true;
  }
  return batches;
}

/**
 * @param {readonly StepResult[]} results
 * @param {number} passed
 * @param {number} failed
 */
function printTable(results, passed, failed) {
  progress.write('\n');
  for (const { name, failed: bad, seconds, summary } of results) {
    const time = `${seconds.toFixed(1)} s`.padStart(8);
    progress.write(`${paint(bad > 0 ? 'red' : 'green', bad > 0 ? '✗' : '✓')} ${name.padEnd(10)}${time}  ${summary}\n`);
  }
  const skipped = results.flatMap((result) => result.skipped);
  if (skipped.length > 0) progress.write(`\n${String(skipped.length)} tests were skipped:\n`);
  for (const { test, reason } of skipped) progress.write(`  ${test}\n    ${reason}\n`);
  progress.write(`\n${String(passed)} passed, ${String(failed)} failed\n`);
}

/** Generated files are committed: generating them again must change nothing. */
async function generate() {
  const before = hashesOf(GENERATED);
  const outcome = await script('generate');
  const after = hashesOf(GENERATED);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((file) => before.get(file) !== after.get(file));
  if (outcome.failed > 0 || changed.length === 0) return outcome;
  return failedStep(`These files are not what they are made of; they were written anew:\n${changed.map((file) => `  ${file}`).join('\n')}`);
}

/** @param {readonly string[]} places - folders and files */
function hashesOf(places) {
  const files = places.map((place) => path.join(ROOT, place)).flatMap(filesUnder);
  return new Map(files.map((file) => [path.relative(ROOT, file), createHash('sha256').update(readFileSync(file)).digest('hex')]));
}

/** @param {string} place */
function filesUnder(place) {
  if (!existsSync(place)) return [];
  if (statSync(place).isFile()) return [place];
  const entries = readdirSync(place, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** The README's own test command, with a second reporter that counts. */
async function tests() {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-check-'));
  try {
    const file = path.join(folder, 'tests.json');
    const reporters = ['--reporter=default', `--reporter=${path.join(ROOT, 'scripts/test-report.mjs')}`];
    const run = await script('test', ['--allowOnly=false', ...reporters], { live: true, env: { TEST_REPORT_FILE: file } });
    return existsSync(file) ? outcomeOf(JSON.parse(readFileSync(file, 'utf8')), run) : failedStep('The test run broke off.');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {import('./test-report.mjs').TestReport} report
 * @param {Outcome} run
 * @returns {Outcome}
 */
function outcomeOf(report, run) {
  const unreasoned = report.skipped.filter(({ reason }) => reason === undefined).map(({ test }) => `${test} (skipped without a reason)`);
  const skipped = report.skipped.flatMap(({ test, reason }) => (reason === undefined ? [] : [{ test, reason }]));
  const bad = [...report.failed, ...unreasoned, ...report.problems];
  if (report.passed === 0) bad.push('no test ran');
  // Something vitest counts as a failure and this script does not know: it must not get lost.
  if (bad.length === 0 && run.failed > 0) bad.push('the test run ended with an error; its output stands above');
  const counts = [`${String(report.passed)} passed`, `${String(bad.length)} failed`, `${String(skipped.length)} skipped`];
  return {
    passed: report.passed,
    failed: bad.length,
    output: bad.map((line) => `  ${line}`).join('\n'),
    summary: counts.join(', '),
    skipped,
  };
}

/**
 * @param {string} name - an npm script of ours
 * @param {readonly string[]} [args]
 * @param {{ live?: boolean, env?: Record<string, string> }} [options]
 */
function script(name, args = [], options = {}) {
  return command('npm', ['run', '--silent', name, '--', ...args], options);
}

/**
 * @param {string} name - a program of a package
 * @param {readonly string[]} args
 */
function tool(name, ...args) {
  return command('node', ['scripts/with-packages.mjs', name, ...args]);
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ live?: boolean, env?: Record<string, string> }} [options] - live: show the output while it comes
 * @returns {Promise<Outcome>}
 */
function command(program, args, { live = false, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: STEP_LIMIT_MS,
      shell: process.platform === 'win32',
    });
    let output = '';
    const take = /** @param {Buffer} chunk */ (chunk) => {
      if (live) progress.write(chunk);
      else output += chunk.toString();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('error', (error) => {
      resolve(failedStep(`${program} could not be started: ${error.message}`));
    });
    child.once('close', (code, signal) => {
      if (code === 0) resolve({ passed: 1, failed: 0, output });
      else resolve(failedStep(signal === null ? output : `${output}\nended by ${signal}, or because it took too long`));
    });
  });
}

/**
 * @param {string} output
 * @returns {Outcome}
 */
function failedStep(output) {
  return { passed: 0, failed: 1, output };
}

/**
 * @param {'red' | 'green'} color
 * @param {string} text
 */
function paint(color, text) {
  return colored ? styleText(color, text) : text;
}
