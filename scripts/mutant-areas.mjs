// Which files `npm run mutants` changes, and which tests must notice.

/** What the runs keep: results of the last run, and the copy of the tree while one is under way. */
export const STATE_FOLDER = 'cache/mutants';

/** Names the area for the processes of a run. */
export const AREA_VARIABLE = 'PARLEY_MUTANTS_AREA';

/**
 * Tests with random inputs are left out: what they find by chance would make the figure differ from run to run.
 */
export const AREAS = /** @type {const} */ ({
  auth: { mutate: ['src/auth/**/*.ts'], folder: 'test/unit/auth', named: /\.test\.ts$/u, leftOut: /^token-mutations\./u },
  endpointer: {
    mutate: ['src/speech/endpointer.ts'],
    folder: 'test/unit/speech',
    named: /^endpointer.*\.test\.ts$/u,
    leftOut: /-properties\./u,
  },
  session: { mutate: ['src/session/**/*.ts'], folder: 'test/unit/session', named: /\.test\.ts$/u, leftOut: /-properties\./u },
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
