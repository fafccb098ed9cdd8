// Calls one after the other, so many at once, and what came of them.
import type { Message, ToolMessage } from '../../src/ai/index.ts';
import type { CallResult } from '../../src/cli/platform.ts';
import type { Step } from '../../src/fake-platform/caller/script.ts';
import { timelineText } from '../../src/fake-platform/caller/timeline-text.ts';
import { progress } from '../command-line.ts';
import type { Ledger } from './ledger.ts';
import { cutErrors, faultsOf, isWrongCut, script } from './talk.ts';

/** How calls are placed. */
export interface Plan {
  readonly name: string;
  readonly calls: number;
  readonly atOnce: number;
  readonly interrupts: number;
  /** Whether servers die meanwhile, and take along what their tools were about to return. */
  readonly mayDie: boolean;
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly place: (steps: readonly Step[]) => Promise<CallResult & { readonly conversationId: string }>;
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

/** Places all of them. */
export async function called(plan: Plan): Promise<Found> {
  const found: Found = {
    ...{ calls: 0, interruptions: 0, toolsRun: 0, toolsRunTwice: 0, resultsLost: 0, historyWrong: 0, silent: 0, rulesBroken: 0 },
    ...{ cutsCompared: 0, latenciesMs: [], gapsMs: [], described: [] },
  };
  const results: (CallResult & { readonly conversationId: string })[] = [];
  let left = plan.calls;
  const oneAfterTheOther = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      results.push(await plan.place(script(plan.random, plan.interrupts)));
      if (results.length % 50 === 0) progress(`${plan.name}: ${String(results.length)} of ${String(plan.calls)} calls`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(plan.atOnce, plan.calls) }, oneAfterTheOther));
  await new Promise((resolve) => setTimeout(resolve, END_MS));
  for (const result of results) judge(found, plan, result);
  return found;
}

function judge(found: Found, { ledger, mayDie }: Plan, result: CallResult & { readonly conversationId: string }): void {
  const { conversationId, replies, steps, findings, outcome, timeline } = result;
  const describe = (what: string): void => {
    if (found.described.length < MAX_DESCRIBED) found.described.push(`${conversationId} (${outcome}): ${what}`);
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
  const errors = cutErrors(history, result);
  found.cutsCompared += errors.length;
  const wrong = [
    ...faultsOf(history, mayDie),
    ...errors.filter(isWrongCut).map((chars) => `a cut is ${String(Math.round(chars))} characters off`),
  ];
  found.historyWrong += wrong.length;
  for (const what of wrong) describe(what);
}

/** Whether the history has what a tool returned, or says that this is not known because its server died. */
function isKnown(message: Message, mayDie: boolean): message is ToolMessage {
  return message.by === 'tool' && (message.outcome?.value === 'booked' || (mayDie && message.outcome === undefined));
}
