// deploy/prometheus fits the server and its documents: every alert has its runbook and the other way round, every metric is one that
// exists, and promtool says that each alert fires when it must, and only then.
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSections } from '../../src/app/config/load-settings.ts';
import { ALERT_CASES } from '../support/alert-cases.ts';
import { requireDebian } from '../support/debian.ts';
import { foreignMetrics, RULES, metricsOf } from '../support/metric-names.ts';
import { alertsJudged, PROMETHEUS_NEEDS, promtool, RULE_FILES } from '../support/promtool.ts';
import { filesUnder, ROOT } from '../support/source-tree.ts';

const textOf = (file: string): string => filesUnder([file])[0]?.text ?? '';
const runbooks = textOf('docs/runbooks.md');
const alerts = RULES.flatMap((rule) => ('alert' in rule ? [rule] : []));
/** What is recorded under a name; several rules may differ in their labels. */
const recorded = (name: string): string =>
  RULES.flatMap((rule) => ('record' in rule && rule.record === name ? [rule.expr] : [])).join('\n');

describe('the rules for Prometheus', () => {
  it('name only metrics that the server has, and that rules record', () => {
    expect(RULES.length).toBeGreaterThan(40);
    expect(RULES.flatMap(({ expr }) => foreignMetrics(expr))).toEqual([]);
    expect(foreignMetrics('rate(parley_cals_total{bot="parley_turns_open"}[5m]) / on (job) up + parley_bot_answer_seconds_sum')).toEqual([
      'parley_cals_total',
    ]);
  });

  it('alert about everything that docs/metrics.md finds worth an alert', () => {
    const worth = textOf('docs/metrics.md')
      .split('\n\n')
      .flatMap((text) => text.split('Worth an alert').slice(1))
      .flatMap((text) => [...text.matchAll(/`(?<name>parley_[a-z_\d]+)/gu)].map(({ groups }) => groups?.['name'] ?? ''));
    expect(worth.length).toBeGreaterThan(10);
    const watched = alerts.flatMap(({ expr }) => metricsOf(expr).flatMap((name) => [name, ...metricsOf(recorded(name))]));
    const bases = new Set(watched.map((name) => name.replace(/_(?:bucket|count|sum)$/u, '')));
    expect(worth.filter((name) => !bases.has(name))).toEqual([]);
  });

  it.each(alerts)('$alert ($labels.severity) is explained, and names only labels that it has', ({ alert, expr, annotations }) => {
    const anchor = `https://parley.example/docs/runbooks.html#${alert.toLowerCase()}`;
    expect(annotations.runbook_url).toBe(anchor);
    // Without sum or max a series keeps all of its labels.
    const from = [expr, ...metricsOf(expr).map((name) => recorded(name))].join('\n');
    const named = [...annotations.description.matchAll(/\$labels\.(?<label>\w+)/gu)].map(({ groups }) => groups?.['label'] ?? '');
    const grouped = [...from.matchAll(/by \((?<labels>[\w, ]+)\)/gu)].flatMap(({ groups }) => (groups?.['labels'] ?? '').split(', '));
    expect(named.filter((label) => ![...grouped, 'slo', ...(expr.startsWith('up{') ? ['instance'] : [])].includes(label))).toEqual([]);
  });

  it('have a runbook for each alert: what callers notice, where to look, what to do, when it ends', () => {
    const sections = new Map(
      runbooks
        .split(/^## /mu)
        .slice(2)
        .map((section) => [section.split('\n')[0] ?? '', section]),
    );
    expect([...sections.keys()].toSorted()).toEqual([...new Set(alerts.map(({ alert }) => alert))].toSorted());
    for (const [name, section] of sections) {
      const points = [...section.matchAll(/^- \*\*(?<point>.*?)\*\*: ./gmu)].map(({ groups }) => groups?.['point']);
      expect(points, name).toEqual(['Callers notice', 'Look', 'Do', 'Ends']);
    }
  });

  it('look at tokens before their renewal can have failed for good, and at certificates as the documents say', () => {
    const exprs = alerts.map(({ expr }) => expr).join('\n');
    const { renewalLeadMinutes } = loadSections({ env: {} }, 'admin').settings.admin.dataSources;
    expect(exprs).toContain(`parley_data_source_token_expiry_seconds) < ${String(renewalLeadMinutes / 2)} * 60`);
    const [documented = ''] = /time\(\) < \d+ \* 86400/u.exec(textOf('docs/connections.md')) ?? [];
    expect(exprs).toContain(documented);
  });
});

describe('the rules, judged by promtool', () => {
  requireDebian(PROMETHEUS_NEEDS);

  it('are well-formed, and belong into a configuration that is', () => {
    expect(promtool('check', 'rules', ...RULE_FILES)).toMatchObject({ ok: true });
    expect(promtool('check', 'config', path.join(ROOT, 'deploy/prometheus/prometheus.yaml'))).toMatchObject({ ok: true });
  });

  it('are all tested', () => {
    const named = (list: readonly { readonly alert: string; readonly severity: string }[]): readonly string[] =>
      list.map(({ alert, severity }) => `${alert} ${severity}`).toSorted();
    expect(named(ALERT_CASES)).toEqual(named(alerts.map(({ alert, labels }) => ({ alert, ...labels }))));
  });

  it('fire when something is wrong, not before, not for what is alike, and end', { timeout: 120_000 }, () => {
    expect(alertsJudged(ALERT_CASES)).toMatchObject({ ok: true });
  });

  it.each([
    ['never fires', 'ParleyStoreDown', '== 0', '== 7'],
    ['always fires', 'ParleyStoreDown', '== 0', '>= 0'],
  ])('would not pass with one that %s', (_what, alert, from, to) => {
    const rules = RULES.filter((rule) => 'alert' in rule && rule.alert === alert).map((rule) => ({
      ...rule,
      expr: rule.expr.replace(from, to),
    }));
    expect(
      alertsJudged(
        ALERT_CASES.filter((each) => each.alert === alert),
        rules,
      ).ok,
    ).toBe(false);
  });
});
