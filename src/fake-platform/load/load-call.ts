// Holds one call of a load: as any caller does, but keeps nothing of its sound and tells what it waits for at once.
import type { JsonObject } from '../../base/json.ts';
import type { Clock } from '../../base/clock.ts';
import type { CallLimits } from '../caller/call-limits.ts';
import { holdCall } from '../caller/caller.ts';
import type { PlatformHabits } from '../caller/key-entry.ts';
import type { Line } from '../lines/line.ts';
import type { Step } from '../caller/script.ts';
import type { Reply } from '../caller/turn.ts';
import type { Arrival } from './arrivals.ts';
import { factsOf, isRefused, replyWait, type CallFacts, type WaitFact } from './call-facts.ts';
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
  /** Silence after which it is reported where the server cannot say when (W-14), ms; 0 never. Default: that of the whole load. */
  readonly noInputMs?: number;
  /** Whether turns that are lost are said again. Default: as in the whole load. */
  readonly repeatsLostTurns?: boolean;
  /** The reason with which the server transfers the caller as it should; any other transfer is a failure. Default: all are. */
  readonly expectedTransfer?: string;
  /** Where the limits of the whole load do not fit. Connections are shared, and so is their limit. */
  readonly limits?: Partial<Pick<CallLimits, 'callMs' | 'answerMs'>>;
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
  /** Whether turns that are lost are said again. */
  readonly repeatsLostTurns: boolean;
  /** Ends the call: the caller hangs up at once. */
  readonly signal: AbortSignal;
  readonly onWaited: (wait: WaitFact) => void;
  /**
   * Told at the beginning how to ask, at any time, whether the caller waits for something since before a time of the run, ms.
   */
  readonly onBegun?: (isWaitingSince: (beforeMs: number) => boolean) => void;
}

/**
 * Holds the call. What a caller waits for counts from the moment it should have begun, which for the first sound is when the
 * call was due, however late the load was. Whatever is still waited for when the call is given up has been waited for that
 * long: or the worst waits would be those that do not count.
 */
export async function holdLoadCall(options: LoadCallOptions): Promise<CallFacts> {
  const { arrival, scenario, clock, zeroMs, onWaited } = options;
  const sinceBegin = (): number => clock.monotonicMs() - zeroMs;
  const watch = new PromptWatch(options.known);
  const call: { isHeard: boolean; givenUpMs?: number } = { isHeard: false };
  const waited = (kind: WaitFact['kind'] | undefined, waitedMs: number): void => {
    if (kind !== undefined) onWaited({ kind, fromMs: sinceBegin() - waitedMs, waitedMs: Math.max(0, waitedMs) });
  };
  const result = await holdCall(options.line, 'the server', {
    overLine: (line) => watch.over(line),
    repeatsLostTurns: scenario.repeatsLostTurns ?? options.repeatsLostTurns,
    script: scenario.script,
    sessionStart: scenario.session,
    habits: scenario.habits,
    allowPartial: scenario.allowPartial,
    ...(scenario.hangUpAtMs === undefined ? {} : { hangUpAtMs: scenario.hangUpAtMs }),
    limits: options.limits,
    clock,
    signal: options.signal,
    keepsSound: false,
    changeRate: silenceOfSameLength,
    onBegun: (due) => {
      options.onBegun?.(
        (beforeMs) =>
          (!call.isHeard && arrival.dueMs <= beforeMs) ||
          due().some(({ kind, waitedMs }) => isWaitedFor(kind) && sinceBegin() - waitedMs <= beforeMs),
      );
    },
    onSound: () => {
      if (!call.isHeard) waited('first_audio', sinceBegin() - arrival.dueMs);
      call.isHeard = true;
    },
    onReply: ({ kind, latencyMs }) => {
      if (latencyMs !== undefined) waited(replyWait(kind), latencyMs);
    },
    onGivenUp: (due) => {
      call.givenUpMs = sinceBegin();
      for (const { kind, waitedMs } of due) if (isWaitedFor(kind)) waited(replyWait(kind), waitedMs);
    },
  });
  const facts = factsOf(result, arrival, scenario.expectedTransfer, { isHeard: call.isHeard, sound: watch.compare() });
  if (!facts.isHeard && call.givenUpMs !== undefined && !isRefused(facts)) {
    onWaited({ kind: 'first_audio', fromMs: arrival.dueMs, waitedMs: Math.max(0, call.givenUpMs - arrival.dueMs) });
  }
  return facts;
}

/** Nobody waits for an answer to the first of several keys. */
function isWaitedFor(kind: Reply['kind']): boolean {
  return kind !== 'dtmf_start' && replyWait(kind) !== undefined;
}

/** Prompts of another rate: nobody listens, and how long they are is all that counts. */
function silenceOfSameLength(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  return new Int16Array(Math.round((samples.length * toHz) / fromHz));
}
