// How tests run. Everything a test may rely on stands here: `#bot` is the source and never the last build, in the test
// files, in worker threads and in forked processes alike.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * They also become `--conditions` of the test process and of what it forks, so no more than this: with `import` among them
 * a CommonJS package would get the ES module of its own dependency.
 */
const conditions = ['development', 'node'];

const NO_TESTS = ['**/node_modules/**', 'dist/**', 'cache/**', 'coverage/**', 'demo-output/**'];
const MODULE_TESTS = ['test/unit/**/*.test.ts'];

/** Whole minutes each: begun last, one of them would keep a single core busy while the others wait. */
const LONGEST = ['readme.test.ts', 'dockerfile.test.ts', 'shutdown.test.ts', 'chaos.test.ts', 'exchanges.test.ts'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((name) => moduleId.endsWith(`/${name}`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: 'forks',
    // All cores: by default one is left idle, which on two is half of the machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    // Two noisy cores: generous enough that only a hang fails, and no test waits for the clock on purpose.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    // A passing test says nothing; what it printed is shown when it fails.
    silent: 'passed-only',
    projects: [
      // Their modules keep no state of their own between tests, so a process loads them once for all files it runs: a
      // third of the time of these tests was loading.
      { extends: true, test: { name: 'modules', include: MODULE_TESTS, isolate: false } },
      // Everything else has a process of its own. Whoever puts bots into a folder of their own finds their tests run, too.
      { extends: true, test: { name: 'whole', include: ['**/*.test.ts'], exclude: [...NO_TESTS, ...MODULE_TESTS] } },
    ],
    coverage: { provider: 'v8', include: ['src/**', 'bots/**'], exclude: ['src/contract/gen/**', '**/*.test.ts'] },
  },
});
