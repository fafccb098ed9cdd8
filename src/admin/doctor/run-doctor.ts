// Runs checks: in parallel when they are independent, each with a limit, and none whose prerequisites failed. Knows no single check, and
// does not fail when a check does.
import { linkAbort, waitAtMost, type LinkedAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError, ERROR_MENDS } from '../../base/errors.ts';
import { CaseNotes, type Check, type CheckId, type CheckTask, type Verdict } from './check.ts';
import { fault, type Finding, type Found } from './finding.ts';

export interface DoctorOptions {
  /** Aborts all checks; unfinished ones count as skipped. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Limit for one check, ms. */
  readonly perCheckMs: number;
  /** Most concurrent checks; default 6. */
  readonly maxParallel?: number;
  /** Called with each finished check, in any order, and the total number of checks; must not throw. */
  readonly onResult?: ((result: CheckResult, checks: number) => void) | undefined;
}

export interface CheckResult {
  readonly id: CheckId;
  /** The fact that holds when the state is `ok`, as half a sentence. */
  readonly title: string;
  /** The subject of the check, for people. */
  readonly subject: string;
  readonly state: 'ok' | 'found' | 'skipped';
  /** Not empty when the state is `found`, otherwise empty. */
  readonly findings: readonly Finding[];
  /** Why the check was skipped; undefined in other states. */
  readonly reason: string | undefined;
}

const MAX_PARALLEL = 6;
const INTERRUPTED = 'the examination was interrupted';

/**
 * Runs all checks.
 *
 * @param checks - each check after those that it needs; any other order is a bug of the caller.
 * @returns the results in the order of `checks`, and for each check in the order of its subjects.
 * @throws AppError `internal` for checks in a wrong order; never for a check that fails.
 */
export async function runDoctor<C>(checks: readonly Check<C>[], context: C, options: DoctorOptions): Promise<readonly CheckResult[]> {
  demandOrder(checks);
  const works = checks.map((check) => ({ check, tasks: check.tasks(context) }));
  return new Examination(works, options).results();
}

function demandOrder(checks: readonly Listed[]): void {
  const ids = checks.map(({ id }) => id);
  for (const [index, { id, needs }] of checks.entries()) {
    const late = needs.find((need) => ids.includes(need, index));
    if (late !== undefined) throw new AppError('internal', `the check ${id} stands before ${late}, which it needs`);
  }
}

/** A check without its tasks. */
type Listed = Omit<Check, 'tasks'>;

/** A running check of one subject. */
interface Running {
  readonly check: Listed;
  readonly task: CheckTask;
  readonly ending: Promise<Ending>;
}

interface Ending {
  readonly result: CheckResult;
  /** Whether checks that need this one may run. */
  readonly isGround: boolean;
}

class Examination {
  readonly #options: DoctorOptions;
  /** The only listener on the caller's signal. */
  readonly #whole: LinkedAbort;
  readonly #notes = new CaseNotes();
  readonly #running: Running[] = [];
  /** How many more checks may start. */
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(works: readonly { readonly check: Listed; readonly tasks: readonly CheckTask[] }[], options: DoctorOptions) {
    this.#options = options;
    this.#whole = linkAbort(options.signal);
    this.#free = options.maxParallel ?? MAX_PARALLEL;
    for (const { check, tasks } of works) {
      for (const task of tasks) {
        const needed = this.#running.filter((earlier) => isNeeded(earlier, check, task));
        this.#running.push({ check, task, ending: this.#examine(check, task, needed) });
      }
    }
  }

  async results(): Promise<readonly CheckResult[]> {
    try {
      const endings = await Promise.all(this.#running.map(({ ending }) => ending));
      return endings.map(({ result }) => result);
    } finally {
      this.#whole.dispose();
    }
  }

  async #examine(check: Listed, task: CheckTask, needed: readonly Running[]): Promise<Ending> {
    const ending = await this.#ending(check, task, needed);
    this.#options.onResult?.(ending.result, this.#running.length);
    return ending;
  }

  async #ending(check: Listed, task: CheckTask, needed: readonly Running[]): Promise<Ending> {
    const grounds = await Promise.all(needed.map(({ ending }) => ending));
    const missing = grounds.find(({ isGround }) => !isGround)?.result;
    if (missing !== undefined) {
      const skipped = `it needs "${missing.title}" (${missing.id}), which is not so or not known`;
      return { result: resultOf(check, task, { skipped }), isGround: false };
    }
    await this.#takeSlot();
    try {
      const result = resultOf(check, task, await this.#verdict(task));
      // After a warning later checks may run, because calls still come in. They may also run after a check that had nothing to examine.
      return { result, isGround: result.findings.every(({ severity }) => severity === 'warning') };
    } finally {
      this.#free += 1;
      this.#queue.shift()?.();
    }
  }

  /** Waits until another check may start. */
  async #takeSlot(): Promise<void> {
    while (this.#free <= 0) {
      await new Promise<void>((resolve) => {
        this.#queue.push(resolve);
      });
    }
    this.#free -= 1;
  }

  async #verdict(task: CheckTask): Promise<Verdict> {
    const { clock, perCheckMs } = this.#options;
    const { signal } = this.#whole;
    if (signal.aborted) return { skipped: INTERRUPTED };
    const work = linkAbort(signal);
    try {
      // Inside a promise, so that a synchronous error is handled like any other.
      const running = Promise.resolve().then(() => task.run({ signal: work.signal, clock, limitMs: perCheckMs, notes: this.#notes }));
      const waited = await waitAtMost(running, perCheckMs, clock, signal);
      if (waited.kind === 'value') return waited.value;
      if (waited.kind === 'aborted') return { skipped: INTERRUPTED };
      const what = `the check did not end within ${String(perCheckMs)} ms`;
      return [fault('check_timeout', what, 'look whether the service that is asked can be reached from here, and try again')];
    } catch (thrown) {
      return work.isAborted ? { skipped: INTERRUPTED } : [failureOf(thrown)];
    } finally {
      work.abort('deadline');
      work.dispose();
    }
  }
}

function isNeeded(earlier: Running, check: Listed, task: CheckTask): boolean {
  const own = earlier.task.subject.path.at(-1);
  return check.needs.includes(earlier.check.id) && own !== undefined && task.subject.path.includes(own);
}

/** Messages of our own errors may be shown; others could contain anything. */
function failureOf(thrown: unknown): Found {
  if (thrown instanceof AppError) return fault('check_failed', thrown.message, ERROR_MENDS[thrown.code]);
  const name = thrown instanceof Error ? thrown.name : typeof thrown;
  return fault('check_failed', `the check could not be made (${name})`, ERROR_MENDS.internal);
}

function resultOf({ id, title }: Listed, { subject }: CheckTask, verdict: Verdict): CheckResult {
  const about = { id, title, subject: subject.text };
  if ('skipped' in verdict) return { ...about, state: 'skipped', findings: [], reason: verdict.skipped };
  const findings = verdict.map(({ code, severity, what, where = subject.text, mend }) => ({ code, severity, what, where, mend }));
  return { ...about, state: findings.length === 0 ? 'ok' : 'found', findings, reason: undefined };
}
