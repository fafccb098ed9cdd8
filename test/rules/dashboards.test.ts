// deploy/grafana is what its description says, has the form that Grafana imports, asks only for metrics that there are, and shows all of them.
// What the queries answer, `npm run check -- ops` asks a Prometheus beside real servers.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DASHBOARDS, dashboardFiles } from '../../scripts/dashboards.mjs';
import { GRAFANA_DASHBOARDS, queriesOf } from '../support/dashboards.ts';
import { requireDebian } from '../support/debian.ts';
import { foreignMetrics, metricsOf } from '../support/metric-names.ts';
import { PROMETHEUS_NEEDS, promtool } from '../support/promtool.ts';
import { filesUnder, ROOT } from '../support/source-tree.ts';

const queries = GRAFANA_DASHBOARDS.flatMap((dashboard) => queriesOf(dashboard, '1m'));

describe('the dashboards', () => {
  it('are what scripts/dashboards.yaml says: otherwise run `npm run generate` and commit them', async () => {
    const made = await dashboardFiles(ROOT);
    const committed = filesUnder([DASHBOARDS]).map(({ path: file }) => [file, readFileSync(path.join(ROOT, file), 'utf8')]);
    expect(Object.fromEntries(committed)).toEqual(Object.fromEntries(made));
    expect(new Set(GRAFANA_DASHBOARDS.map(({ uid }) => uid)).size).toBe(6);
  });

  it.each(GRAFANA_DASHBOARDS)('$file: panels have names of their own, places of their own, and known variables', (dashboard) => {
    const { panels, templating } = dashboard;
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const taken = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${String(x + (index % w))},${String(y + Math.floor(index / w))}`),
    );
    expect(new Set(taken).size).toBe(taken.length);
    expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
    const known = new Set(['datasource', '__rate_interval', ...templating.list.map(({ name }) => name)]);
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?(?<name>[a-z_]\w*)/gu)].map(({ groups }) => groups?.['name'] ?? '');
    expect(used.filter((name) => !known.has(name) && name !== '__all')).toEqual([]);
  });

  it('ask for metrics that there are, of the servers that were chosen', () => {
    expect(queries.length).toBeGreaterThan(90);
    expect(queries.flatMap(({ expr }) => foreignMetrics(expr))).toEqual([]);
    const selectors = queries.flatMap(({ expr }) =>
      [...expr.matchAll(/\{(?<inside>[^}]*)\}/gu)].map(({ groups }) => groups?.['inside'] ?? ''),
    );
    expect(selectors.filter((inside) => !inside.includes('job=~"$job"'))).toEqual([]);
    expect(selectors.length).toBeGreaterThanOrEqual(queries.length);
  });

  it('name in a legend only labels that the query keeps', () => {
    const wrong = queries.filter(({ expr, legend }) => {
      const named = [...legend.matchAll(/\{\{(?<label>\w+)\}\}/gu)].map(({ groups }) => groups?.['label'] ?? '');
      const kept = /by \((?<labels>[\w, ]+)\)/u.exec(expr)?.groups?.['labels']?.split(', ') ?? [];
      const isWhole = !/\b(?:sum|min|max|histogram_quantile)\b/u.test(expr);
      return !isWhole && named.some((label) => !kept.includes(label));
    });
    expect(wrong).toEqual([]);
  });

  it('show every metric of ours', () => {
    const shown = new Set(queries.flatMap(({ expr }) => metricsOf(expr)).map((name) => name.replace(/_(?:bucket|count)$/u, '')));
    const own = [...readFileSync(path.join(ROOT, 'docs/metrics.md'), 'utf8').matchAll(/^\| `(?<name>parley_[a-z_\d]+)`/gmu)];
    expect(own.map(({ groups }) => groups?.['name'] ?? '').filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe('their queries, read by promtool', () => {
  requireDebian(PROMETHEUS_NEEDS);

  it('are well-formed', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'parley-queries-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const file = path.join(folder, 'rules.yaml');
    const rules = queries.map(({ asked }, index) => ({ record: `query:${String(index)}`, expr: asked }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
    expect(promtool('check', 'rules', file)).toMatchObject({ ok: true });
  });
});
