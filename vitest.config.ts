// How tests run. Everything a test may rely on stands here: `parley-voice` is the source and never the last build, in the test
// files, in worker threads and in forked processes alike.
import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SHORT_LIFE } from './scripts/node-flags.mjs';

/**
 * They also become `--conditions` of the test process and of what it forks, so no more than this: with `import` among them
 * a CommonJS package would get the ES module of its own dependency.
 */
const conditions = ['@parley/source', 'node'];

const E2E = 'test/e2e/**/*.test.ts';
const SYSTEM = 'test/system/**/*.test.ts';
/** What callers may not hear, or only for so long: on a busy machine a server would take another one for dead, and a browser lose sound. */
const OUTAGES = ['home-*', 'softphone', 'store/redis/sentinels'].map((name) => `test/system/${name}.test.ts`);
/** The house itself: what its folders, documents and scripts must keep to, and random courses against a model. */
const RULES = ['test/rules/**/*.test.ts', 'test/model/**/*.test.ts', 'test/unit/scripts/**/*.test.ts'];
const NEVER = ['**/node_modules/**', 'dist/**', 'cache/**', 'coverage/**', 'demo-output/**'];

/** Files that take ten seconds and more, mostly of waiting, the longest first: begun last, they would leave the cores idle. */
const LONGEST = [
  'workers.test.ts',
  'shared-administration-processes.test.ts',
  'deploy-proxies.test.ts',
  'shared-administration-troubles.test.ts',
  'readme.test.ts',
  'dockerfile.test.ts',
  'console.test.ts',
  'shared-login.test.ts',
  'start-refused-by-store.test.ts',
  'load.test.ts',
  'package.test.ts',
  'chaos.test.ts',
  'shared-administration.test.ts',
  'doctor.test.ts',
  'day.test.ts',
  'restore.test.ts',
  'assistants.test.ts',
  'with-packages.test.ts',
  'websocket/reference.test.ts',
  'interrupted-fetch.test.ts',
  'shutdown.test.ts',
  'conformance/reference.test.ts',
  'exchanges.test.ts',
  'conformance-other-style.test.ts',
  'conformance-faults.test.ts',
  'call-page.test.ts',
  'dev.test.ts',
  'control.test.ts',
  'answer-parts.test.ts',
  'canary.test.ts',
  'renewal.test.ts',
  'apology-call.test.ts',
  'certificates.test.ts',
  'ws-bots.test.ts',
  'admin-orgs.test.ts',
  'administration.test.ts',
  'lost-turns.test.ts',
  'load-command.test.ts',
  'causes.test.ts',
  'ws-upgrade.test.ts',
  'ws-stop.test.ts',
  'traces.test.ts',
  'woken.test.ts',
  'slow-machine.test.ts',
  'failing-models.test.ts',
  'scenarios.test.ts',
  'bad-input-limits.test.ts',
  'admin-data-sources.test.ts',
  'late-apology.test.ts',
  'overload.test.ts',
  'conformance/command.test.ts',
  'softphone.test.ts',
  'sentinels.test.ts',
];

/** Files that wait run beside those that compute: the longest ones, evenly mixed with the others. */
class Mixed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => LONGEST.findIndex((name) => moduleId.endsWith(`/${name}`));
    const sorted = await super.sort(files);
    const waiting = sorted.filter((file) => placeOf(file) >= 0).toSorted((one, other) => placeOf(one) - placeOf(other));
    const computing = sorted.filter((file) => placeOf(file) < 0);
    const started = computing.filter(({ project }) => project.name === 'system' || project.name === 'e2e');
    const shareOf = new Map(
      [waiting, started].flatMap((list) => list.map((file, index): [TestSpecification, number] => [file, index / list.length])),
    );
    return sorted.toSorted((one, other) => (shareOf.get(one) ?? 1) - (shareOf.get(other) ?? 1));
  }
}

/** What a project has of its own; everything else it takes from below. */
interface Project {
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** Projects of one number run beside each other, those of a higher one after them. */
  readonly group: number;
  /** Whether they start the program as processes. */
  readonly startsProgram?: boolean;
  /** Processes for each core. Calls mostly wait, so that tests of calls take three. */
  readonly perCore: number;
}

function project(name: string, { include, exclude = [], group, startsProgram = false, perCore }: Project): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [...include],
      exclude: [...NEVER, ...exclude],
      globalSetup: startsProgram ? ['test/support/compile-once.ts'] : [],
      sequence: { groupOrder: group },
      maxWorkers: Math.ceil(perCore * availableParallelism()),
    },
  };
}

/** Whoever runs everything wants to know whether there is time for a coffee. */
function announce(): void {
  const isAll = process.argv.slice(2).every((argument) => argument === 'run');
  if (isAll) process.stdout.write('All tests take about 10 minutes on two cores; `npm run test:unit` takes one.\n');
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    projects: [
      // Whoever puts bots into a folder of their own finds their tests run, too.
      project('unit', { include: ['**/*.test.ts'], exclude: [...RULES, E2E, SYSTEM], group: 1, perCore: 1.5 }),
      project('rules', { include: RULES, group: 1, perCore: 1.5 }),
      // Servers of this process over real sockets.
      project('e2e', { include: [E2E], group: 2, perCore: 3 }),
      // Real processes, Redis, proxies, kills.
      project('system', { include: [SYSTEM], exclude: OUTAGES, group: 2, startsProgram: true, perCore: 3 }),
      project('outages', { include: OUTAGES, group: 3, startsProgram: true, perCore: 1 }),
    ],
    pool: 'forks',
    sequence: { sequencer: Mixed },
    // Two noisy cores: generous enough that only a hang fails, and no test waits for the clock on purpose.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 20_000,
    reporters: ['default', { onInit: announce }],
    // A passing test says nothing; what it printed is shown when it fails.
    silent: 'passed-only',
    // No module of ours keeps state between calls, so a process loads each once for all the files it runs: with a process
    // for every file a third of the time went into loading.
    isolate: false,
    // Each project would make JavaScript of the same modules once more.
    experimental: { fsModuleCache: true },
    execArgv: [...SHORT_LIFE],
    coverage: { provider: 'v8', include: ['src/**', 'bots/**'], exclude: ['src/contract/gen/**', '**/*.test.ts'] },
  },
});
