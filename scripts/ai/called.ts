// Calls one after the other, so many at once, and what came of them.
import type { Message, ToolMessage } from '../../src/ai/index.ts';
import type { CallResult } from '../../src/cli/platform.ts';
import type { FakeItem } from '../../src/fake-platform/models/fake-item.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { timelineText } from '../../src/fake-platform/caller/result-text.ts';
import { progress } from '../command-line.ts';
import type { Ledger } from './ledger.ts';
import { Recording } from './recording.ts';
import { Stalls } from './stalls.ts';
import { cutErrors, cutsOf, faultsOf, isWrongCut, script, wordErrors, type Manner } from './talk.ts';

/** A call that is over. */
type Result = Omit<CallResult, 'heard' | 'said'> & {
  readonly conversationId: string;
  readonly recording: Recording;
  readonly beganAtMs: number;
};

/** How calls are placed. */
export interface Plan {
  readonly name: string;
  readonly calls: number;
  readonly atOnce: number;
  readonly manner: Manner;
  /** Whether servers die meanwhile, and take along what their tools were about to return. */
  readonly mayDie: boolean;
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly place: (steps: readonly Step[]) => Promise<CallResult & { readonly conversationId: string }>;
  /** What a model that speaks itself holds of a call; undefined unless it has held all of it. */
  readonly heldOf?: (conversationId: string) => readonly FakeItem[] | undefined;
}

/** What came of calls. */
export interface Found {
  calls: number;
  interruptions: number;
  toolsRun: number;
  toolsRunTwice: number;
  resultsLost: number;
  historyWrong: number;
  /** Calls in which nobody heard anything for too long, or that did not end. */
  silent: number;
  rulesBroken: number;
  cutsCompared: number;
  /** Because this process stood still when they were made. */
  cutsLeftOut: number;
  /** For each interruption of a model that speaks itself: how many words more than its caller heard it and the history hold. */
  readonly speechCuts: number[];
  readonly latenciesMs: number[];
  readonly gapsMs: number[];
  readonly described: string[];
}

/** A caller who has said everything hangs up: the model may have failed to understand the goodbye. */
const ENDS: readonly string[] = ['ended', 'transferred', 'hung_up'];
/** Platforms give a turn up after this, ms. */
const TOO_LONG_MS = 10_000;
/** For the last words of an assistant whose call has ended, ms. */
const END_MS = 3000;
const MAX_DESCRIBED = 30;
/** How far from the recording a model that speaks itself may be cut, words. */
export const MOST_WORDS = 1;

/** Places all of them. */
export async function called(plan: Plan): Promise<Found> {
  const found: Found = {
    ...{ calls: 0, interruptions: 0, toolsRun: 0, toolsRunTwice: 0, resultsLost: 0, historyWrong: 0, silent: 0, rulesBroken: 0 },
    ...{ cutsCompared: 0, cutsLeftOut: 0, speechCuts: [], latenciesMs: [], gapsMs: [], described: [] },
  };
  const results: Result[] = [];
  const stalls = new Stalls();
  let left = plan.calls;
  const oneAfterTheOther = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { heard, said: _, ...result } = await plan.place(script(plan.random, plan.manner));
      results.push({ ...result, recording: new Recording(heard), beganAtMs: performance.now() - result.durationMs });
      if (results.length % 50 === 0) progress(`${plan.name}: ${String(results.length)} of ${String(plan.calls)} calls`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(plan.atOnce, plan.calls) }, oneAfterTheOther));
  await new Promise((resolve) => setTimeout(resolve, END_MS));
  stalls.close();
  for (const result of results) judge(found, plan, result, stalls);
  return found;
}

function judge(found: Found, { name, ledger, mayDie, heldOf }: Plan, result: Result, stalls: Stalls): void {
  const { conversationId, replies, steps, findings, outcome, timeline, beganAtMs } = result;
  const describe = (what: string): void => {
    if (found.described.length < MAX_DESCRIBED) found.described.push(`${name} ${conversationId} (${outcome}): ${what}`);
  };
  found.calls += 1;
  found.interruptions += steps.filter(({ isInterruption }) => isInterruption).length;
  for (const { latencyMs, maxGapMs, isInterrupted } of replies) {
    if (latencyMs !== undefined) found.latenciesMs.push(latencyMs);
    if (!isInterrupted && maxGapMs > 0) found.gapsMs.push(maxGapMs);
  }
  const longestMs = Math.max(0, ...replies.map(({ latencyMs = 0 }) => latencyMs));
  if (longestMs > TOO_LONG_MS || !ENDS.includes(outcome)) {
    found.silent += 1;
    describe(`the longest wait was ${String(Math.round(longestMs))} ms`);
  }
  for (const { message } of findings) describe([message, ...timeline.map(timelineText(false))].join('\n    '));
  found.rulesBroken += findings.length;
  const done = ledger.results.get(conversationId) ?? [];
  found.toolsRun += done.length;
  found.toolsRunTwice += done.filter((useId) => (ledger.runs.get(useId) ?? 0) > 1).length;
  const history = ledger.histories.get(conversationId);
  if (history === undefined) return;
  const known = new Set(history.flatMap((message) => (isKnown(message, mayDie) ? [message.id] : [])));
  const lost = done.filter((useId) => !known.has(useId));
  found.resultsLost += lost.length;
  if (lost.length > 0) describe(`nothing is known of ${lost.join(', ')}`);
  const all = cutsOf(result, result.recording);
  const cuts = all.filter(({ atMs }) => atMs.every((ms) => !stalls.isAround(beganAtMs + ms)));
  found.cutsLeftOut += all.length - cuts.length;
  const errors = cutErrors(history, cuts, steps.length);
  found.cutsCompared += errors.length;
  const wrong = [
    ...faultsOf(history, mayDie),
    ...errors.filter(isWrongCut).map((chars) => `a cut is ${String(Math.round(chars))} characters off`),
  ];
  const held = heldOf?.(conversationId);
  const words = held === undefined ? [] : wordErrors(held, history, cuts, steps.length);
  found.speechCuts.push(...words);
  wrong.push(...words.filter((count) => count > MOST_WORDS).map((count) => `a cut is ${String(count)} words off at the model`));
  found.historyWrong += wrong.length;
  for (const what of wrong) describe(what);
}

/** Whether the history has what a tool returned, or says that this is not known because its server died. */
function isKnown(message: Message, mayDie: boolean): message is ToolMessage {
  return message.by === 'tool' && (message.outcome?.value === 'booked' || (mayDie && message.outcome === undefined));
}
