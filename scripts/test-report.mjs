// A vitest reporter for scripts/check.mjs: writes to the file named by TEST_REPORT_FILE how many tests passed, which
// failed, and which were skipped with what reason. Vitest's own JSON leaves the reasons out.
import { writeFileSync } from 'node:fs';

/** @typedef {{ passed: number, failed: string[], skipped: { test: string, reason: string | undefined }[], problems: string[] }} TestReport */

/** @typedef {import('vitest/node').Reporter} Reporter */

/** @implements {Reporter} */
export default class CheckReporter {
  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly { message: string }[]} unhandled - errors that no test waited for
   */
  onTestRunEnd(modules, unhandled) {
    // The name does not begin with PARLEY_: a server started by a test would take it for a setting, and refuse it.
    const file = process.env['TEST_REPORT_FILE'];
    if (file === undefined) throw new Error('TEST_REPORT_FILE must name the file for the report');
    /** @type {TestReport} */
    const report = { passed: 0, failed: [], skipped: [], problems: unhandled.map(({ message }) => `unhandled: ${message}`) };
    for (const module of modules) {
      const before = report.problems.length;
      for (const error of module.errors()) report.problems.push(`${module.relativeModuleId}: ${error.message}`);
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) report.problems.push(`${module.relativeModuleId} > ${suite.fullName}: ${error.message}`);
      }
      for (const test of module.children.allTests()) {
        const name = `${module.relativeModuleId} > ${test.fullName}`;
        const result = test.result();
        if (result.state === 'passed') report.passed += 1;
        // What was not run because its file or suite broke is no test that was skipped.
        else if (result.state === 'skipped' && report.problems.length > before && result.note === undefined) continue;
        else if (result.state === 'skipped') report.skipped.push({ test: name, reason: result.note });
        // A test that is still pending when the run is over was cut off.
        else report.failed.push(name);
      }
    }
    writeFileSync(file, JSON.stringify(report));
  }
}
