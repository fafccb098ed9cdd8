// The tools of one call that run or have just ended. One that changes something outlives the turn that began it; the next turn fetches what
// came of it. Lives beside the state: a call that moves leaves it behind.
import { linkForeignAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { ToolOutcome } from './history.ts';

/** What came of a run, and what it has changed of the author's data. */
export interface RunEnd {
  readonly outcome: ToolOutcome;
  readonly data: JsonObject;
}

interface Run {
  readonly ended: Promise<RunEnd>;
  end: RunEnd | undefined;
}

/** How long a run may take. */
export interface RunLimit {
  readonly ms: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly stop?: AbortSignal;
}

/** One for each call and process. */
export class ToolRuns {
  static readonly #ofCalls = new WeakMap<CallFacts, ToolRuns>();
  readonly #runs = new Map<string, Run>();

  /** Those of a call; the engine has one `CallFacts` for each call. */
  static of(call: CallFacts): ToolRuns {
    const runs = ToolRuns.#ofCalls.get(call) ?? new ToolRuns();
    ToolRuns.#ofCalls.set(call, runs);
    return runs;
  }

  /** Notes that a use is about to begin, so that a turn that is left before it does is told so. */
  prepare(useId: string): void {
    const end: RunEnd = { outcome: { value: 'it was not begun: the caller interrupted', isError: true }, data: {} };
    this.#runs.set(useId, { ended: Promise.resolve(end), end });
  }

  /**
   * Runs the code of a tool, once for each use.
   *
   * @param work - must not reject.
   * @param limit.stop - stops the run as well; for tools that change nothing.
   */
  run(useId: string, work: (signal: AbortSignal) => Promise<RunEnd>, { ms, clock, stop }: RunLimit): Promise<RunEnd> {
    const abort = linkForeignAbort(stop);
    let stopped = 'stopped: the caller interrupted';
    const cancelLimit = clock.after(ms, () => {
      stopped = 'the tool took too long; what came of it is not known';
      abort.abort('deadline');
    });
    const run: Run = {
      end: undefined,
      ended: waitAtMost(work(abort.signal), ms * 2, clock, abort.signal).then((waited) => {
        cancelLimit();
        abort.dispose();
        run.end = waited.kind === 'value' ? waited.value : { outcome: { value: stopped, isError: true }, data: {} };
        return run.end;
      }),
    };
    this.#runs.set(useId, run);
    return run.ended;
  }

  /** What came of a use, once; undefined while it runs, and when it belongs to another process. */
  take(useId: string): RunEnd | 'running' | undefined {
    const run = this.#runs.get(useId);
    if (run === undefined) return undefined;
    if (run.end === undefined) return 'running';
    this.#runs.delete(useId);
    return run.end;
  }

  /** Resolves when all runs have ended, after `limitMs`, or when the signal aborts. */
  async ended(limitMs: number, clock: Pick<Clock, 'after'>, signal?: AbortSignal): Promise<void> {
    const all = [...this.#runs.values()].filter(({ end }) => end === undefined).map(({ ended }) => ended);
    if (all.length > 0) await waitAtMost(Promise.all(all), limitMs, clock, signal);
  }
}
