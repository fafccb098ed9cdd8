// More calls than a server takes: the same server with as many as it takes and with three times as many arriving. What those hear
// that it takes, how soon the others hear that it does not, and whether its memory stays where it was.
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Callers } from '../../test/fleet/callers.ts';
import { Fleet } from '../../test/fleet/fleet.ts';
import { verdictOf, type HeardCall } from '../../test/fleet/heard-call.ts';
import type { Program, Replica } from '../../test/fleet/replica.ts';
import { recordedPhrases } from '../../test/fleet/phrases.ts';
import { waited } from '../../test/fleet/trial.ts';
import { until } from '../../test/support/until.ts';
import { hundredths, percentileFigure } from '../bench/figures.ts';

/** How it is measured. */
export interface OverloadPlan {
  /** Calls that the server takes at once (`sessions.max`). */
  readonly capacity: number;
  /** How many times as many arrive. */
  readonly times: number;
  readonly seconds: number;
  readonly program: Program;
  readonly seed: number;
  readonly onProgress: (line: string) => void;
}

/** What callers heard of one load. Times are ms. */
export interface LoadFigures {
  readonly callsPerSecond: number;
  readonly taken: number;
  readonly refused: number;
  /** Calls that were taken and not heard to their end. */
  readonly lost: number;
  /** From the last word or key of a caller to the reply, of calls that were taken; and of keys alone. */
  readonly replyP50: number;
  readonly replyP99: number;
  readonly keyReplyP50: number;
  readonly keyReplyP99: number;
  /** From the moment a call was due to the first sound, of those that were refused. */
  readonly refusedP99: number;
  readonly refusedMax: number;
  readonly residentMb: number;
}

/** What it came to. */
export interface OverloadResult {
  readonly ok: boolean;
  readonly atCapacity: LoadFigures;
  readonly overloaded: LoadFigures;
  /** The 99th percentile of replies, overloaded by not overloaded; that of keys alone stands beside. */
  readonly replyP99Ratio: number;
  readonly keyReplyP99Ratio: number;
  readonly memoryGrowthMb: number;
  readonly callersLateMs: number;
}

/** The 99th percentile of the calls that are taken may be so many times as large; a millisecond more is none. */
const MAX_RATIO = 1.2;
const MAX_DIFFERENCE_MS = 1;
/** Longest until a caller who is refused hears so, ms. */
const MAX_REFUSED_MS = 500;
/** Growth that is no growth: what is remembered of ended calls, up to its bounds. */
const MAX_GROWTH_MB = 100;
const INPUTS = 4;
const MEMORY_SAMPLE_MS = 500;

/** Measures it on one server, first with as many calls as it takes. */
export async function overload({ capacity, times, seconds, program, seed, onProgress }: OverloadPlan): Promise<OverloadResult> {
  const flags = [`--sessions.max=${String(capacity)}`, '--log.level=warn'];
  const fleet = await Fleet.start({ program, isShared: false, flags, replicas: 1 });
  try {
    const [replica] = fleet.replicas;
    if (replica === undefined) throw new Error('a fleet has a server');
    const phrases = await recordedPhrases();
    const measured = async (callsPerSecond: number): Promise<LoadFigures & { readonly lateMs: number }> => {
      const wish = {
        access: fleet.accessTo(replica),
        callsPerSecond,
        inputs: INPUTS,
        phrases,
        repeatsLostTurns: false,
        spreadMs: 0,
        seed,
      };
      const callers = Callers.begin(wish, true);
      const over = new AbortController();
      const memory = residentMax(replica, over.signal);
      await pause(seconds * 1000);
      await callers.end();
      over.abort();
      return { ...figuresOf(callers.calls, callsPerSecond), residentMb: await memory, lateMs: callers.lateMs };
    };
    // How long calls are decides how many a second keep the server full.
    onProgress('one call, for its length');
    const callMs = await callLength(fleet, replica, seed, phrases);
    const full = (0.9 * capacity * 1000) / callMs;
    onProgress(`${full.toFixed(2)} calls a second, as many as are taken`);
    await measured(full);
    const { lateMs: lateBeforeMs, ...atCapacity } = await measured(full);
    onProgress(`${(full * times).toFixed(2)} calls a second`);
    const { lateMs, ...overloaded } = await measured(full * times);
    const growthMb = overloaded.residentMb - atCapacity.residentMb;
    const ratio = overloaded.replyP99 / Math.max(0.01, atCapacity.replyP99);
    const isUnchanged = ratio <= MAX_RATIO || overloaded.replyP99 - atCapacity.replyP99 <= MAX_DIFFERENCE_MS;
    return {
      ok:
        isUnchanged &&
        overloaded.refused > 0 &&
        overloaded.refusedMax < MAX_REFUSED_MS &&
        atCapacity.lost + overloaded.lost === 0 &&
        growthMb < MAX_GROWTH_MB,
      ...{ atCapacity, overloaded },
      replyP99Ratio: hundredths(ratio),
      keyReplyP99Ratio: hundredths(overloaded.keyReplyP99 / Math.max(0.01, atCapacity.keyReplyP99)),
      memoryGrowthMb: hundredths(growthMb),
      callersLateMs: hundredths(Math.max(lateBeforeMs, lateMs)),
    };
  } finally {
    await fleet.close();
  }
}

async function callLength(fleet: Fleet, replica: Replica, seed: number, phrases: readonly string[]): Promise<number> {
  const wish = { access: fleet.accessTo(replica), callers: 1, inputs: INPUTS, phrases, repeatsLostTurns: false, spreadMs: 0, seed };
  const callers = Callers.begin(wish, true);
  // A process that has only just begun to load itself would hold none.
  await until('a call is held', () => callers.running > 0);
  await callers.end();
  const [call] = callers.calls;
  if (call === undefined) throw new Error('no call was held');
  return call.durationMs;
}

function figuresOf(calls: readonly HeardCall[], callsPerSecond: number): Omit<LoadFigures, 'residentMb'> {
  const by = (verdict: ReturnType<typeof verdictOf>): readonly HeardCall[] => calls.filter((call) => verdictOf(call, true) === verdict);
  const taken = by('whole');
  const refused = by('refused');
  const waits = taken.flatMap(({ waitsMs }) => waitsMs);
  const keyWaits = taken.flatMap(({ keyWaitsMs }) => keyWaitsMs);
  // A caller who was refused without a word would have waited for ever.
  const firstWords = refused.map(({ firstSoundMs }) => firstSoundMs ?? Infinity);
  return {
    callsPerSecond: hundredths(callsPerSecond),
    taken: taken.length,
    refused: refused.length,
    lost: calls.length - taken.length - refused.length,
    replyP50: percentileFigure(waits, 0.5),
    replyP99: percentileFigure(waits, 0.99),
    keyReplyP50: percentileFigure(keyWaits, 0.5),
    keyReplyP99: percentileFigure(keyWaits, 0.99),
    refusedP99: percentileFigure(firstWords, 0.99),
    refusedMax: hundredths(Math.max(0, ...firstWords)),
  };
}

/** The most memory that the process has held, MB. */
async function residentMax({ pid }: Replica, signal: AbortSignal): Promise<number> {
  let most = 0;
  do {
    const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
    most = Math.max(most, Number(/^VmRSS:\s+(?<kb>\d+)/mu.exec(status)?.groups?.['kb'] ?? 0) / 1024);
  } while (await waited(MEMORY_SAMPLE_MS, signal));
  return hundredths(most);
}
