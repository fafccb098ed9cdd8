// Calls that run while something happens to the servers: begins them, lets it happen, and says what callers heard.
import { setTimeout as pause } from 'node:timers/promises';
import { Callers, type HeardSum, type PlacedCall } from './callers.ts';
import type { Fleet } from './fleet.ts';
import { recordedPhrases } from './phrases.ts';

/** How many calls there are, and for how long. */
export interface TrialPlan {
  readonly fleet: Fleet;
  readonly calls: number;
  /** Default: until what happens is over. */
  readonly seconds?: number;
  /** Inputs of a call before its goodbye. Default 6: a call of about half a minute. */
  readonly inputs?: number;
  readonly repeatsLostTurns: boolean;
  readonly seed: number;
  /** What happens meanwhile, until the signal says that the time is over. */
  readonly disturb: (signal: AbortSignal) => Promise<void>;
  /** Takes lines for people. */
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** What came of it. */
export interface TrialResult {
  readonly sum: HeardSum;
  readonly stories: readonly string[];
  readonly calls: readonly PlacedCall[];
  /** How late the callers themselves were at worst, ms: silences of that length may be their own. */
  readonly callersLateMs: number;
}

const DEFAULT_INPUTS = 6;
/** Callers begin within this time, ms. */
const SPREAD_MS = 4000;
const PROGRESS_MS = 10_000;

/** Runs it. @throws what `disturb` throws, and Error when callers themselves failed. */
export async function runTrial({ fleet, calls, seconds, inputs = DEFAULT_INPUTS, disturb, ...plan }: TrialPlan): Promise<TrialResult> {
  const { repeatsLostTurns, seed, onProgress = () => undefined } = plan;
  const phrases = await recordedPhrases();
  const callers = Callers.begin({ access: fleet.access, callers: calls, inputs, phrases, repeatsLostTurns, spreadMs: SPREAD_MS, seed });
  const startedMs = performance.now();
  const over = new AbortController();
  const progress = setInterval(() => {
    const { sum } = callers;
    const elapsed = Math.round((performance.now() - startedMs) / 1000);
    onProgress(
      `${String(elapsed).padStart(4)} s  calls ${String(sum.calls)} + ${String(callers.running)}  answers ${String(sum.turns)}  said again ` +
        `${String(sum.turnsRepeated)}  lost ${String(sum.verdicts.lost_between_turns)} + ${String(sum.verdicts.lost_in_turn)}`,
    );
  }, PROGRESS_MS);
  try {
    const disturbed = pause(SPREAD_MS, undefined, { signal: over.signal }).then(() => disturb(over.signal));
    const time = seconds === undefined ? disturbed : pause(seconds * 1000, undefined, { signal: over.signal });
    // What fails early ends the trial early.
    await Promise.race([time, disturbed.then(() => time)]);
    over.abort();
    await disturbed.catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    });
    const sum = await callers.end();
    return { sum, stories: callers.stories, calls: callers.calls, callersLateMs: callers.lateMs };
  } finally {
    over.abort();
    clearInterval(progress);
    callers.kill();
  }
}

/** Waits; false when the time was over before. */
export async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
