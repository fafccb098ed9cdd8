// How mutants are made and tested; `npm run mutants` starts it, once for each area. docs/mutants.md explains the choices.
import { AREAS, areaOfEnvironment, STATE_FOLDER } from './scripts/mutant-areas.mjs';

const area = areaOfEnvironment();

/** @type {ConstructorParameters<typeof import('@stryker-mutator/core').Stryker>[0]} */
export default {
  // The runner is named on the command line (scripts/mutants.mjs).
  plugins: ['./scripts/mutant-runner.mjs', './scripts/mutant-texts.mjs'],
  testRunnerNodeArgs: ['--conditions=@parley/source'],
  mutate: [...AREAS[area].mutate],
  ignorers: ['texts'],
  coverageAnalysis: 'perTest',
  incremental: true,
  incrementalFile: `${STATE_FOLDER}/${area}.incremental.json`,
  // A copy of the tree, so that nobody's files change under their hands.
  tempDirName: `${STATE_FOLDER}/sandbox-${area}`,
  ignorePatterns: ['/cache', '/coverage', '/demo-output', '/dist', '/docs'],
  // A test that waits in vain is ended by the runner, and an endless loop is seen by its number of rounds: this only ends
  // what neither of them does, and must not take a busy machine for a mutant that hangs.
  timeoutMS: 30_000,
  timeoutFactor: 4,
  dryRunTimeoutMinutes: 10,
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: `${STATE_FOLDER}/${area}.report.json` },
  allowConsoleColors: false,
  checkers: [],
  disableTypeChecks: false,
};
