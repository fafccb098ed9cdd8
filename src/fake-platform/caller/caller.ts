// Places one call as the platform does, from SESSION_START to the end, and reports the result. Connects line, turn
// grammar and person; decides nothing about turns itself.
import { randomUUID } from 'node:crypto';
import { systemClock, type CancelTimer, type Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { scaledClock } from '../../base/scaled-clock.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { CallClock, DEFAULT_LIMITS, stretched, type CallLimits } from './call-clock.ts';
import { addedWaitMs, checkConditions, underConditions, type LineConditions } from '../lines/conditions/line-conditions.ts';
import { apologies, unmetExpectations, type Unmet } from './expectation-check.ts';
import type { Expectation } from './expectation.ts';
import { Findings, type Finding, type CallOutcome, type Ending } from './finding.ts';
import type { PlatformHabits } from './key-entry.ts';
import type { Line } from '../lines/line.ts';
import { openConnection } from '../lines/open-connection.ts';
import { Person } from './person.ts';
import { LivePhone, type Phone } from './phone.ts';
import type { ChangeRate } from './prompt-sound.ts';
import type { ReplySoundWish } from './prompt-taker.ts';
import { repeatingLine } from '../lines/repeating-line.ts';
import type { Improvise, Step, StepMark } from './script.ts';
import { parseTarget, targetText } from '../lines/target.ts';
import { Timeline, type TimelineEvent } from './timeline.ts';
import type { DueReply, LostTurns } from './turn-book.ts';
import { TurnGrammar } from './turn-grammar.ts';
import type { Reply, Turn } from './turn.ts';

export interface FlowEvent {
  /** ms since the call began. */
  readonly atMs: number;
  readonly name: string;
  readonly parameters: JsonObject;
}

/** What the caller does on a call, and what is observed. */
export interface HeldCallOptions {
  /** What the flow sends with SESSION_START (G-24); default nothing. */
  readonly sessionStart?: { readonly name?: string; readonly parameters?: JsonObject };
  /** Accept PARTIAL answers (G-45). Default false. */
  readonly allowPartial?: boolean;
  /** What the caller does; default: hears the welcome and hangs up. */
  readonly script?: readonly Step[];
  /** Chooses the steps after those of the script; default: the caller hangs up. */
  readonly improvise?: Improvise | undefined;
  /** Set when a real person is the caller: receives the phone when the call begins. The script is not used. Needs `keepsSound`. */
  readonly onPhone?: ((phone: Phone) => void) | undefined;
  /** See {@link PhoneOptions.onHeard}. */
  readonly onHeard?: ((frame: Uint8Array) => void) | undefined;
  /** Background noise of the caller, played in a loop: 16 bit, 8 kHz. Default none. */
  readonly noise?: Int16Array | undefined;
  /** When the caller hangs up whatever else happens, ms since the call began; default never. */
  readonly hangUpAtMs?: number;
  /** Events that the flow sends at set times, whatever the caller does (G-72). */
  readonly flowEvents?: readonly FlowEvent[];
  /** How the line behaves; default good. */
  readonly conditions?: LineConditions;
  /**
   * Whether a turn whose RPC is lost is sent again on a new RPC, a few times at most; only on gRPC. Default false: the call fails.
   * What the platform does after the loss of an RPC is not known.
   */
  readonly repeatsLostTurns?: boolean;
  /** Observes the line, or changes what goes over it; default nothing. */
  readonly overLine?: (line: Line) => Line;
  readonly habits?: PlatformHabits;
  /** Limits in real time, whatever the pace of the call. */
  readonly limits?: Partial<CallLimits>;
  readonly expectations?: readonly Expectation[];
  /** Needed for prompts at rates other than 8 kHz. */
  readonly changeRate?: ChangeRate;
  readonly clock?: Clock;
  /** The speed of the call: how many times faster than `clock`. Default 1. */
  readonly pace?: number;
  /** Ends the call from outside: the caller hangs up at once, outcome `interrupted`. */
  readonly signal?: AbortSignal;
  /** Called for every line of the timeline as it happens. */
  readonly onEvent?: (event: TimelineEvent) => void;
  readonly onFinding?: (finding: Finding) => void;
  /** Called when a reply begins, with the reply so far. */
  readonly onReply?: (reply: Reply) => void;
  /** Called when a sound begins to be heard. */
  readonly onSound?: () => void;
  /** Receives a function that lists, at any time of the call, the replies that the caller waits for. */
  readonly onBegun?: (due: () => readonly DueReply[]) => void;
  /** Called when the caller leaves or the call is given up, with the replies that the caller still waited for. */
  readonly onGivenUp?: (due: readonly DueReply[]) => void;
  /** Whether the result holds the sound that was heard and said; if not, both are empty. Default true. */
  readonly keepsSound?: boolean;
  /** What to keep of the sound of each reply, as it came and before any cut. Default nothing: keeping it costs time and memory. */
  readonly replySound?: ReplySoundWish;
}

export interface CallOptions extends HeldCallOptions {
  /** gRPC: `host:port` (TLS), `grpcs://host:port` or `grpc://host:port` (plaintext); WebSocket: `wss://host:port` or `ws://host:port`. */
  readonly target: string;
  readonly profile: PlatformProfile;
  readonly organizationId: string;
  /** Default: the server's default agent answers (G-07). */
  readonly agentId?: string;
  /** Default: a fresh UUID. */
  readonly conversationId?: string;
  /** Opaque text of the administrator's agent configuration; default none. */
  readonly vendorConfig?: string;
  readonly token?: string;
  /** Send `Bearer TOKEN` (G-03). Default false: the token alone. A WebSocket always sends `Bearer TOKEN` (W-05). */
  readonly bearer?: boolean;
  /** PEM of the only authorities trusted; default: those of Node. */
  readonly certificateAuthority?: Uint8Array;
  /** Name that the certificate must carry; default: the target's host. */
  readonly serverName?: string;
  /** Silence after which the platform reports NO_INPUT on a wire that cannot carry the server's time (W-14), ms; 0 never. Default 5000. */
  readonly noInputMs?: number;
}

export interface CallResult extends LostTurns {
  /** Whether the call reached its end and every expectation was met. Breaches of the contract alone do not make this false. */
  readonly ok: boolean;
  readonly outcome: CallOutcome;
  /** ms on the clock of the call, like all times of the call. */
  readonly durationMs: number;
  /** How many times faster than real time the call went. */
  readonly pace: number;
  readonly timeline: readonly TimelineEvent[];
  readonly replies: readonly Reply[];
  /** Set when the server ended the call: its terminal event. */
  readonly terminal: Ending | undefined;
  /** The steps of the script that began, in order. */
  readonly steps: readonly StepMark[];
  /** The texts heard, where the server gave them, in order. */
  readonly heardTexts: readonly string[];
  /** What the caller heard and said, 8 kHz, both from the beginning to the end of the call. */
  readonly heard: Int16Array;
  readonly said: Int16Array;
  readonly findings: readonly Finding[];
  readonly unmet: readonly Unmet[];
}

/**
 * Places one call and waits for its end, which comes within the limits.
 *
 * @throws RangeError when `target` is no address or `conditions` are out of range. All other failures are findings of the result.
 */
export async function placeCall(options: CallOptions): Promise<CallResult & { readonly conversationId: string }> {
  const target = parseTarget(options.target);
  const conversationId = options.conversationId ?? randomUUID();
  const time = timeOf(options);
  const connection = openConnection({
    ...options,
    target,
    clock: time.clock,
    connectLimitMs: time.limits.connectMs,
    readsSlowly: options.conditions?.slowReader !== undefined,
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
    return { ...(await holdInTime(line, targetText(target), options, time)), conversationId };
  } finally {
    await connection.close();
  }
}

/**
 * Runs one call over an open line. The line stays open.
 *
 * @param address - the name of the other side in the timeline.
 * @throws RangeError when `conditions` are out of range.
 */
export function holdCall(line: Line, address: string, options: HeldCallOptions): Promise<CallResult> {
  return holdInTime(line, address, options, timeOf(options));
}

interface CallTime {
  readonly clock: Clock;
  readonly limits: CallLimits;
}

function timeOf({ clock = systemClock, limits, pace = 1 }: HeldCallOptions): CallTime {
  return {
    clock: pace === 1 ? clock : scaledClock(pace, clock),
    limits: stretched({ ...DEFAULT_LIMITS, ...limits }, pace),
  };
}

async function holdInTime(given: Line, address: string, options: HeldCallOptions, time: CallTime): Promise<CallResult> {
  const { conditions = {}, pace = 1, repeatsLostTurns = false } = options;
  checkConditions(conditions);
  const clock = new CallClock(time.clock);
  // Observers see the repeating line: one turn, even when the turn takes several RPCs.
  const repeating = repeatingLine(given, { clock, repeatsLostTurns, pace });
  const line = underConditions(options.overLine?.(repeating) ?? repeating, conditions, clock);
  const { limits } = time;
  const answerLimitMs = limits.answerMs + addedWaitMs(conditions);
  const timeline = new Timeline(clock, options.onEvent);
  const findings = new Findings((finding) => {
    const { code, rule, message, turn } = finding;
    options.onFinding?.(finding);
    timeline.add('platform', 'finds', { turn, detail: `${rule === undefined ? '' : `${rule} `}${code}: ${message}` });
  });
  timeline.add('platform', 'calls', { detail: address });
  const { keepsSound = true } = options;
  return new Promise((resolve) => {
    const grammar: TurnGrammar = new TurnGrammar({
      line,
      clock,
      timeline,
      findings,
      habits: options.habits ?? {},
      allowPartial: options.allowPartial ?? false,
      answerLimitMs,
      hangUpLimitMs: Math.min(limits.hangUpMs, answerLimitMs),
      keepsSound,
      ...{ changeRate: options.changeRate, replySound: options.replySound },
      ...{ onReply: options.onReply, onSound: options.onSound, onGivenUp: options.onGivenUp },
      onChanged: () => person.goOn(),
      onReplied: (turn) => person.replied(turn),
      onOver: (outcome) => over(outcome),
    });
    line.watch?.((breach) => grammar.take(breach));
    // The connection may end while no turn is open; the rest of a prompt that still plays is not heard then (W-2A).
    line.watchEnd?.(({ code, message }) => grammar.fail(code, message, false));
    grammar.listening.microphone.noise = options.noise;
    const { script = [], onPhone, onHeard } = options;
    // With a real person on the phone, the scripted person never gets a step.
    const improvise = onPhone === undefined ? options.improvise : () => new Promise<Step>(() => undefined);
    const person = new Person({ script, improvise, clock, timeline, grammar, answerLimitMs });
    const leave = (outcome: CallOutcome): void => {
      person.stop();
      timeline.add(outcome === 'hung_up' ? 'caller' : 'platform', outcome === 'hung_up' ? 'hangs_up' : 'breaks_off');
      grammar.hangUp(outcome);
    };
    const onAbort = (): void => leave('interrupted');
    const cancelLimit = clock.after(limits.callMs, () => {
      grammar.fail('call_limit', `the call was not over after ${String(limits.callMs)} ms`, true);
    });
    const lose = (): void => {
      person.stop();
      timeline.add('platform', 'loses_the_line');
      line.break?.();
      grammar.lose();
    };
    const onHangUp = (): void => leave('hung_up');
    const phone = new LivePhone({ clock, timeline, grammar, onHeard, onHangUp });
    const cancelPlanned = plan(clock, options, { leave, lose, sendEvent: grammar.sendEvent.bind(grammar) });
    const over = (outcome: CallOutcome): void => {
      const durationMs = clock.nowMs();
      person.stop();
      phone.stop();
      cancelLimit();
      cancelPlanned();
      options.signal?.removeEventListener('abort', onAbort);
      timeline.add('platform', outcome);
      const { terminal, book } = grammar;
      const heard = { replies: book.replies, heardTexts: heardTexts(book.all), findings: findings.all };
      const call = { outcome, terminal, pace, ...heard, ...book.lostTurns };
      const { expectations = [] } = options;
      const unmet = [...unmetExpectations(expectations, call), ...apologies(expectations, call.replies)];
      resolve({
        ...call,
        ok: outcome !== 'failed' && outcome !== 'interrupted' && unmet.length === 0,
        durationMs,
        timeline: timeline.events,
        heard: grammar.playback.heard(keepsSound ? durationMs : 0),
        said: grammar.listening.microphone.said(keepsSound ? durationMs : 0),
        steps: person.marks,
        unmet,
      });
    };
    if (options.signal?.aborted === true) {
      over('interrupted');
      return;
    }
    options.signal?.addEventListener('abort', onAbort, { once: true });
    options.onBegun?.(() => grammar.due);
    const { name = '', parameters = {} } = options.sessionStart ?? {};
    grammar.start({ kind: 'session_start', name, parameters });
    if (onPhone === undefined) return;
    phone.start();
    onPhone(phone);
  });
}

/** Schedules everything that happens at a set time of the call. @returns a function that cancels what has not happened yet. */
function plan(
  clock: CallClock,
  { hangUpAtMs, flowEvents = [], conditions = {} }: HeldCallOptions,
  acts: { readonly leave: (outcome: CallOutcome) => void; readonly lose: () => void; readonly sendEvent: TurnGrammar['sendEvent'] },
): CancelTimer {
  const timers = flowEvents.map(({ atMs, name, parameters }) => clock.after(atMs, () => acts.sendEvent(name, parameters)));
  const leaveAt = (): void => acts.leave('hung_up');
  if (hangUpAtMs !== undefined) timers.push(clock.after(hangUpAtMs, leaveAt));
  if (conditions.loseAfterMs !== undefined) timers.push(clock.after(conditions.loseAfterMs, acts.lose));
  return () => {
    for (const cancel of timers) cancel();
  };
}

/** The texts heard, where the server gave them, in the order of the RPCs. */
function heardTexts(turns: readonly Turn[]): readonly string[] {
  return turns.flatMap(({ wasHeard, texts }) => (wasHeard ? texts : []));
}
