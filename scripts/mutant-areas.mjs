// Which files `npm run mutants` changes, and which tests must notice.

/** What the runs keep: results of the last run, and the copy of the tree while one is under way. */
export const STATE_FOLDER = 'cache/mutants';

/** Names the area for the processes of a run. */
export const AREA_VARIABLE = 'PARLEY_MUTANTS_AREA';

/**
 * Tests that find mutants only by chance (random inputs) or slowly (whole servers) are left out: they would make the
 * figure differ from run to run.
 */
export const AREAS = /** @type {const} */ ({
  auth: { mutate: ['src/auth/**/*.ts'], tests: ['test/unit/auth/**/*.test.ts'], leftOut: ['test/unit/auth/token-mutations.test.ts'] },
  endpointer: { mutate: ['src/speech/endpointer.ts'], tests: ['test/unit/speech/endpointer*.test.ts'], leftOut: [] },
  session: { mutate: ['src/session/**/*.ts'], tests: ['test/unit/session/**/*.test.ts'], leftOut: [] },
});

/** @typedef {keyof typeof AREAS} Area */

/** @type {readonly Area[]} */
// Object.keys of a literal has exactly its keys.
export const AREA_NAMES = /** @type {Area[]} */ (Object.keys(AREAS));

/** @returns {Area} the area this process works for; the first one when nobody said so, for tools that only read the settings */
export function areaOfEnvironment() {
  const asked = process.env[AREA_VARIABLE];
  return AREA_NAMES.find((name) => name === asked) ?? 'auth';
}
