// What `npm run check -- unused` takes for used: the doors through which the program, the tools and the tests come in; package.json
// names those of bot authors.
// Everything else must be reached from one of them.
import type { KnipConfig } from 'knip';

const config: KnipConfig = {
  entry: [
    'src/cli/main.ts!',
    // Started by file name, in threads of their own.
    'src/**/*-worker.ts!',
    // Loaded by folder.
    'bots/*.ts!',
    'test/fixtures/*bots/*.ts',
    // Run in processes of their own.
    'test/fixtures/reload/*.ts',
    'test/fixtures/load/small-server.ts',
    'test/fleet/caller-process.ts',
    // Imported by scripts/check-*.ts.
    'test/fleet/failover.ts',
    'scripts/*.mjs',
    'console/*.tsx',
    'console/softphone-worklets.ts',
    'test/support/*.mjs',
    // Run in projects of their own.
    'scripts/package/{create,program}.mjs',
    // Loaded by the servers that `npm run bench -- engine` and `npm run check -- soak` measure.
    'scripts/bench/**/*.mjs',
    'test/**/*.test.ts',
    'bots/**/*.test.ts',
    'dependency-cruiser.config.mjs',
  ],
  project: [
    'src/**/*.ts!',
    'bots/**/*.ts!',
    'scripts/**/*.mjs',
    'console/**/*.{ts,tsx}',
    'test/**/*.ts',
    'test/support/*.mjs',
    '*.{mjs,ts}',
  ],
  // The generator writes every message, wanted or not.
  ignore: ['src/contract/gen/**'],
  // A signature may need a name for its shape although nobody else writes that name.
  ignoreExportsUsedInFile: { interface: true, type: true },
  // Started by path or name, and what oxlint starts for the rules that need types.
  ignoreDependencies: ['tsx', 'typescript-native', 'oxlint', 'oxlint-tsgolint'],
  // Debian's, not npm's: tests that need them say so themselves.
  ignoreBinaries: ['mkfifo', 'promtool', 'protoc', 'redis-server'],
};

export default config;
