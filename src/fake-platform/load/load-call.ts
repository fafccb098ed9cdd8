// Places one call of a load. The caller behaves like any other, but the call keeps no audio and reports every wait at once.
import type { Clock } from '../../base/clock.ts';
import { holdCall, type CallOptions } from '../caller/caller.ts';
import type { Line } from '../lines/line.ts';
import type { Reply } from '../caller/turn.ts';
import type { Arrival } from './arrivals.ts';
import { factsOf, isRefused, replyWait, type CallFacts, type WaitFact } from './call-facts.ts';
import { PromptWatch, type KnownSounds } from './prompt-watch.ts';

type CallerOptions = 'script' | 'sessionStart' | 'habits' | 'allowPartial' | 'vendorConfig' | 'hangUpAtMs' | 'limits';

/** What callers of one kind do, and whom they call. Their audio and keys are ready to be sent. */
export interface LoadScenario extends Pick<CallOptions, CallerOptions> {
  readonly name: string;
  readonly organizationId: string;
  /** Empty: the server's default agent answers (G-07). */
  readonly agentId: string;
  /** Silence before no-input where the server cannot name a time (W-14), ms; 0: never. */
  readonly noInputMs: number;
  readonly repeatsLostTurns: boolean;
  /** The reason of the transfer that the scenario expects; any other transfer is a failure. Undefined: every transfer is one. */
  readonly expectedTransfer?: string;
}

export interface LoadCallOptions {
  readonly arrival: Arrival;
  readonly scenario: LoadScenario;
  /** The line of the call; it stays open afterwards. */
  readonly line: Line;
  readonly clock: Clock;
  /** When the run began, monotonic ms. */
  readonly zeroMs: number;
  readonly known: KnownSounds;
  /** Makes the caller hang up at once. */
  readonly signal: AbortSignal;
  readonly onWaited: (wait: WaitFact) => void;
  /**
   * Called when the call begins. The passed function says whether the caller waits now, and has done so since `beforeMs` or earlier, ms
   * since the run began.
   */
  readonly onBegun?: (isWaitingSince: (beforeMs: number) => boolean) => void;
}

/**
 * Places the call. A wait begins when its reply should have begun. The wait for the first sound begins when the call was due, however late
 * the load started it. A wait that has not ended when the call stops counts with its length so far: otherwise the worst waits would be
 * missing.
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

/** No reply is due to the first of several keys. */
function isWaitedFor(kind: Reply['kind']): boolean {
  return kind !== 'dtmf_start' && replyWait(kind) !== undefined;
}

/** Converts prompts of another sample rate to silence: nobody listens, so only their length counts. */
function silenceOfSameLength(samples: Int16Array, fromHz: number, toHz: number): Int16Array {
  return new Int16Array(Math.round((samples.length * toHz) / fromHz));
}
