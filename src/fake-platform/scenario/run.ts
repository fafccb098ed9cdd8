// Runs tests in parallel, up to a limit, and reports the result of each. The caller passes the function that places a call;
// another file checks the expectations.
import { setMaxListeners } from 'node:events';
import { systemClock, type Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { CallResult } from '../caller/caller.ts';
import type { Step } from '../caller/script.ts';
import type { Expectation } from '../caller/expectation.ts';
import type { TestExpectations, TestFrame } from './plan.ts';
import { failuresOf, type TestFailure } from './verdict.ts';

export interface ReadyTest extends TestFrame, TestExpectations<Expectation> {
  readonly script: readonly Step[];
}

export type PlacedCall = CallResult & { readonly conversationId: string };

/** The result of a test. `interrupted`: the run stopped during its call; `skipped`: before it. */
export type TestStatus = 'passed' | 'failed' | 'interrupted' | 'skipped';

export interface TestResult {
  readonly test: ReadyTest;
  /** Counted from 1; greater than 1 when tests are repeated. */
  readonly round: number;
  readonly status: TestStatus;
  readonly failures: readonly TestFailure[];
  /** The call without its sound, and for a passed test without its timeline. Undefined when no call was placed. */
  readonly call: PlacedCall | undefined;
  /** Duration in real time, whatever the pace of the call, ms. */
  readonly tookMs: number;
  /** Files with the sound of the call. */
  readonly recordings: readonly string[];
}

/** The options of a call that come from the test itself, whoever places the call. */
export function callOptionsOf({ settings, script, welcome, steps, call }: ReadyTest) {
  const expectations = [...welcome, ...steps.flatMap((step) => step.expectations), ...call];
  const hears = expectations.some(({ kind }) => kind === 'sound');
  return { ...settings, script, replySound: hears ? 'samples' : 'facts' } as const;
}

export interface RunProgress {
  readonly done: number;
  readonly failed: number;
  readonly running: number;
  readonly total: number;
}

export interface RunOptions {
  readonly tests: readonly ReadyTest[];
  /** Most parallel calls. */
  readonly jobs: number;
  /** How often each test runs; default once. */
  readonly repeat?: number;
  /** Begin no more tests after the first failure; default false. */
  readonly bail?: boolean;
  /** Ends the calls under way; no further call starts. */
  readonly signal: AbortSignal;
  /** Places a call, which must end when the signal aborts, and within its own limits. */
  readonly place: (test: ReadyTest, signal: AbortSignal) => Promise<PlacedCall>;
  /** Stores the sound before the result loses it; the next test of this lane waits. @returns the files. */
  readonly keep?: (result: TestResult) => Promise<readonly string[]>;
  readonly onOver?: (result: TestResult) => void;
  /** Called whenever a test begins or ends. */
  readonly onProgress?: (progress: RunProgress) => void;
  readonly clock?: Clock;
}

const NO_SOUND = new Int16Array(0);

/**
 * Runs all tests. The results are in the order of the tests, round after round.
 *
 * @throws the errors of the passed functions, after every call under way has stopped.
 */
export async function runTests(options: RunOptions): Promise<readonly TestResult[]> {
  const { tests, jobs, repeat = 1, bail = false, keep, onOver, onProgress } = options;
  const all = Array.from({ length: repeat }, (_, round) => tests.map((test) => ({ test, round: round + 1 }))).flat();
  const results: (TestResult | undefined)[] = all.map(() => undefined);
  const waiting = all.entries();
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  // Every call under way listens to this signal.
  setMaxListeners(0, signal);
  let running = 0;
  let failed = 0;
  let done = 0;
  const report = (): void => onProgress?.({ done, failed, running, total: all.length });
  const lane = async (): Promise<void> => {
    // One iterator for all lanes: each takes the next free test.
    for (const [index, { test, round }] of waiting) {
      if (signal.aborted || (bail && failed > 0)) return;
      running += 1;
      report();
      const over: TestResult = { test, round, ...(await runOne(test, options, signal)), recordings: [] };
      running -= 1;
      done += 1;
      if (over.status === 'failed') failed += 1;
      const result = { ...over, recordings: (await keep?.(over)) ?? [] };
      onOver?.(result);
      results[index] = forReports(result);
      report();
    }
  };
  const lanes = Array.from({ length: Math.max(1, Math.min(jobs, all.length)) }, lane);
  try {
    await Promise.all(lanes);
  } catch (error) {
    broken.abort();
    await Promise.allSettled(lanes);
    throw error;
  }
  return all.map((one, index) => results[index] ?? { ...one, status: 'skipped', failures: [], call: undefined, tookMs: 0, recordings: [] });
}

/** Drops sound, and the timeline of a passed test: a thousand tests would not fit into memory, and nobody reads that timeline. */
function forReports(result: TestResult): TestResult {
  const { call, status } = result;
  if (call === undefined) return result;
  const replies = call.replies.map((reply) => (reply.sound === undefined ? reply : { ...reply, sound: { ...reply.sound, pieces: [] } }));
  const timeline = status === 'passed' ? [] : call.timeline;
  return { ...result, call: { ...call, replies, timeline, heard: NO_SOUND, said: NO_SOUND } };
}

async function runOne(
  test: ReadyTest,
  { place, clock = systemClock }: RunOptions,
  signal: AbortSignal,
): Promise<Pick<TestResult, 'status' | 'failures' | 'call' | 'tookMs'>> {
  const startMs = clock.monotonicMs();
  const tookMs = (): number => clock.monotonicMs() - startMs;
  try {
    const call = await place(test, signal);
    if (call.outcome === 'interrupted') return { status: 'interrupted', failures: [], call, tookMs: tookMs() };
    const failures = failuresOf(test, call);
    return { status: failures.length === 0 ? 'passed' : 'failed', failures, call, tookMs: tookMs() };
  } catch (error) {
    // One call that cannot be placed must not hide the results of the others.
    if (!(error instanceof AppError) && !(error instanceof RangeError)) throw error;
    const failures = [{ place: 'call', expected: 'the call is placed', found: error.message }];
    return { status: 'failed', failures, call: undefined, tookMs: tookMs() };
  }
}
