// Places one call of a load: like any caller, but keeps no sound and reports every wait at once.
import type { Clock } from '../../base/clock.ts';
import { holdCall, type CallOptions } from '../caller/caller.ts';
import type { Line } from '../lines/line.ts';
import type { Reply } from '../caller/turn.ts';
import type { Arrival } from './arrivals.ts';
import { factsOf, isRefused, replyWait, type CallFacts, type WaitFact } from './call-facts.ts';
import { PromptWatch, type KnownSounds } from './prompt-watch.ts';

type CallerOptions = 'script' | 'sessionStart' | 'habits' | 'allowPartial' | 'vendorConfig' | 'hangUpAtMs' | 'limits';

/** What callers of one kind do, and whom they call. Sound and keys are ready. */
export interface LoadScenario extends Pick<CallOptions, CallerOptions> {
  readonly name: string;
  readonly organizationId: string;
  /** Empty: the server's default agent answers (G-07). */
  readonly agentId: string;
  /** Silence after which it is reported where the server cannot say when (W-14), ms; 0 never. */
  readonly noInputMs: number;
  readonly repeatsLostTurns: boolean;
  /** The reason of the transfer that the scenario expects; any other transfer is a failure. Default: all are. */
  readonly expectedTransfer?: string;
}

export interface LoadCallOptions {
  readonly arrival: Arrival;
  readonly scenario: LoadScenario;
  /** The connection to the server; it stays open. */
  readonly line: Line;
  readonly clock: Clock;
  /** When the run began, monotonic, ms. */
  readonly zeroMs: number;
  readonly known: KnownSounds;
  /** Ends the call: the caller hangs up at once. */
  readonly signal: AbortSignal;
  readonly onWaited: (wait: WaitFact) => void;
  /**
   * Called at the beginning with a function that returns, at any time, whether the caller has waited for something since before a time of
   * the run, ms.
   */
  readonly onBegun?: (isWaitingSince: (beforeMs: number) => boolean) => void;
}

/**
 * Places the call. A wait counts from the moment at which its reply should have begun, which for the first sound is when the
 * call was due, however late the load was. A wait that is still open when the call stops counts with its length
 * so far: otherwise the worst waits would not count.
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
    ...scenario,
    overLine: (line) => watch.over(line),
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

/** Prompts of another rate: nobody listens, so only their length matters. */
function silenceOfSameLength(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  return new Int16Array(Math.round((samples.length * toHz) / fromHz));
}
