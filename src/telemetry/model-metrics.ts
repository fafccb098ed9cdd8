// Metrics of language models and their tools, from the reports of bots. Bots are other people's code, perhaps of another copy of this
// package: only a limited number of names become labels, and all other label values come from closed sets.
import type { Registry } from 'prom-client';
import { MODEL_BUDGETS, MODEL_FAILURES, type TurnReport } from '../dialog/turn-report.ts';
import { MetricMaker } from './metric-maker.ts';

const OTHER = 'other';
const MAX_MODELS = 20;
const MAX_TOOLS = 100;
const MAX_NAME_CHARS = 64;
const BUCKETS_S = [0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 8, 12, 20, 40];
const PARTS = ['first_sentence', 'tools', 'whole'] as const;
const OUTCOMES = ['ok', 'failed'] as const;

/** Creates the metrics in a registry. @returns a function that counts a turn. */
export function modelMetrics(registry: Registry): (report: TurnReport) => void {
  const make = new MetricMaker(registry);
  const firstToken = make.histogram(
    'parley_ai_first_token_seconds',
    'Time from an input of the caller to the first word or tool of a language model, failed attempts included.',
    BUCKETS_S,
    { model: [] },
  );
  const parts = make.histogram(
    'parley_ai_turn_seconds',
    'Time of turns with a language model: until the first sentence, in tools, and until all was said.',
    BUCKETS_S,
    { part: PARTS },
  );
  const tokens = make.counter('parley_ai_tokens_total', 'Tokens of language models, as their services count them.', {
    direction: ['in', 'out'],
  });
  const tools = make.counter('parley_ai_tools_total', 'Uses of tools by language models.', { tool: [], outcome: [] });
  const failures = make.counter('parley_ai_failures_total', 'Times that a language model failed.', { why: MODEL_FAILURES });
  const budgets = make.counter('parley_ai_budget_total', 'Turns that ended because a limit of an assistant was used up.', {
    kind: MODEL_BUDGETS,
  });
  const modelOf = boundedNames(MAX_MODELS);
  const toolOf = boundedNames(MAX_TOOLS);
  return (report) => {
    const { model, firstTokenMs, firstSentenceMs, ms, usedUp } = report;
    if (firstTokenMs !== undefined) firstToken.observe({ model: modelOf(model) }, firstTokenMs / 1000);
    if (firstSentenceMs !== undefined) parts.observe({ part: 'first_sentence' }, firstSentenceMs / 1000);
    if (report.tools.length > 0) parts.observe({ part: 'tools' }, report.tools.reduce((sum, tool) => sum + tool.ms, 0) / 1000);
    parts.observe({ part: 'whole' }, ms / 1000);
    tokens.inc({ direction: 'in' }, report.tokensIn);
    tokens.inc({ direction: 'out' }, report.tokensOut);
    for (const { name, ok } of report.tools) tools.inc({ tool: toolOf(name), outcome: OUTCOMES[ok ? 0 : 1] });
    for (const why of report.failures) if (MODEL_FAILURES.includes(why)) failures.inc({ why });
    if (usedUp !== undefined && MODEL_BUDGETS.includes(usedUp)) budgets.inc({ kind: usedUp });
  };
}

/** Returns the first `max` names unchanged, and one common name for all later ones. */
function boundedNames(max: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    const short = name.slice(0, MAX_NAME_CHARS);
    if (!known.has(short) && known.size >= max) return OTHER;
    known.add(short);
    return short;
  };
}
