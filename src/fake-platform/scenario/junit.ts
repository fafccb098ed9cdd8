// Results of tests as JUnit XML, for build servers. Serves scenarios and other tests of the same form.
import library, { type Builder } from 'junit-report-builder';
import { failureLines, testPlace, testTitle } from './report-text.ts';
import type { TestResult } from './run.ts';

export interface JunitCase {
  readonly file: string;
  readonly title: string;
  readonly tookMs: number;
  readonly isSkipped?: boolean;
  /** Set when the test did not come to its end: the reason. */
  readonly error?: string | undefined;
  readonly failure?:
    | { readonly message: string; /** Where the test stands. */ readonly place: string; readonly details: string }
    | undefined;
}

export function junitReport(results: readonly TestResult[]): string {
  return junitXml(
    'parley test',
    results.map((result) => ({
      ...{ file: result.test.file, title: testTitle(result), tookMs: result.tookMs, isSkipped: result.status === 'skipped' },
      error: result.status === 'interrupted' ? 'the run was interrupted' : undefined,
      failure: result.status === 'failed' ? failureOf(result) : undefined,
    })),
  );
}

function failureOf(result: TestResult): JunitCase['failure'] {
  const message = result.failures.map(({ place, expected, found }) => `${place}: expected ${expected}; ${found}`).join('\n');
  return { message, place: testPlace(result), details: failureLines(result, false).join('\n') };
}

/** The XML, with one suite for each file. Texts of servers are escaped. */
export function junitXml(name: string, cases: readonly JunitCase[]): string {
  const report = newBuilder().name(name);
  for (const file of new Set(cases.map((one) => one.file))) {
    const suite = report.testSuite().name(xmlText(file));
    for (const { title, tookMs, isSkipped, error, failure } of cases.filter((one) => one.file === file)) {
      const one = suite
        .testCase()
        .className(xmlText(file))
        .name(xmlText(title))
        .time(tookMs / 1000);
      if (isSkipped === true) one.skipped();
      if (error !== undefined) one.error(error);
      if (failure !== undefined) one.failure(xmlText(failure.message), failure.place).standardOutput(cdataText(failure.details));
    }
  }
  return report.build();
}

/** The library exports the builder itself, although its types promise a module that contains one. */
function newBuilder(): Builder {
  const exported: unknown = library;
  if (!isBuilder(exported)) throw new TypeError('junit-report-builder exports something else than a builder');
  return exported.newBuilder();
}

function isBuilder(value: unknown): value is Builder {
  return typeof value === 'object' && value !== null && 'newBuilder' in value;
}

/** Text for a CDATA section. The library escapes only the first `]]>` in it. */
function cdataText(text: string): string {
  return xmlText(text).replaceAll(']]>', ']] >');
}

/** Replaces the characters that XML does not allow by spaces. The library escapes the rest. */
function xmlText(text: string): string {
  return text.replaceAll(/[^\n\P{C}]/gu, ' ');
}
