// The running and just finished tools of one call. A tool that changes something continues after its turn; the next turn collects its
// outcome. Not part of the state: a call that moves to another process leaves its runs behind.
import { linkForeignAbort, waitAtMost } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { ToolOutcome } from './history.ts';

/** The outcome of a run, and its changes of the author's data. */
export interface RunEnd {
  readonly outcome: ToolOutcome;
  readonly data: JsonObject;
}

interface Run {
  readonly ended: Promise<RunEnd>;
  end: RunEnd | undefined;
}

/** The time limit of a run. */
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

  /** Registers a tool use before it starts, so that the next turn learns that it never did if the caller interrupts first. */
  prepare(useId: string): void {
    const end: RunEnd = { outcome: { value: 'it was not begun: the caller interrupted', isError: true }, data: {} };
    this.#runs.set(useId, { ended: Promise.resolve(end), end });
  }

  /**
   * Runs a tool's code, once per tool use.
   *
   * @param work - must not reject.
   * @param limit.stop - also stops the run; only for tools that change nothing.
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

  /** Returns the outcome of a run once and forgets it; undefined for a run of another process. */
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
