// The requested load as a user writes it: levels, ramps and steps, converted to rates. Knows no call.
import type { LoadPhase } from './arrivals.ts';

/** The size of a level: calls per second, or parallel calls. */
export type LoadLevel = { readonly kind: 'rate'; readonly perSecond: number } | { readonly kind: 'calls'; readonly calls: number };

export interface LoadStage {
  readonly level: LoadLevel;
  readonly durationMs: number;
}

/** The measured part of a level, ms since the run began. */
export interface LevelTime {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The load over the whole run. */
export interface LoadShape {
  readonly stages: readonly LoadStage[];
  /** Time for a ramp to the next level, ms; 0: no ramp. The first ramp begins at a rate of 0. */
  readonly rampMs: number;
  /** Time that a level of parallel calls needs at its rate until the calls have their number, ms. The level lasts that much longer. */
  readonly fillMs: number;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MAX_DURATION_MS = 7 * 24 * 3_600_000;
const MAX_PER_SECOND = 10_000;
const MAX_CALLS = 100_000;

/** Reads `500ms`, `30s`, `5m` or `1h`. @throws RangeError with a sentence for the user. */
export function parseDuration(text: string): number {
  const parts = /^(?<number>\d+(?:\.\d+)?)(?<unit>ms|s|m|h)$/u.exec(text.trim())?.groups;
  const ms = Number(parts?.['number']) * (UNIT_MS[parts?.['unit'] ?? ''] ?? Number.NaN);
  if (!Number.isFinite(ms) || ms > MAX_DURATION_MS) throw new RangeError(`"${text}" is no time: write 500ms, 30s, 5m or 1h`);
  return ms;
}

/** Reads `5/s`, `90/m` or a plain number, as calls per second. @throws RangeError with a sentence for the user. */
export function parseRate(text: string): number {
  const parts = /^(?<number>\d+(?:\.\d+)?)(?:\/(?<unit>s|m|h))?$/u.exec(text.trim())?.groups;
  const perSecond = (Number(parts?.['number']) * 1000) / (UNIT_MS[parts?.['unit'] ?? 's'] ?? Number.NaN);
  if (!(perSecond > 0) || perSecond > MAX_PER_SECOND) {
    throw new RangeError(`"${text}" is no rate: write 5/s or 90/m, at most ${String(MAX_PER_SECOND)}/s`);
  }
  return perSecond;
}

/** Reads a number of calls. @throws RangeError with a sentence for the user. */
export function parseCalls(text: string): number {
  const calls = Number(text);
  if (!/^\d+$/u.test(text.trim()) || calls < 1 || calls > MAX_CALLS) {
    throw new RangeError(`"${text}" is no number of calls: write a whole number from 1 to ${String(MAX_CALLS)}`);
  }
  return calls;
}

/**
 * Reads steps such as `50,100,200:2m` or `5/s:30s,10/s`: levels, each with its time.
 * @param durationMs - duration of levels without a time of their own, ms.
 * @throws RangeError with a sentence for the user.
 */
export function parseSteps(text: string, durationMs: number): readonly LoadStage[] {
  return text.split(',').map((step) => {
    const [level = '', time, ...rest] = step.trim().split(':');
    if (rest.length > 0) throw new RangeError(`"${step}" is no step: write 50 (calls at once) or 5/s, and :2m for its time`);
    return {
      level: level.includes('/') ? { kind: 'rate', perSecond: parseRate(level) } : { kind: 'calls', calls: parseCalls(level) },
      durationMs: time === undefined ? durationMs : parseDuration(time),
    };
  });
}

/**
 * The rates of a shape. A number of parallel calls becomes a rate by Little's law, number = rate × length: an open model only controls how
 * many calls start.
 * @param meanCallMs - mean length of a call, ms.
 */
export function phasesOf({ stages, rampMs, fillMs }: LoadShape, meanCallMs: number): readonly LoadPhase[] {
  const phases: LoadPhase[] = [];
  let before = 0;
  for (const { level, durationMs } of stages) {
    const perSecond = level.kind === 'rate' ? level.perSecond : (level.calls * 1000) / meanCallMs;
    if (rampMs > 0) phases.push({ durationMs: rampMs, fromPerSecond: before, toPerSecond: perSecond });
    phases.push({ durationMs: durationMs + fillOf(level, fillMs), fromPerSecond: perSecond, toPerSecond: perSecond });
    before = perSecond;
  }
  return phases;
}

/** The measured part of each level: from the time at which it is reached. */
export function levelsOf({ stages, rampMs, fillMs }: LoadShape): readonly LevelTime[] {
  let atMs = 0;
  return stages.map(({ level, durationMs }) => {
    const fromMs = atMs + rampMs + fillOf(level, fillMs);
    atMs = fromMs + durationMs;
    return { name: level.kind === 'calls' ? `${String(level.calls)} calls` : `${level.perSecond.toFixed(2)}/s`, fromMs, toMs: atMs };
  });
}

function fillOf({ kind }: LoadLevel, fillMs: number): number {
  return kind === 'calls' ? fillMs : 0;
}
