// The results of tests as JUnit XML, for build servers: a suite for each file, a case for each run of a test.
import library, { type Builder } from 'junit-report-builder';
import { failureLines, testPlace, testTitle } from './report-text.ts';
import type { TestResult } from './run.ts';

/** The XML. A server's own words are escaped. */
export function junitReport(results: readonly TestResult[]): string {
  const report = newBuilder().name('parley test');
  for (const file of new Set(results.map(({ test }) => test.file))) {
    const suite = report.testSuite().name(xmlText(file));
    for (const result of results.filter(({ test }) => test.file === file)) {
      const { status, failures, tookMs } = result;
      const one = suite
        .testCase()
        .className(xmlText(file))
        .name(xmlText(testTitle(result)))
        .time(tookMs / 1000);
      if (status === 'skipped') one.skipped();
      if (status === 'interrupted') one.error('the run was interrupted');
      if (status === 'failed') {
        const message = failures.map(({ place, expected, found }) => `${place}: expected ${expected}; ${found}`).join('\n');
        one.failure(xmlText(message), testPlace(result)).standardOutput(cdataText(failureLines(result, false).join('\n')));
      }
    }
  }
  return report.build();
}

/** The library exports a builder although its types promise a module with one. */
function newBuilder(): Builder {
  const exported: unknown = library;
  if (!isBuilder(exported)) throw new TypeError('junit-report-builder exports something else than a builder');
  return exported.newBuilder();
}

function isBuilder(value: unknown): value is Builder {
  return typeof value === 'object' && value !== null && 'newBuilder' in value;
}

/** Text for a CDATA section; the library escapes only the first end mark. */
function cdataText(text: string): string {
  return xmlText(text).replaceAll(']]>', ']] >');
}

/** Without the characters that XML does not allow. The library escapes the rest. */
function xmlText(text: string): string {
  return text.replaceAll(/[^\n\P{C}]/gu, ' ');
}
