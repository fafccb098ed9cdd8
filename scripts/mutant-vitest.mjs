// How the tests of one area run against its mutants: the ordinary settings, the tests of the area, and an order in which a
// mutant dies soon.
import { BaseSequencer } from 'vitest/node';
import { defineConfig, mergeConfig } from 'vitest/config';
import ordinary from '../vitest.config.ts';
import { AREAS, areaOfEnvironment } from './mutant-areas.mjs';

/** The first failure ends a run. Mutants come in the order of the source, so what failed last is likely to fail again. */
class SoonestFailure extends BaseSequencer {
  /**
   * @override
   * @type {BaseSequencer['sort']}
   */
  sort(files) {
    const cost = new Map(files.map((file) => [file, this.#costMs(file)]));
    return Promise.resolve([...files].sort((a, b) => (cost.get(a) ?? 0) - (cost.get(b) ?? 0)));
  }

  /** @param {import('vitest/node').TestSpecification} file */
  #costMs({ project, moduleId }) {
    const place = moduleId.slice(this.ctx.config.root.length + 1);
    const last = this.ctx.cache.getFileTestResults(`${project.name}:${place}`);
    return last === undefined ? Infinity : last.failed ? 0 : last.duration;
  }
}

const { tests, leftOut } = AREAS[areaOfEnvironment()];

export default mergeConfig(
  defineConfig({ ...ordinary, test: { ...ordinary.test, include: [] } }),
  defineConfig({
    test: {
      include: [...tests],
      exclude: [...leftOut],
      // A mutant that keeps a test waiting costs no more than this.
      testTimeout: 10_000,
      hookTimeout: 10_000,
      sequence: { sequencer: SoonestFailure },
    },
  }),
);
