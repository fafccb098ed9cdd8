// Runs tests beside each other, never more at once than allowed, and says how each went. How a call is placed is given in;
// what is expected of it is judged elsewhere.
import { AppError } from '../../base/errors.ts';
import type { CallResult } from '../caller.ts';
import type { Step } from '../script.ts';
import type { PlannedTest } from './plan.ts';
import { failuresOf, type TestFailure } from './verdict.ts';

/** A test whose steps are ready audio. */
export interface ReadyTest extends PlannedTest {
  readonly script: readonly Step[];
}

/** A call that is over. */
export type PlacedCall = CallResult & { readonly conversationId: string };

/** How a test went. `interrupted`: the run was stopped during its call; `skipped`: before it. */
export type TestStatus = 'passed' | 'failed' | 'interrupted' | 'skipped';

/** How one run of a test went. */
export interface TestResult {
  readonly test: ReadyTest;
  /** Counted from 1; more than one when tests are repeated. */
  readonly round: number;
  readonly status: TestStatus;
  readonly failures: readonly TestFailure[];
  /** Undefined when it was not placed. */
  readonly call: PlacedCall | undefined;
}

/** How far a run is. */
export interface RunProgress {
  readonly done: number;
  readonly failed: number;
  readonly running: number;
  readonly total: number;
}

/** What is run and how. */
export interface RunOptions {
  readonly tests: readonly ReadyTest[];
  /** Most calls at once. */
  readonly jobs: number;
  /** How often each test is run; default once. */
  readonly repeat?: number;
  /** Begin no more tests after the first failure; default false. */
  readonly bail?: boolean;
  /** Ends the calls under way, and begins no more. */
  readonly signal: AbortSignal;
  /** Places a call, which must end at the signal and within its own limits. */
  readonly place: (test: ReadyTest) => Promise<PlacedCall>;
  /** Called when a test is over, while its call still has its sound; the next test of this lane waits for it. */
  readonly onOver?: (result: TestResult) => Promise<void> | void;
  /** Called whenever a test has begun or is over. */
  readonly onProgress?: (progress: RunProgress) => void;
}

const NO_SOUND = new Int16Array(0);

/** Runs all tests. The results stand in the order of the tests, round after round. */
export async function runTests(options: RunOptions): Promise<readonly TestResult[]> {
  const { tests, jobs, repeat = 1, bail = false, signal, place, onOver, onProgress } = options;
  const all = Array.from({ length: repeat }, (_, round) => tests.map((test) => ({ test, round: round + 1 }))).flat();
  const results: (TestResult | undefined)[] = all.map(() => undefined);
  const waiting = all.entries();
  let running = 0;
  let failed = 0;
  let done = 0;
  const tell = (): void => {
    onProgress?.({ done, failed, running, total: all.length });
  };
  const lane = async (): Promise<void> => {
    // One iterator for all lanes: each takes the next test that nobody has.
    for (const [index, { test, round }] of waiting) {
      if (signal.aborted || (bail && failed > 0)) return;
      running += 1;
      tell();
      const result = { test, round, ...(await runOne(test, place)) };
      running -= 1;
      done += 1;
      if (result.status === 'failed') failed += 1;
      await onOver?.(result);
      results[index] = withoutSound(result);
      tell();
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, all.length)) }, lane));
  return all.map((one, index) => results[index] ?? { ...one, status: 'skipped', failures: [], call: undefined });
}

/** Minutes of sound of a thousand tests would not fit into the memory. */
function withoutSound(result: TestResult): TestResult {
  return result.call === undefined ? result : { ...result, call: { ...result.call, heard: NO_SOUND, said: NO_SOUND } };
}

async function runOne(test: ReadyTest, place: RunOptions['place']): Promise<Pick<TestResult, 'status' | 'failures' | 'call'>> {
  try {
    const call = await place(test);
    if (call.outcome === 'interrupted') return { status: 'interrupted', failures: [], call };
    const failures = failuresOf(test, call);
    return { status: failures.length === 0 ? 'passed' : 'failed', failures, call };
  } catch (error) {
    // One call that cannot be placed must not hide how the others went.
    if (!(error instanceof AppError) && !(error instanceof RangeError)) throw error;
    return { status: 'failed', failures: [{ place: 'call', expected: 'the call is placed', found: error.message }], call: undefined };
  }
}
