// Runs the tests of one area against its mutants inside one process, for the mutation tester. The files are loaded once and
// mutants are switched on by a variable; only for those that act while a file is loaded is everything loaded anew.
import crypto from 'node:crypto';
import { readdirSync } from 'node:fs';
import { register, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { AREAS, areaOfEnvironment } from './mutant-areas.mjs';
import { collect, forget, runFile, tests, TimeLimit } from './mutant-suite.mjs';

/**
 * What the tester's changes to the source read and write.
 *
 * @typedef {{ activeMutant?: string | undefined, currentTestId?: string | undefined, hitCount?: number | undefined, hitLimit?: number | undefined, mutantCoverage?: unknown }} Switches
 * @typedef {{ activeMutant: { id: string }, testFilter?: readonly string[], hitLimit?: number, mutantActivation: 'static' | 'runtime', reloadEnvironment: boolean }} MutantRun
 * @typedef {import('./mutant-suite.mjs').Test} Test
 * @typedef {import('./mutant-suite.mjs').Outcome} Outcome
 */

/** @type {Switches} */
const switches = {};
Reflect.set(globalThis, '__stryker__', switches);

class MutantRunner {
  /** @type {readonly string[]} */
  static inject = [];
  #generation = 0;
  /** @type {Map<string, number>} what the tests of a file cost, ms */
  #costs = new Map();
  /** The file that noticed the last mutant: mutants come in the order of the source, so it is likely to notice the next. */
  #luckyFile = '';
  /** Whether something has run here that a new process would not have. */
  #isFresh = true;
  #isSpoiled = false;
  /** @type {unknown[]} errors outside of any test */
  #strays = [];

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    register('./mutant-loader.mjs', import.meta.url);
    reuseKeys(() => this.#generation);
    const note = (/** @type {unknown} */ error) => this.#strays.push(error);
    process.on('unhandledRejection', note);
    process.on('uncaughtException', note);
    await this.#load();
  }

  async dryRun() {
    /** @type {object[]} */
    const results = [];
    const failure = await this.#run(() => true, {
      begins: ({ id }) => (switches.currentTestId = id),
      ended: ({ test, error, ms }) => {
        switches.currentTestId = undefined;
        this.#costs.set(test.file, (this.#costs.get(test.file) ?? 0) + ms);
        const result = { id: test.id, name: test.name, fileName: path.resolve(test.file), timeSpentMs: Math.ceil(ms) };
        results.push(error === undefined ? { ...result, status: 0 } : { ...result, status: 1, failureMessage: messageOf(error) });
      },
    });
    if (failure !== undefined && failure.test === undefined) return { status: 'error', errorMessage: messageOf(failure.error) };
    return { status: 'complete', tests: results, mutantCoverage: switches.mutantCoverage };
  }

  /** @param {MutantRun} options */
  async mutantRun({ activeMutant, testFilter, hitLimit, mutantActivation, reloadEnvironment }) {
    // The tester starts a new process and tries again.
    if (this.#isSpoiled) throw new Error('an earlier mutant has left something behind');
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    Object.assign(switches, { activeMutant: undefined, hitCount: undefined, hitLimit });
    if (mutantActivation === 'static') switches.activeMutant = activeMutant.id;
    try {
      if (reloadEnvironment) await this.#load();
    } catch (error) {
      return { status: 'killed', killedBy: [tests()[0]?.id ?? ''], failureMessage: messageOf(error), nrOfTests: 0 };
    }
    Object.assign(switches, { activeMutant: activeMutant.id, hitCount: 0 });
    let count = 0;
    const wanted = testFilter === undefined ? undefined : new Set(testFilter);
    const failure = await this.#surelyFails(
      ({ id }) => wanted?.has(id) ?? true,
      () => (count += 1),
    );
    const hits = switches.hitCount ?? 0;
    Object.assign(switches, { activeMutant: undefined, hitCount: undefined });
    if (hitLimit !== undefined && hits > hitLimit) return { status: 'timeout', reason: `the mutant was reached ${String(hits)} times` };
    if (failure === undefined) return { status: 'survived', nrOfTests: count };
    const { test } = failure;
    // Noticed only if the test passes again as soon as the mutant is gone; a static one is loaded and cannot go.
    if (mutantActivation === 'runtime' && test !== undefined)
      this.#isSpoiled = (await this.#run(({ id }) => id === test.id))?.test !== undefined;
    if (this.#isSpoiled && !isFresh) throw new Error('an earlier mutant has left something behind');
    this.#luckyFile = test?.file ?? '';
    return { status: 'killed', killedBy: [test?.id ?? tests()[0]?.id ?? ''], failureMessage: messageOf(failure.error), nrOfTests: count };
  }

  /**
   * The first failure. One by a time limit counts only if the test fails with twice the time, too.
   *
   * @param {(test: Test) => boolean} isWanted
   * @param {(test: Test) => void} begins
   */
  async #surelyFails(isWanted, begins) {
    const watch = { begins, ended: () => undefined };
    const late = new Set();
    for (;;) {
      const failure = await this.#run((test) => isWanted(test) && !late.has(test.id), watch);
      if (failure?.test === undefined || !(failure.error instanceof TimeLimit)) return failure;
      const { id } = failure.test;
      switches.hitCount = 0;
      const again = await this.#run((test) => test.id === id, watch, 2);
      if (again !== undefined) return again;
      late.add(id);
    }
  }

  dispose() {
    return Promise.resolve();
  }

  async #load() {
    const { folder, named, leftOut } = AREAS[areaOfEnvironment()];
    const names = readdirSync(folder, { encoding: 'utf8', recursive: true });
    forget();
    this.#generation += 1;
    for (const name of names.filter((file) => named.test(file) && !leftOut.test(file)).sort()) {
      const file = path.posix.join(folder, name);
      const url = pathToFileURL(file);
      url.searchParams.set('generation', String(this.#generation));
      await collect(file, () => import(url.href));
    }
  }

  /**
   * Runs the wanted tests until the first failure, those most likely to fail soon first.
   *
   * @param {(test: Test) => boolean} isWanted
   * @param {Parameters<typeof runFile>[2]} watch
   * @param {number} patience
   * @returns {Promise<{ test: Test | undefined, error: unknown } | undefined>} the failure; without a test when it was outside of any
   */
  async #run(isWanted, watch = { begins: () => undefined, ended: () => undefined }, patience = 1) {
    await turn();
    this.#strays = [];
    const cost = (/** @type {string} */ file) => (file === this.#luckyFile ? -1 : (this.#costs.get(file) ?? 0));
    const files = [
      ...new Set(
        tests()
          .filter(isWanted)
          .map(({ file }) => file),
      ),
    ].sort((a, b) => cost(a) - cost(b));
    for (const file of files) {
      const failure = await runFile(file, isWanted, watch, patience);
      if (failure !== undefined) return failure;
    }
    // Rejections nobody handles are reported a turn later.
    await turn();
    await turn();
    return this.#strays.length === 0 ? undefined : { test: undefined, error: this.#strays[0] };
  }
}

/**
 * Most of what loading the tests costs is making their RSA keys, so each generation gets the keys of the one before it.
 *
 * @param {() => number} generation
 */
function reuseKeys(generation) {
  const make = crypto.generateKeyPairSync;
  /** @type {Map<string, unknown[]>} */
  const made = new Map();
  /** @type {Map<string, number>} */
  const taken = new Map();
  const reuse = (/** @type {Parameters<typeof make>} */ ...args) => {
    const kind = JSON.stringify(args);
    const place = `${String(generation())} ${kind}`;
    const keys = made.get(kind) ?? [];
    const index = taken.get(place) ?? 0;
    made.set(kind, keys);
    taken.set(place, index + 1);
    return (keys[index] ??= make(...args));
  };
  Object.assign(crypto, { generateKeyPairSync: reuse });
  syncBuiltinESMExports();
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'in-one-process', injectableClass: MutantRunner }];
