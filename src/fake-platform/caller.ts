// Places one call as the platform does, from SESSION_START to the end, and says how it went. Joins line, turn grammar
// and person; decides nothing about turns itself.
import { randomUUID } from 'node:crypto';
import { systemClock, type Clock } from '../base/clock.ts';
import type { JsonObject } from '../base/json.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import { CallClock } from './call-clock.ts';
import { unmetExpectations, type Expectation, type Unmet } from './expectation.ts';
import { Findings, type Finding } from './finding.ts';
import { GrpcConnection } from './grpc-line.ts';
import type { PlatformHabits } from './key-entry.ts';
import type { CallOutcome } from './outcome.ts';
import type { Line } from './line.ts';
import { Person } from './person.ts';
import type { ChangeRate } from './prompt-sound.ts';
import type { Step } from './script.ts';
import { parseTarget, targetText } from './target.ts';
import { Timeline, type TimelineEvent } from './timeline.ts';
import { TurnGrammar } from './turn-grammar.ts';
import type { Reply } from './turn.ts';

/** The longest that a call and its parts may take, ms. */
export interface CallLimits {
  /** The whole call. Default 120 000. */
  readonly callMs: number;
  /** Until the connection stands. Default 5 000. */
  readonly connectMs: number;
  /** Until a sign of a reply, and from the last one to the completion of an RPC. Default 10 000 (G-95 asks for 6 s). */
  readonly answerMs: number;
}

const DEFAULT_LIMITS: CallLimits = { callMs: 120_000, connectMs: 5000, answerMs: 10_000 };

/** What the caller does on a call, and what is watched. */
export interface HeldCallOptions {
  /** What the flow sends with SESSION_START (G-24); default nothing. */
  readonly sessionStart?: { readonly name?: string; readonly parameters?: JsonObject };
  /** Accept PARTIAL answers (G-45). Default false. */
  readonly allowPartial?: boolean;
  /** What the caller does; default: hears the welcome and hangs up. */
  readonly script?: readonly Step[];
  /** The caller hangs up at this time whatever happens then, ms since the call began; default never. */
  readonly hangUpAtMs?: number;
  readonly habits?: PlatformHabits;
  readonly limits?: Partial<CallLimits>;
  readonly expectations?: readonly Expectation[];
  /** Needed for prompts that do not have 8 kHz. */
  readonly changeRate?: ChangeRate;
  readonly clock?: Clock;
  /** Ends the call from outside: the caller hangs up at once, outcome `interrupted`. */
  readonly signal?: AbortSignal;
  /** Called for every line of the timeline as it happens. */
  readonly onEvent?: (event: TimelineEvent) => void;
}

/** One call to be placed. */
export interface CallOptions extends HeldCallOptions {
  /** `host:port` (TLS), `grpcs://host:port` or `grpc://host:port` (plaintext). */
  readonly target: string;
  readonly profile: PlatformProfile;
  readonly organizationId: string;
  /** Default none: the server's default agent answers (G-07). */
  readonly agentId?: string;
  /** Default a fresh UUID. */
  readonly conversationId?: string;
  /** Opaque text of the administrator's agent configuration; default none. */
  readonly vendorConfig?: string;
  readonly token?: string;
  /** Send `Bearer TOKEN` (G-03). Default false: the token alone. */
  readonly bearer?: boolean;
  /** PEM of the only authorities trusted; default those of Node. */
  readonly certificateAuthority?: Uint8Array;
  /** Name the certificate must carry; default the target's host. */
  readonly serverName?: string;
}

/** How a call went. */
export interface CallResult {
  /** The call was held to its end, and every expectation was met. Breaches of the contract alone do not make it false. */
  readonly ok: boolean;
  readonly outcome: CallOutcome;
  readonly durationMs: number;
  readonly timeline: readonly TimelineEvent[];
  readonly replies: readonly Reply[];
  /** What was heard of which the server gave the text, in order. */
  readonly heardTexts: readonly string[];
  /** What the caller heard and said, 8 kHz, both from the beginning to the end of the call. */
  readonly heard: Int16Array;
  readonly said: Int16Array;
  readonly findings: readonly Finding[];
  readonly unmet: readonly Unmet[];
}

/**
 * Places one call and waits for its end, which the limits guarantee.
 *
 * @throws RangeError when the target is no address. Everything that goes wrong on the line is a finding of the result.
 */
export async function placeCall(options: CallOptions): Promise<CallResult & { readonly conversationId: string }> {
  const target = parseTarget(options.target);
  const conversationId = options.conversationId ?? randomUUID();
  const connection = new GrpcConnection({
    ...options,
    target,
    clock: options.clock ?? systemClock,
    connectLimitMs: options.limits?.connectMs ?? DEFAULT_LIMITS.connectMs,
  });
  const line = connection.line({
    conversationId,
    organizationId: options.organizationId,
    agentId: options.agentId ?? '',
    vendorConfig: options.vendorConfig ?? '',
    allowPartial: options.allowPartial ?? false,
  });
  try {
    await connection.connect(options.signal);
    return { ...(await holdCall(line, targetText(target), options)), conversationId };
  } finally {
    connection.close();
  }
}

/**
 * Holds one call over a line that is ready to be used. The line is left open.
 *
 * @param address - what the timeline calls the other side.
 */
export function holdCall(line: Line, address: string, options: HeldCallOptions): Promise<CallResult> {
  const clock = new CallClock(options.clock ?? systemClock);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const timeline = new Timeline(clock, options.onEvent);
  const findings = new Findings(({ code, rule, message, turn }) => {
    timeline.add('platform', 'finds', { turn, detail: `${rule === undefined ? '' : `${rule} `}${code}: ${message}` });
  });
  timeline.add('platform', 'calls', { detail: address });
  return new Promise((resolve) => {
    const grammar: TurnGrammar = new TurnGrammar({
      line,
      clock,
      timeline,
      findings,
      habits: options.habits ?? {},
      allowPartial: options.allowPartial ?? false,
      answerLimitMs: limits.answerMs,
      ...(options.changeRate === undefined ? {} : { changeRate: options.changeRate }),
      onChanged: () => {
        person.look();
      },
      onReplied: (turn) => {
        person.replied(turn);
      },
      onOver: (outcome) => {
        over(outcome);
      },
    });
    const person = new Person({ script: options.script ?? [], clock, timeline, grammar, answerLimitMs: limits.answerMs });
    const leave = (outcome: CallOutcome): void => {
      person.stop();
      timeline.add(outcome === 'hung_up' ? 'caller' : 'platform', outcome === 'hung_up' ? 'hangs_up' : 'breaks_off');
      grammar.hangUp(outcome);
    };
    const onAbort = (): void => {
      leave('interrupted');
    };
    const cancelLimit = clock.after(limits.callMs, () => {
      grammar.fail('call_limit', `the call was not over after ${String(limits.callMs)} ms`, true);
    });
    const cancelHangUp =
      options.hangUpAtMs === undefined
        ? undefined
        : clock.after(options.hangUpAtMs, () => {
            leave('hung_up');
          });
    const over = (outcome: CallOutcome): void => {
      const durationMs = clock.nowMs();
      person.stop();
      cancelLimit();
      cancelHangUp?.();
      options.signal?.removeEventListener('abort', onAbort);
      timeline.add('platform', outcome);
      const call = { outcome, replies: grammar.book.replies, heardTexts: heardTexts(grammar) };
      const unmet = unmetExpectations(options.expectations ?? [], call);
      resolve({
        ...call,
        ok: outcome !== 'failed' && outcome !== 'interrupted' && unmet.length === 0,
        durationMs,
        timeline: timeline.events,
        heard: grammar.playback.heard(durationMs),
        said: grammar.listening.microphone.said(durationMs),
        findings: findings.all,
        unmet,
      });
    };
    if (options.signal?.aborted === true) {
      over('interrupted');
      return;
    }
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const { name = '', parameters = {} } = options.sessionStart ?? {};
    grammar.start({ kind: 'session_start', name, parameters });
  });
}

/** What the server gave the text of, in the order of the RPCs; prompts that were cut before they began are left out. */
function heardTexts({ book, playback }: TurnGrammar): readonly string[] {
  return book.all.flatMap((turn) => ((turn.audioMs === 0 && !turn.isInterrupted) || playback.hasHeard(turn.id) ? turn.texts : []));
}
