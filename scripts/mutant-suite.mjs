// A small stand-in for the describe/it/hooks of the ordinary test runner, so that one process can run chosen tests again
// and again without loading anything anew: a mutant then costs milliseconds instead of seconds. Assertions are the ordinary
// ones. mutant-loader.mjs gives it to the tests in place of the ordinary runner.
import { performance } from 'node:perf_hooks';
import { format } from 'node:util';

export { expect } from 'vitest';

/**
 * @typedef {() => unknown} Step
 * @typedef {{ id: string, file: string, name: string, body: Step }} Test
 * @typedef {{ name: string, parent: Suite | undefined, children: (Suite | Test)[], beforeAll: Step[], beforeEach: Step[], afterEach: Step[], afterAll: Step[] }} Suite
 * @typedef {{ test: Test, error: unknown, ms: number }} Outcome
 */

/**
 * A test during which the process had nothing to do for this long beyond five times the usual time waits for something that
 * will not come, ms. Time without work is counted, not time: a busy machine gives a process less of its own.
 */
const IDLE_MS = 1000;
/** The longest a test may take beyond five times its usual time, work included, ms. */
const PATIENCE_MS = 20_000;
/** How often is looked, ms. */
const LOOK_MS = 100;
/** Taken for the usual time of a test that has not run yet, ms: enough for a busy machine. */
const UNKNOWN_MS = 5000;

/** A test or hook was ended because it took too long. */
export class TimeLimit extends Error {}

/** @type {Map<string, Suite>} */
const files = new Map();
/** @type {Set<string>} */
const ids = new Set();
/** @type {Suite} */
let current = newSuite('', undefined);
let currentFile = '';
/** @type {Step[]} */
let finishing = [];
/** How long each test took when it last passed, ms. @type {Map<string, number>} */
const usualMs = new Map();

/**
 * Collects the tests of a file.
 *
 * @param {string} file - how its tests are named in the results
 * @param {() => Promise<unknown>} load
 */
export async function collect(file, load) {
  current = newSuite(file, undefined);
  currentFile = file;
  files.set(file, current);
  await load();
}

/** Forgets everything that was collected. */
export function forget() {
  files.clear();
  ids.clear();
}

/** @returns {Test[]} all tests that were collected */
export function tests() {
  return [...files.values()].flatMap(testsIn);
}

/**
 * Runs the wanted tests of a file with all their hooks, until the first failure.
 *
 * @param {string} file
 * @param {(test: Test) => boolean} isWanted
 * @param {{ begins: (test: Test) => void, ended: (outcome: Outcome) => void }} watch
 * @param {number} patience - how many times the ordinary time limits are allowed
 * @returns {Promise<Outcome | undefined>} the failure
 */
export async function runFile(file, isWanted, watch, patience) {
  const suite = files.get(file);
  return suite === undefined ? undefined : runSuite(suite, isWanted, watch, patience);
}

/** @type {typeof runFile extends (file: string, ...rest: infer Rest) => infer Result ? (suite: Suite, ...rest: Rest) => Result : never} */
async function runSuite(suite, isWanted, watch, patience) {
  const wanted = testsIn(suite).filter(isWanted);
  const [first] = wanted;
  if (first === undefined) return undefined;
  /** @type {Outcome | undefined} */
  let failure;
  /** @param {readonly Step[]} steps */
  const attempt = async (steps) => {
    for (const step of steps) {
      try {
        const cleanUp = await inTime('Hook', step, 5 * IDLE_MS, patience);
        if (typeof cleanUp === 'function') suite.afterAll.push(/** @type {Step} */ (cleanUp));
      } catch (error) {
        failure ??= { test: first, error, ms: 0 };
      }
    }
  };
  await attempt(suite.beforeAll);
  for (const child of suite.children) {
    if (failure !== undefined) break;
    if ('children' in child) failure = await runSuite(child, isWanted, watch, patience);
    else if (isWanted(child)) failure = await runTest(child, suite, watch, patience);
  }
  await attempt(suite.afterAll);
  return failure;
}

/**
 * @param {Test} test
 * @param {Suite} suite
 * @param {Parameters<typeof runFile>[2]} watch
 * @param {number} patience
 * @returns {Promise<Outcome | undefined>} the failure
 */
async function runTest(test, suite, watch, patience) {
  watch.begins(test);
  const startedMs = performance.now();
  /** @type {unknown[]} */
  const errors = [];
  /** @param {Step} step */
  const attempt = async (step) => {
    try {
      await inTime('Test', step, 5 * (usualMs.get(test.id) ?? UNKNOWN_MS), patience);
    } catch (error) {
      errors.push(error ?? new Error('thrown without an error'));
    }
  };
  finishing = [];
  const line = lineOf(suite);
  for (const { beforeEach } of line) for (const step of beforeEach) if (errors.length === 0) await attempt(step);
  if (errors.length === 0) await attempt(test.body);
  for (const { afterEach } of line.toReversed()) for (const step of afterEach.toReversed()) await attempt(step);
  for (const step of finishing.toReversed()) await attempt(step);
  const outcome = { test, error: errors[0], ms: performance.now() - startedMs };
  if (errors.length === 0) usualMs.set(test.id, outcome.ms);
  watch.ended(outcome);
  return errors.length === 0 ? undefined : outcome;
}

/**
 * @param {string} what
 * @param {Step} step
 * @param {number} usualMs - what it may take without being suspected, ms
 * @param {number} patience - how many times the limits are allowed
 */
async function inTime(what, step, usualMs, patience) {
  const startedMs = performance.now();
  const before = performance.eventLoopUtilization();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setInterval(() => {
      const { idle } = performance.eventLoopUtilization(before);
      const isIdle = idle > (IDLE_MS + usualMs) * patience;
      if (isIdle || performance.now() - startedMs > (PATIENCE_MS + usualMs) * patience) reject(new TimeLimit(`${what} timed out`));
    }, LOOK_MS);
  });
  try {
    return await Promise.race([step(), limit]);
  } finally {
    clearInterval(timer);
  }
}

/** @param {Suite} suite @returns {Suite[]} the suite and what it lies in, outermost first */
function lineOf(suite) {
  return suite.parent === undefined ? [suite] : [...lineOf(suite.parent), suite];
}

/** @param {Suite} suite @returns {Test[]} */
function testsIn(suite) {
  return suite.children.flatMap((child) => ('children' in child ? testsIn(child) : [child]));
}

/** @param {string} name @param {Suite | undefined} parent @returns {Suite} */
function newSuite(name, parent) {
  return { name, parent, children: [], beforeAll: [], beforeEach: [], afterEach: [], afterAll: [] };
}

/** @param {string} name @param {Step} body */
export function describe(name, body) {
  const suite = newSuite(name, current);
  current.children.push(suite);
  current = suite;
  body();
  current = suite.parent ?? suite;
}
describe.each = eachWith(describe);

/** @param {string} name @param {Step} body */
export function it(name, body) {
  const path = lineOf(current)
    .slice(1)
    .map((suite) => suite.name);
  const full = [...path, name].join(' ');
  let id = `${currentFile}#${full}`;
  // Rows of a table may have one title.
  for (let copy = 2; ids.has(id); copy++) id = `${currentFile}#${full} (${String(copy)})`;
  ids.add(id);
  current.children.push({ id, file: currentFile, name: full, body });
}
it.each = eachWith(it);

/** @param {(name: string, body: Step) => void} register */
function eachWith(register) {
  return (/** @type {readonly unknown[]} */ rows) => (/** @type {string} */ name, /** @type {(...row: unknown[]) => unknown} */ body) => {
    for (const row of rows) {
      const given = Array.isArray(row) ? row : [row];
      register(titleOf(name, row, given), () => body(...given));
    }
  };
}

/** @param {string} name @param {unknown} row @param {readonly unknown[]} given */
function titleOf(name, row, given) {
  if (typeof row === 'object' && row !== null && !Array.isArray(row))
    return name.replaceAll(/\$(\w+)/gu, (_, member) => String(Reflect.get(row, member)));
  return format(name, ...given.slice(0, name.match(/%[a-z]/gu)?.length ?? 0));
}

/** @param {Step} step */
export function beforeAll(step) {
  current.beforeAll.push(step);
}

/** @param {Step} step */
export function beforeEach(step) {
  current.beforeEach.push(step);
}

/** @param {Step} step */
export function afterEach(step) {
  current.afterEach.push(step);
}

/** @param {Step} step */
export function afterAll(step) {
  current.afterAll.push(step);
}

/** @param {Step} step */
export function onTestFinished(step) {
  finishing.push(step);
}
