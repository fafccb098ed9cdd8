// The results of tests as JSON data, without the sound of calls and without timelines of passed tests.
import { callData } from '../caller/result-text.ts';
import type { TestResult, TestStatus } from './run.ts';

/** One test. */
export function testData({ test, round, status, failures, call, tookMs, recordings }: TestResult): object {
  const { file, line, name } = test;
  return {
    ...{ file, line, name, round, status, failures, tookMs: Math.round(tookMs), recordings },
    ...(call === undefined ? {} : { pace: call.pace, call: callData(call) }),
    ...(call === undefined || status === 'passed' ? {} : { timeline: call.timeline }),
  };
}

/** All tests together. */
export function summaryData(results: readonly TestResult[], durationMs: number): object {
  const count = (status: TestStatus): number => results.filter((result) => result.status === status).length;
  return {
    ok: results.every(({ status }) => status === 'passed'),
    passed: count('passed'),
    failed: count('failed'),
    interrupted: count('interrupted'),
    skipped: count('skipped'),
    durationMs: Math.round(durationMs),
  };
}
