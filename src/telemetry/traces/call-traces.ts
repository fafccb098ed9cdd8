// Makes spans of what happens in calls: one trace for each conversation, with spans for each call, its turns, and their waits. All
// servers make the same ids, so a call that moves stays in its trace and servers exchange nothing about traces. A span is written when
// it is over, and the span of a call by its last home. Contains ids, durations and codes; words only if the operator wants them.
import type { Clock } from '../../base/clock.ts';
import type { AppError } from '../../base/errors.ts';
import type { CallFacts, CallKey } from '../../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../../dialog/ending.ts';
import type { EndedForward, ForwardOutcome } from '../../dialog/home.ts';
import type { TurnReport } from '../../dialog/turn-report.ts';
import type { SessionObserver } from '../../session/ports.ts';
import { ATTRIBUTES, SPANS } from './conventions.ts';
import { Exemplars } from './exemplars.ts';
import { callSpanIdOf, isInShare, newSpanId, traceIdOf, type Span } from './span.ts';

/** Most conversation ids that are traced on request; the latest ones. */
const MAX_NAMED = 100;
/** Most events of one turn, and most spans within it; the first ones. */
const MAX_IN_TURN = 50;

export interface CallTracesOptions {
  readonly clock: Clock;
  /** Share of conversations that is traced, from 0 to 1. */
  readonly share: number;
  /** Whether spans contain what callers say. */
  readonly hasContent: boolean;
  /** Receives each span. */
  readonly write: (span: Span) => void;
}

interface TracedCall {
  readonly traceId: string;
  readonly spanId: string;
  /** Added to monotonic time, gives time since the epoch, ms. Constant for a call, so that a step of the clock does not distort it. */
  readonly offsetMs: number;
  /** Open turns. A turn whose bot has not answered is kept beyond its end, because the bot may still report something. */
  readonly turns: Map<string, TracedTurn>;
  openTurns: number;
  transport?: string | undefined;
  end?: SessionEnd;
}

/** Times are ms since the epoch. */
interface TracedTurn {
  readonly spanId: string;
  readonly trackingId: string | undefined;
  readonly startMs: number;
  endMs?: number;
  asked?: { readonly event: string; readonly atMs: number } | undefined;
  latencyMs?: number;
  words?: string;
  failure?: string;
  readonly events: { readonly name: string; readonly atMs: number }[];
  /** Spans of waits. Written together with the turn, so that a killed server leaves no span without its parent. */
  readonly waits: Span[];
}

/** An observer of the engine, and of forwarded turns. */
export class CallTraces implements SessionObserver {
  readonly exemplars: Exemplars;
  readonly #options: CallTracesOptions;
  readonly #named = new Set<string>();
  // Weak, so that nothing of a call outlives its session.
  readonly #calls = new WeakMap<CallFacts, TracedCall>();

  constructor(options: CallTracesOptions) {
    this.#options = options;
    this.exemplars = new Exemplars(options.clock);
  }

  /**
   * Traces a call from its next turn on, even if sampling has left it out. Covers only this server.
   *
   * @returns a function that ends this; a call that already has spans keeps being traced until its end.
   */
  traceCall(conversationId: string): () => void {
    this.#named.add(conversationId);
    const [oldest] = this.#named;
    if (this.#named.size > MAX_NAMED && oldest !== undefined) this.#named.delete(oldest);
    return () => void this.#named.delete(conversationId);
  }

  forwarded({ call, trackingId, ms }: EndedForward, outcome: ForwardOutcome): void {
    const traceId = traceIdOf(call);
    if (!this.#isWanted(call, traceId)) return;
    const endMs = this.#options.clock.nowMs();
    this.#options.write({
      ...{ traceId, spanId: newSpanId(), name: SPANS.forward, kind: 'client', startMs: endMs - ms, endMs },
      attributes: { ...idsOf(call), [ATTRIBUTES.tracking]: trackingId, [ATTRIBUTES.outcome]: outcome },
      failure: outcome === 'failed' || outcome === 'error' ? outcome : undefined,
    });
  }

  sessionStarted(call: CallFacts): void {
    const traceId = traceIdOf(call);
    if (this.#isWanted(call, traceId)) this.#begin(call, traceId);
  }

  sessionEnded(call: CallFacts, outcome: SessionEnd | 'moved'): void {
    const traced = this.#calls.get(call);
    // The next home writes the span of the call.
    if (traced === undefined || outcome === 'moved') return;
    traced.end = outcome;
    this.#writeCall(call, traced);
  }

  turnStarted(call: CallFacts, turnId: string, trackingId?: string, transport?: string): void {
    const traced = this.#calls.get(call) ?? (this.#named.has(call.conversationId) ? this.#begin(call, traceIdOf(call)) : undefined);
    // The span of an ended call is already written, and must not be shorter than its turns.
    if (traced === undefined || traced.end !== undefined) return;
    traced.transport = transport;
    traced.openTurns += 1;
    traced.turns.set(turnId, { spanId: newSpanId(), trackingId, startMs: this.#now(call, traced), events: [], waits: [] });
  }

  turnEnded(call: CallFacts, turnId: string, outcome: TurnEnd): void {
    const [traced, turn] = this.#turn(call, turnId);
    if (traced === undefined || turn === undefined) return;
    const endMs = (turn.endMs = this.#now(call, traced));
    if (turn.asked === undefined) traced.turns.delete(turnId);
    const { spanId, startMs, events, waits, trackingId, latencyMs, words } = turn;
    this.#options.write({
      ...{ traceId: traced.traceId, spanId, parentId: traced.spanId, name: SPANS.turn, kind: 'server', startMs, endMs, events },
      attributes: {
        ...{ [ATTRIBUTES.turn]: turnId, [ATTRIBUTES.tracking]: trackingId, [ATTRIBUTES.outcome]: outcome },
        ...{ [ATTRIBUTES.latency]: latencyMs, [ATTRIBUTES.words]: words },
      },
      failure: turn.failure ?? (outcome === 'failed' ? outcome : undefined),
    });
    for (const wait of waits) this.#options.write(wait);
    traced.openTurns -= 1;
    this.#writeCall(call, traced);
  }

  speechStarted(call: CallFacts, turnId: string): void {
    this.#note(call, turnId, 'input_started');
  }

  speechEnded(call: CallFacts, turnId: string): void {
    this.#note(call, turnId, 'input_ended');
  }

  bargeIn(call: CallFacts, turnId: string): void {
    this.#note(call, turnId, 'barge_in');
  }

  promptResumed(call: CallFacts, turnId: string): void {
    this.#note(call, turnId, 'prompt_resumed');
  }

  fillerSpoken(call: CallFacts, turnId: string): void {
    this.#note(call, turnId, 'filler_spoken');
  }

  replyRepeated(call: CallFacts, turnId: string): void {
    this.#note(call, turnId, 'reply_repeated');
  }

  slowReader(call: CallFacts, turnId: string): void {
    this.#note(call, turnId, 'slow_reader');
  }

  recognized(call: CallFacts, turnId: string, outcome: string, waitedMs: number): void {
    this.#waited(call, turnId, waitedMs, {
      name: SPANS.recognition,
      attributes: { [ATTRIBUTES.outcome]: outcome },
      failure: outcome === 'failed' ? 'recognition_failed' : undefined,
    });
  }

  wordsUnderstood(call: CallFacts, turnId: string, words: string): void {
    const [, turn] = this.#turn(call, turnId);
    if (turn !== undefined && this.#options.hasContent) turn.words = words;
  }

  botAsked(call: CallFacts, turnId: string, event: string): void {
    const [traced, turn] = this.#turn(call, turnId);
    if (traced !== undefined && turn !== undefined) turn.asked = { event, atMs: this.#now(call, traced) };
  }

  botAnswered(call: CallFacts, turnId: string, tookMs: number): void {
    const [traced, turn] = this.#turn(call, turnId);
    this.#waited(call, turnId, tookMs, {
      name: SPANS.bot,
      attributes: { [ATTRIBUTES.bot]: call.agentId, [ATTRIBUTES.botEvent]: turn?.asked?.event },
    });
    if (turn === undefined) return;
    turn.asked = undefined;
    if (turn.endMs !== undefined) traced?.turns.delete(turnId);
  }

  modelReported(call: CallFacts, turnId: string, { calls = [], tools, ms }: TurnReport): void {
    const since = (atMs: number): number => ms - atMs;
    for (const { model, atMs, ms: tookMs, tokensIn, tokensOut, failure } of calls)
      this.#waited(call, turnId, since(atMs), {
        ...{ name: `${SPANS.model} ${model}`, kind: 'client', tookMs, failure },
        attributes: {
          ...{ [ATTRIBUTES.operation]: SPANS.model, [ATTRIBUTES.model]: model },
          ...{ [ATTRIBUTES.tokensIn]: finite(tokensIn), [ATTRIBUTES.tokensOut]: finite(tokensOut) },
        },
      });
    for (const { name, atMs = ms, ms: tookMs, ok } of tools)
      this.#waited(call, turnId, since(atMs), {
        ...{ name: `${SPANS.tool} ${name}`, tookMs, failure: ok ? undefined : 'tool_failed' },
        attributes: { [ATTRIBUTES.operation]: SPANS.tool, [ATTRIBUTES.tool]: name },
      });
  }

  replyStarted(call: CallFacts, turnId: string, latencyMs: number, synthesisMs: number): void {
    const [traced, turn] = this.#turn(call, turnId);
    if (traced === undefined || turn === undefined) return;
    turn.latencyMs = Math.round(latencyMs);
    this.exemplars.note(call.agentId, latencyMs, traced.traceId);
    this.#note(call, turnId, 'reply_started');
    if (synthesisMs > 0) this.#waited(call, turnId, synthesisMs, { name: SPANS.synthesis, attributes: {} });
  }

  botFailed(call: CallFacts, turnId: string, { code }: Pick<AppError, 'code'>): void {
    const [, turn] = this.#turn(call, turnId);
    if (turn !== undefined) turn.failure = code;
  }

  #isWanted({ conversationId }: CallKey, traceId: string): boolean {
    return isInShare(traceId, this.#options.share) || this.#named.has(conversationId);
  }

  #begin(call: CallFacts, traceId: string): TracedCall {
    const { clock } = this.#options;
    const offsetMs = clock.nowMs() - clock.monotonicMs();
    const traced: TracedCall = { traceId, spanId: callSpanIdOf(call), offsetMs, turns: new Map(), openTurns: 0 };
    this.#calls.set(call, traced);
    return traced;
  }

  /** The present, but never before the start of the call, which may come from the clock of another server. */
  #now(call: CallFacts, { offsetMs }: TracedCall): number {
    return Math.max(call.startedAtMs, offsetMs + this.#options.clock.monotonicMs());
  }

  #turn(call: CallFacts, turnId: string): readonly [TracedCall | undefined, TracedTurn | undefined] {
    const traced = this.#calls.get(call);
    return [traced, traced?.turns.get(turnId)];
  }

  #note(call: CallFacts, turnId: string, name: string): void {
    const [traced, turn] = this.#turn(call, turnId);
    if (traced === undefined || turn === undefined || turn.events.length >= MAX_IN_TURN) return;
    turn.events.push({ name, atMs: this.#now(call, traced) });
  }

  /** Adds a span to a turn: it began `agoMs` ago and lasted that long, or `tookMs`; cut at the bounds of the turn. */
  #waited(
    call: CallFacts,
    turnId: string,
    agoMs: number,
    { tookMs = agoMs, ...span }: Pick<Span, 'name' | 'kind' | 'attributes' | 'failure'> & { readonly tookMs?: number },
  ): void {
    const [traced, turn] = this.#turn(call, turnId);
    // Numbers in a bot's report come from other people's code.
    if (traced === undefined || turn === undefined || !Number.isFinite(agoMs + tookMs)) return;
    const nowMs = this.#now(call, traced);
    const within = (ms: number): number => Math.min(Math.max(turn.startMs, ms), turn.endMs ?? nowMs);
    const times = { startMs: within(nowMs - agoMs), endMs: within(nowMs - agoMs + tookMs) };
    const wait = { traceId: traced.traceId, spanId: newSpanId(), parentId: turn.spanId, ...times, ...span };
    if (turn.endMs !== undefined) this.#options.write(wait);
    else if (turn.waits.length < MAX_IN_TURN) turn.waits.push(wait);
  }

  /** Writes the span of a call, once the call and all its turns have ended. */
  #writeCall(call: CallFacts, traced: TracedCall): void {
    if (traced.end === undefined || traced.openTurns > 0) return;
    const { traceId, spanId, end, transport } = traced;
    this.#options.write({
      ...{ traceId, spanId, name: SPANS.call, kind: 'server', startMs: call.startedAtMs, endMs: this.#now(call, traced) },
      attributes: {
        ...{ ...idsOf(call), [ATTRIBUTES.bot]: call.agentId, [ATTRIBUTES.transport]: transport },
        [ATTRIBUTES.outcome]: end,
      },
      failure: end === 'failed' ? end : undefined,
    });
  }
}

/** The number if it is finite: otherwise a collector would refuse the whole batch of spans. */
function finite(count: number | undefined): number | undefined {
  return Number.isFinite(count) ? count : undefined;
}

function idsOf({ organizationId, conversationId }: CallKey): Span['attributes'] {
  return { [ATTRIBUTES.organization]: organizationId, [ATTRIBUTES.conversation]: conversationId };
}
