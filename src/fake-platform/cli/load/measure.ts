// Runs the load that the options ask for: prepares the callers, rehearses, runs one load or searches the capacity,
// and ends everything that was started, whatever happens.
import { DEFAULT_LIMITS, type CallLimits } from '../../caller/call-clock.ts';
import { lengthOf } from '../../load/arrivals.ts';
import { findCapacity, type Capacity } from '../../load/capacity.ts';
import { checkCriteria, type Criterion, type Checked } from '../../load/criteria.ts';
import { Fleet } from '../../load/fleet.ts';
import type { LoadResult } from '../../load/load-result.ts';
import { meanLengthOf, runLoad, type LoadProgress, type LoadRunOptions, type WeightedScenario } from '../../load/load-run.ts';
import type { KnownSound } from '../../load/prompt-watch.ts';
import type { PrepareOrder } from '../../load/worker-messages.ts';
import { levelsOf, phasesOf } from '../../load/load-shape.ts';
import { sampleServer, sampleFailure } from '../../load/server-metrics.ts';
import { sendRequest } from '../../../base/http-send.ts';
import { readBounded } from '../../../base/terminal/surroundings.ts';
import type { LoadTask, LoadWish, LoadSurroundings } from './load-options.ts';
import { announceWords } from '../../models/announce.ts';
import { prepareMix, type MixEntry } from './mix.ts';
import { rehearse } from './rehearsal.ts';

const FIRST_TRY_CALLS = 10;
const PRECISION = 0.05;

export type Measured =
  | { readonly kind: 'refused'; readonly failures: readonly string[] }
  | { readonly kind: 'run'; readonly result: LoadResult; readonly checked: readonly Checked[] }
  | { readonly kind: 'capacity'; readonly capacity: Capacity; readonly held: TryResult | undefined; readonly interrupted: boolean };

/** The result of one try with a number of calls. */
export interface TryResult {
  readonly result: LoadResult;
  readonly checked: readonly Checked[];
}

export interface MeasureView {
  readonly say: (line: string) => void;
  readonly progress: (progress: LoadProgress) => void;
}

/** @throws AppError when no voice is installed or a worker fails, and RangeError when the metrics page is not valid. */
export async function measure(wish: LoadWish, surroundings: LoadSurroundings, view: MeasureView, signal: AbortSignal): Promise<Measured> {
  const { clock } = surroundings;
  await checkMetrics(wish, surroundings, signal);
  const voice = await surroundings.openVoice();
  try {
    const { access } = wish;
    const defaults = { ...wish.defaults, organizationId: access.organizationId };
    const mix = await prepareMix(wish.mix, defaults, { ...voice, readFile: readBounded });
    await announceWords(
      wish.modelsUrl,
      mix.flatMap(({ scenario: { script = [] } }) => script),
    );
    view.say(`rehearsing ${mix.map(({ scenario }) => scenario.name).join(', ')}`);
    const { scenarios, failures, notes, ...rehearsed } = await rehearse(mix, { access, clock, changeRate: voice.changeRate, signal });
    if (failures.length > 0) return { kind: 'refused', failures };
    for (const note of notes) view.say(note);
    if (signal.aborted) return { kind: 'refused', failures: [] };
    const fleet = new Fleet(clock, wish.workers, surroundings.startWorker);
    try {
      if (!(await fleet.prepare(orderOf(wish, rehearsed.mix, rehearsed.sounds), signal))) return { kind: 'refused', failures: [] };
      const run = {
        clock,
        fleet,
        scenarios,
        signal,
        target: access.target,
        asked: wish.asked,
        kind: wish.arrivals,
        limits: longestLimits(rehearsed.mix),
        seed: wish.seed,
        onProgress: view.progress,
        ...(wish.metricsUrl === undefined ? {} : { metricsUrl: wish.metricsUrl }),
      };
      return wish.task.kind === 'run' ? await measureRun(wish.task, run, scenarios) : await search(wish.task, run, view);
    } finally {
      fleet.close();
    }
  } finally {
    await voice.close();
  }
}

/** Length of the longest calls of a mix, ms: at an even rate, the number of parallel calls reaches its level only after that time. */
function longestOf(scenarios: readonly WeightedScenario[]): number {
  return Math.max(...scenarios.map(({ meanMs }) => meanMs));
}

/** The limits that every call of a mix stays within. */
function longestLimits(mix: readonly MixEntry[]): CallLimits {
  const longest = (name: 'callMs' | 'answerMs'): number =>
    Math.max(...mix.map(({ scenario }) => scenario.limits?.[name] ?? DEFAULT_LIMITS[name]));
  return { ...DEFAULT_LIMITS, callMs: longest('callMs'), answerMs: longest('answerMs') };
}

type Run = Omit<LoadRunOptions, 'phases' | 'warmUpMs' | 'drainMs'> & { readonly limits: CallLimits };

async function measureRun(
  { shape, warmUpMs, expected }: Extract<LoadTask, { kind: 'run' }>,
  { limits, ...run }: Run,
  scenarios: readonly WeightedScenario[],
): Promise<Measured> {
  const meanMs = meanLengthOf(scenarios);
  // The number of parallel calls is reached only when the longest of the first calls are about to end. The level is held that much
  // longer; otherwise the measured time would begin with too few calls.
  const filled = { ...shape, fillMs: longestOf(scenarios) };
  const phases = phasesOf(filled, meanMs);
  const all = levelsOf(filled);
  const fromMs = warmUpMs ?? all[0]?.fromMs ?? 0;
  const levels = all.length === 1 ? [] : all;
  if (fromMs >= lengthOf(phases)) throw new RangeError('--warm-up leaves nothing of the run');
  const result = await runLoad({ ...run, phases, levels, warmUpMs: fromMs, drainMs: limits.callMs });
  return { kind: 'run', result, checked: checkCriteria(expected, result) };
}

async function search(
  { criteria, windowMs, rampMs, maxCalls }: Extract<LoadTask, { kind: 'capacity' }>,
  run: Run,
  view: MeasureView,
): Promise<Measured> {
  let { scenarios } = run;
  const results = new Map<number, TryResult>();
  const stopped = new StoppedSearch();
  try {
    const capacity = await findCapacity(
      async (calls) => {
        const one = await attempt(calls, { ...run, scenarios, windowMs, rampMs, criteria });
        if (one.result.interrupted) throw stopped;
        const holds = one.checked.every((each) => each.holds);
        const isGood = holds && !one.result.saturated;
        // Of several tries with the same number of calls, keep one that passed: it shows how much was left.
        if (isGood || !results.has(calls)) results.set(calls, one);
        // From now on, calls are as long as in this try: the rehearsal was only one call, to a server that had just started. A try that
        // failed does not count, because a server that cannot keep up makes calls longer.
        if (isGood) ({ scenarios } = one.result);
        view.say(tryText(calls, one, holds));
        return { holds, isSaturated: one.result.saturated };
      },
      { start: Math.min(FIRST_TRY_CALLS, maxCalls), max: maxCalls, precision: PRECISION },
    );
    return { kind: 'capacity', capacity, held: results.get(capacity.calls), interrupted: false };
  } catch (error) {
    if (error !== stopped) throw error;
    const held = [...results]
      .filter(([, { checked, result }]) => !result.saturated && checked.every((each) => each.holds))
      .map(([calls]) => calls);
    const calls = Math.max(0, ...held);
    const capacity: Capacity = { calls, failedAt: undefined, limit: 'maximum', tried: [] };
    return { kind: 'capacity', capacity, held: results.get(calls), interrupted: true };
  }
}

/** Ends a search when the user interrupts it. Not a failure. */
class StoppedSearch extends Error {}

type Attempt = Run & {
  readonly windowMs: number;
  readonly rampMs: number;
  readonly criteria: readonly Criterion[];
};

/** One try: a ramp, then the length of the longest call until the number of calls is reached, then the measured time. */
async function attempt(calls: number, { windowMs, rampMs, criteria, limits, ...run }: Attempt): Promise<TryResult> {
  const level = { kind: 'calls', calls } as const;
  const fillMs = longestOf(run.scenarios);
  const phases = phasesOf({ stages: [{ level, durationMs: windowMs }], rampMs, fillMs }, meanLengthOf(run.scenarios));
  // A search does not wait until calls end, but until every caller who waits for a reply has got it: otherwise the longest waits are lost.
  const result = await runLoad({ ...run, phases, warmUpMs: rampMs + fillMs, drainMs: limits.answerMs, endsWhenAnswered: true });
  return { result, checked: checkCriteria(criteria, result) };
}

function tryText(calls: number, { result, checked }: TryResult, holds: boolean): string {
  const values = checked.map(({ criterion, value }) => `${criterion.metric} ${value === undefined ? 'not measured' : value.toFixed(2)}`);
  const verdict = result.saturated ? 'the load was too slow' : holds ? 'holds' : 'does not hold';
  return `${String(calls)} calls: ${verdict} (at once ${result.calls.meanLive.toFixed(0)}, ${values.join(', ')})`;
}

async function checkMetrics({ metricsUrl }: LoadWish, { clock }: LoadSurroundings, signal: AbortSignal): Promise<void> {
  if (metricsUrl === undefined) return;
  try {
    await sampleServer(metricsUrl, clock, sendRequest, signal);
  } catch (error) {
    throw new RangeError(`--metrics ${metricsUrl}: the page ${sampleFailure(error)}`, { cause: error });
  }
}

function orderOf(wish: LoadWish, mix: readonly MixEntry[], sounds: readonly KnownSound[]): PrepareOrder {
  const { profile: _profile, organizationId: _organizationId, bearer = false, ...access } = wish.access;
  const { profileName: profile, callsPerConnection } = wish;
  return { kind: 'prepare', ...access, bearer, profile, callsPerConnection, sounds, scenarios: mix.map(({ scenario }) => scenario) };
}
