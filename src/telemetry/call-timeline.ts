// Timelines of the latest calls: events with times, in memory, for an operator who examines a call. Bounded in calls
// and in facts per call. Ids, durations and our own names only; nothing that a caller or a bot said (P-14).
import type { Clock } from '../base/clock.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { AnswerParts, CallSearch } from '../dialog/call-view.ts';
import type { TurnReport } from '../dialog/turn-report.ts';
import type { SessionObserver } from '../session/ports.ts';

/** Most facts that are kept of one call, the latest ones; a call of ten minutes has about as many. */
const MAX_FACTS = 500;

/** One event of a call. */
export interface ObservedFact {
  /** Name of the event in the log. */
  readonly event: string;
  readonly turnId?: string;
  /** Details: durations, ends, codes. */
  readonly [detail: string]: string | number | undefined;
}

/** An event with its time. */
export interface TimelineFact extends ObservedFact {
  /** Since the start of the session, ms. */
  readonly atMs: number;
}

export interface CallTimeline {
  readonly conversationId: string;
  readonly organizationId: string;
  readonly agentId: string;
  /** ms since the epoch. */
  readonly startedAtMs: number;
  /** How the session ended; undefined while it runs. */
  readonly end: string | undefined;
  readonly facts: readonly TimelineFact[];
  /** Number of dropped older facts. */
  readonly leftOut: number;
}

/** A call without its facts. */
export type CallSummary = Omit<CallTimeline, 'facts'> & { readonly factCount: number };

/** A found call. */
export type FoundCall = Omit<CallTimeline, 'facts' | 'leftOut'> & {
  /** From the call's start to its last fact, ms. */
  readonly durationMs: number;
  readonly turns: number;
};

export interface TimelineOptions {
  readonly clock: Clock;
  /** Most calls; 0: none. */
  readonly maxCalls: number;
  /** Gets every fact of every call, also of calls that are not kept. */
  readonly onFact?: ((call: CallFacts, fact: ObservedFact) => void) | undefined;
}

/** Keeps the latest calls. An observer of the engine. */
export class CallTimelines implements SessionObserver {
  readonly #clock: Clock;
  readonly #maxCalls: number;
  readonly #onFact: NonNullable<TimelineOptions['onFact']>;
  /** Kept calls, the oldest first. */
  readonly #kept: Kept[] = [];
  // Weak, so that nothing of a call outlives its session.
  readonly #running = new WeakMap<CallFacts, Kept>();

  constructor({ clock, maxCalls, onFact = () => undefined }: TimelineOptions) {
    this.#clock = clock;
    this.#maxCalls = maxCalls;
    this.#onFact = onFact;
  }

  /** The kept calls, the latest first. */
  recent(): readonly CallSummary[] {
    return this.#kept.map(({ timeline: { facts, ...summary } }) => ({ ...summary, factCount: facts.length })).reverse();
  }

  /** The latest call with this conversation id; undefined when it is not kept. */
  find(conversationId: string): CallTimeline | undefined {
    return this.#kept.findLast(({ timeline }) => timeline.conversationId === conversationId)?.timeline;
  }

  /** The kept calls that meet the conditions of a search, the latest first. */
  search(search: CallSearch, max: number): readonly FoundCall[] {
    const found: FoundCall[] = [];
    for (const { timeline, turns } of this.#kept.toReversed()) {
      if (found.length >= max) break;
      if (!isFound(timeline, search)) continue;
      const { facts, leftOut: _, ...call } = timeline;
      found.push({ ...call, turns, durationMs: facts.at(-1)?.atMs ?? 0 });
    }
    return found;
  }

  sessionStarted(call: CallFacts, isContinued = false): void {
    if (this.#maxCalls > 0) this.#keep(call, isContinued);
    this.#note(call, { event: isContinued ? 'session_continued' : 'session_started' });
  }

  sessionEnded(call: CallFacts, end: string): void {
    const kept = this.#running.get(call);
    if (kept !== undefined) kept.timeline.end = end;
    this.#note(call, { event: 'session_ended', end });
  }

  turnStarted(call: CallFacts, turnId: string, trackingId?: string): void {
    const kept = this.#running.get(call);
    if (kept !== undefined) kept.turns += 1;
    this.#note(call, { event: 'turn_started', turnId, ...(trackingId === undefined ? {} : { trackingId }) });
  }

  speechStarted(call: CallFacts, turnId: string): void {
    this.#note(call, { event: 'input_started', turnId });
  }

  speechEnded(call: CallFacts, turnId: string, silenceMs: number): void {
    this.#note(call, { event: 'input_ended', turnId, silenceMs });
  }

  recognized(call: CallFacts, turnId: string, outcome: string, waitedMs: number): void {
    this.#note(call, { event: 'recognized', turnId, outcome, waitedMs: Math.round(waitedMs) });
  }

  bargeIn(call: CallFacts, turnId: string, by: string, heardMs: number): void {
    this.#note(call, { event: 'barge_in', turnId, by, heardMs: Math.round(heardMs) });
  }

  promptResumed(call: CallFacts, turnId: string): void {
    this.#note(call, { event: 'prompt_resumed', turnId });
  }

  botAsked(call: CallFacts, turnId: string, botEvent: string): void {
    this.#note(call, { event: 'bot_asked', turnId, botEvent });
  }

  botAnswered(call: CallFacts, turnId: string, tookMs: number): void {
    this.#note(call, { event: 'bot_answered', turnId, tookMs: Math.round(tookMs) });
  }

  modelReported(call: CallFacts, turnId: string, { model, tools, firstTokenMs, firstSentenceMs, preparedMs }: TurnReport): void {
    for (const { name, ms, ok } of tools)
      this.#note(call, { event: 'tool_used', turnId, tool: name, outcome: ok ? 'ok' : 'failed', tookMs: ms });
    this.#note(call, { event: 'model_reported', turnId, model, firstTokenMs, firstSentenceMs, preparedMs });
  }

  fillerSpoken(call: CallFacts, turnId: string): void {
    this.#note(call, { event: 'filler_spoken', turnId });
  }

  replyStarted(call: CallFacts, turnId: string, latencyMs: number): void {
    this.#note(call, { event: 'reply_started', turnId, latencyMs: Math.round(latencyMs) });
  }

  answerTimed(call: CallFacts, turnId: string, parts: AnswerParts): void {
    this.#note(call, { event: 'answer_parts', turnId, ...parts });
  }

  replyRepeated(call: CallFacts, turnId: string): void {
    this.#note(call, { event: 'reply_repeated', turnId });
  }

  slowReader(call: CallFacts, turnId: string): void {
    this.#note(call, { event: 'slow_reader', turnId });
  }

  botFailed(call: CallFacts, turnId: string, error: { readonly code: string }): void {
    this.#note(call, { event: 'bot_failed', turnId, code: error.code });
  }

  turnEnded(call: CallFacts, turnId: string, end: string): void {
    this.#note(call, { event: 'turn_ended', turnId, end });
  }

  #keep(call: CallFacts, isContinued: boolean): void {
    const { conversationId, organizationId, agentId, startedAtMs } = call;
    const timeline = { conversationId, organizationId, agentId, startedAtMs, end: undefined, facts: [], leftOut: 0 };
    // Times of a call that moved here count from its start at the first home.
    const sinceStartMs = isContinued ? Math.max(0, this.#clock.nowMs() - startedAtMs) : 0;
    const kept: Kept = { timeline, startedAtMonotonicMs: this.#clock.monotonicMs() - sinceStartMs, turns: 0, isForgotten: false };
    if (this.#kept.length >= this.#maxCalls) {
      const oldest = this.#kept.shift();
      if (oldest !== undefined) oldest.isForgotten = true;
    }
    this.#kept.push(kept);
    this.#running.set(call, kept);
  }

  #note(call: CallFacts, fact: ObservedFact): void {
    this.#onFact(call, fact);
    const kept = this.#running.get(call);
    if (kept === undefined || kept.isForgotten) return;
    const { timeline } = kept;
    if (timeline.facts.length >= MAX_FACTS) {
      timeline.facts.shift();
      timeline.leftOut += 1;
    }
    timeline.facts.push({ atMs: Math.round(this.#clock.monotonicMs() - kept.startedAtMonotonicMs), ...fact });
  }
}

interface Kept {
  readonly timeline: Writable<CallTimeline> & { readonly facts: TimelineFact[] };
  readonly startedAtMonotonicMs: number;
  turns: number;
  /** Whether another call has taken the place of this one. */
  isForgotten: boolean;
}

function isFound({ organizationId, conversationId, startedAtMs, end, facts }: CallTimeline, search: CallSearch): boolean {
  const { fromMs = -Infinity, untilMs = Infinity, trackingId } = search;
  return (
    (search.organizationId ?? organizationId) === organizationId &&
    conversationId.startsWith(search.conversationId ?? '') &&
    (search.end === undefined || search.end === (end ?? 'open')) &&
    startedAtMs >= fromMs &&
    startedAtMs <= untilMs &&
    (trackingId === undefined || facts.some((fact) => String(fact['trackingId'] ?? '').startsWith(trackingId)))
  );
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
