// The running and just finished tools of one call. A tool that changes something continues after its turn; the next turn collects its
// outcome. Runs are not part of the state: when a call moves to another process, the new process does not have them.
import { linkForeignAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { ToolOutcome } from './history.ts';

/** The outcome of a run, and the changes that the run made to the author's data. */
export interface RunEnd {
  readonly outcome: ToolOutcome;
  readonly data: JsonObject;
}

interface Run {
  readonly ended: Promise<RunEnd>;
  end: RunEnd | undefined;
}

/** When to stop a run. */
export interface RunLimit {
  readonly ms: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly stop?: AbortSignal;
}

/** One per call and process. */
export class ToolRuns {
  static readonly #ofCalls = new WeakMap<CallFacts, ToolRuns>();
  readonly #runs = new Map<string, Run>();

  /** The runs of a call; the engine makes one `CallFacts` object per call. */
  static of(call: CallFacts): ToolRuns {
    const runs = ToolRuns.#ofCalls.get(call) ?? new ToolRuns();
    ToolRuns.#ofCalls.set(call, runs);
    return runs;
  }

  /** Registers a tool use before its run: if the caller interrupts first, the next turn learns that the tool did not run. */
  prepare(useId: string): void {
    const end: RunEnd = { outcome: { value: 'it was not begun: the caller interrupted', isError: true }, data: {} };
    this.#runs.set(useId, { ended: Promise.resolve(end), end });
  }

  /**
   * Runs a tool's code, once per tool use.
   * @param work - must not reject.
   * @param limit.stop - also stops the run. Set only for tools that change nothing.
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

  /** Returns the outcome of a run once and then forgets the run; undefined for a run of another process. */
  take(useId: string): RunEnd | 'running' | undefined {
    const run = this.#runs.get(useId);
    if (run === undefined) return undefined;
    if (run.end === undefined) return 'running';
    this.#runs.delete(useId);
    return run.end;
  }

  /** Resolves when all runs have ended, when `limitMs` are over, or when the signal aborts. */
  async ended(limitMs: number, clock: Pick<Clock, 'after'>, signal?: AbortSignal): Promise<void> {
    const all = [...this.#runs.values()].filter(({ end }) => end === undefined).map(({ ended }) => ended);
    if (all.length > 0) await waitAtMost(Promise.all(all), limitMs, clock, signal);
  }
}
