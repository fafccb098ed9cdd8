// The metrics that a query of Prometheus names, and the rules of deploy/prometheus. Knows no Prometheus.
import { parse } from 'yaml';
import { z } from 'zod';
import { filesUnder } from './source-tree.ts';

const RULE = z.union([
  z.strictObject({ record: z.string(), expr: z.string(), labels: z.record(z.string(), z.string()).optional() }),
  z.strictObject({
    alert: z.string(),
    expr: z.string(),
    for: z.string().optional(),
    labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
    annotations: z.strictObject({ summary: z.string().min(10), description: z.string().min(10), runbook_url: z.url() }),
  }),
]);
const RULE_FILE = z.strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(RULE) })) });

/** A rule that records, or an alert. */
export type Rule = z.infer<typeof RULE>;

/** The rules that operators load, in their order. */
export const RULES: readonly Rule[] = ['slo', 'alerts']
  .flatMap((name) => filesUnder([`deploy/prometheus/${name}.yaml`]))
  .flatMap(({ text }) => RULE_FILE.parse(parse(text)).groups.flatMap(({ rules }) => rules));

/** What Prometheus itself knows of a target. */
const OF_PROMETHEUS = ['up'];
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/** The metrics of a query, in its order. */
export function metricsOf(query: string): readonly string[] {
  const bare = query
    .replaceAll(/"(?:[^"\\]|\\.)*"/gu, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/gu, '')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/gu, '');
  const names = [...bare.matchAll(/(?<![\w.:$])(?<name>[a-zA-Z_:][\w:]*)(?!\s*\(|[\w:])/gu)].map(({ groups }) => groups?.['name'] ?? '');
  return names.filter((name) => !WORDS.has(name.toLowerCase()));
}

/** Those of them that neither docs/metrics.md has nor a rule records. */
export function foreignMetrics(query: string): readonly string[] {
  return metricsOf(query).filter((name) => !KNOWN.has(name));
}

const KNOWN: ReadonlySet<string> = new Set([
  ...OF_PROMETHEUS,
  ...RULES.flatMap((rule) => ('record' in rule ? [rule.record] : [])),
  ...filesUnder(['docs/metrics.md']).flatMap(({ text }) =>
    [...text.matchAll(/^\| `(?<name>[a-z_\d]+)` +\| (?<type>\w+) /gmu)].flatMap(({ groups }) => {
      const name = groups?.['name'] ?? '';
      return groups?.['type'] === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name];
    }),
  ),
]);
