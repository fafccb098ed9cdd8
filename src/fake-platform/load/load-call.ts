// Holds one call of a load: as any caller does, but keeps nothing of its sound and tells what it waits for at once.
import type { JsonObject } from '../../base/json.ts';
import type { Clock } from '../../base/clock.ts';
import type { CallLimits } from '../call-limits.ts';
import { holdCall } from '../caller.ts';
import type { PlatformHabits } from '../key-entry.ts';
import type { Line } from '../line.ts';
import type { Step } from '../script.ts';
import type { Arrival } from './arrivals.ts';
import { factsOf, replyWait, type CallFacts, type WaitFact } from './call-facts.ts';
import { PromptWatch, type KnownSounds } from './prompt-watch.ts';

/** What callers of one kind do. Ready sound and keys, nothing to be prepared any more. */
export interface LoadScenario {
  readonly name: string;
  readonly script: readonly Step[];
  /** The agent and the organization that are called; empty: those of the whole load. */
  readonly agentId: string;
  readonly organizationId: string;
  /** Opaque text of the administrator's agent configuration; empty: none. */
  readonly vendorConfig: string;
  readonly allowPartial: boolean;
  /** What the flow sends with SESSION_START (G-24). */
  readonly session: { readonly name: string; readonly parameters: JsonObject };
  readonly habits: PlatformHabits;
  /** The caller hangs up at this time whatever happens then, ms since the call began. */
  readonly hangUpAtMs?: number;
}

/** What a call of a load works with. */
export interface LoadCallOptions {
  readonly arrival: Arrival;
  readonly scenario: LoadScenario;
  /** The way to the server; it is left open. */
  readonly line: Line;
  readonly clock: Clock;
  /** When the run began, ms of the clock's monotonic time. */
  readonly zeroMs: number;
  readonly known: KnownSounds;
  readonly limits: CallLimits;
  /** Ends the call: the caller hangs up at once. */
  readonly signal: AbortSignal;
  readonly onWaited: (wait: WaitFact) => void;
}

/**
 * Holds the call. What a caller waits for counts from the moment it should have begun, which for the first sound is when the
 * call was due, however late the load was; a caller who hears nothing until the call is given up has waited that long.
 */
export async function holdLoadCall(options: LoadCallOptions): Promise<CallFacts> {
  const { arrival, scenario, clock, zeroMs, onWaited } = options;
  const sinceBegin = (): number => clock.monotonicMs() - zeroMs;
  const watch = new PromptWatch(options.line, options.known);
  const lateMs = Math.max(0, sinceBegin() - arrival.dueMs);
  const heard = { isHeard: false };
  const hear = (): void => {
    heard.isHeard = true;
    onWaited({ kind: 'first_audio', fromMs: arrival.dueMs, waitedMs: Math.max(0, sinceBegin() - arrival.dueMs) });
  };
  const result = await holdCall(watch.line, 'the server', {
    script: scenario.script,
    sessionStart: scenario.session,
    habits: scenario.habits,
    allowPartial: scenario.allowPartial,
    ...(scenario.hangUpAtMs === undefined ? {} : { hangUpAtMs: scenario.hangUpAtMs }),
    limits: options.limits,
    clock,
    signal: options.signal,
    keepsSound: false,
    onReply: ({ kind, prompts, latencyMs }) => {
      if (!heard.isHeard && prompts > 0) hear();
      const waited = replyWait(kind);
      if (waited !== undefined && latencyMs !== undefined) {
        onWaited({ kind: waited, fromMs: sinceBegin() - latencyMs, waitedMs: Math.max(0, latencyMs) });
      }
    },
  });
  const facts = factsOf(result, arrival, { lateMs, ...heard, sound: watch.counts });
  if (!facts.isHeard && facts.failures.some(({ code }) => code === 'no_answer' || code === 'call_limit')) {
    onWaited({ kind: 'first_audio', fromMs: arrival.dueMs, waitedMs: sinceBegin() - arrival.dueMs });
  }
  return facts;
}
