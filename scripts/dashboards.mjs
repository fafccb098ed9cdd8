// The dashboards of deploy/grafana, made of scripts/dashboards.yaml in the form that Grafana imports. Knows no metric.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { formatted } from './formatted.mjs';

/** Where they are written. */
export const DASHBOARDS = 'deploy/grafana';
const DESCRIPTION = 'scripts/dashboards.yaml';
const WIDTH = 24;
const PER_LINE = 3;
const HEIGHT = 8;
const STAT_HEIGHT = 4;
/** Version of the form; Grafana converts older ones. 38 is that of Grafana 10. */
const SCHEMA = 38;

/**
 * @typedef {{
 *   title: string, description?: string, kind?: 'stat', unit?: string, text?: string, queries?: Record<string, string>,
 *   latency?: string, by?: string, where?: string,
 * }} Panel
 * @typedef {{ file: string, title: string, variables?: Record<string, string>, rows: Record<string, Panel[]> }} Dashboard
 */

/**
 * All dashboards: file in the project → its text.
 *
 * @param {string} root - of the project
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
export async function dashboardFiles(root) {
  /** @type {Dashboard[]} */
  const described = parse(readFileSync(path.join(root, DESCRIPTION), 'utf8'));
  const files = described.map(async (dashboard) => {
    const file = `${DASHBOARDS}/${dashboard.file}.json`;
    return /** @type {const} */ ([file, await formatted(root, file, JSON.stringify(dashboardOf(dashboard)))]);
  });
  return new Map(await Promise.all(files));
}

/** @param {Dashboard} dashboard */
function dashboardOf({ file, title, variables = {}, rows }) {
  return {
    uid: `parley-${file}`,
    title,
    tags: ['parley'],
    schemaVersion: SCHEMA,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    links: [{ type: 'dashboards', title: 'Parley', tags: ['parley'], asDropdown: true, keepTime: true, includeVars: true }],
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        variable('job', 'parley_sessions_open'),
        variable('instance', 'parley_sessions_open{job=~"$job"}'),
        ...Object.entries(variables).map(([label, metric]) => variable(label, `${metric}{job=~"$job"}`)),
      ],
    },
    panels: placed(rows).map((panel, index) => ({ id: index + 1, ...panel })),
  };
}

/**
 * @param {string} label
 * @param {string} series
 */
function variable(label, series) {
  return {
    ...{ name: label, type: 'query', datasource: { type: 'prometheus', uid: '${datasource}' } },
    query: { query: `label_values(${series}, ${label})`, refId: label },
    // All: those without the label, too.
    ...{ includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } },
    ...{ refresh: 2, sort: 1 },
  };
}

/**
 * Rows under each other; what shows one value stands in one line.
 *
 * @param {Record<string, Panel[]>} rows
 */
function placed(rows) {
  let y = 0;
  return Object.entries(rows).flatMap(([title, panels]) => {
    const row = { type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: WIDTH, h: 1 }, panels: [] };
    y += 1;
    const isLine = panels.every(({ kind }) => kind === 'stat');
    const [perLine, h] = isLine ? [panels.length, STAT_HEIGHT] : [PER_LINE, HEIGHT];
    const w = Math.floor(WIDTH / perLine);
    const inside = panels.map((panel, index) => ({
      ...panelOf(panel),
      gridPos: { x: (index % perLine) * w, y: y + Math.floor(index / perLine) * h, w, h },
    }));
    y += Math.ceil(panels.length / perLine) * h;
    return [row, ...inside];
  });
}

/** @param {Panel} panel */
function panelOf({ title, description, text, kind, unit = 'short', queries = {}, latency, by, where }) {
  const said = description === undefined ? { title } : { title, description };
  if (text !== undefined) return { type: 'text', ...said, options: { mode: 'markdown', content: text } };
  const all = { ...queries, ...(latency === undefined ? {} : percentiles(latency, by, where)) };
  return {
    type: kind ?? 'timeseries',
    ...said,
    datasource: { type: 'prometheus', uid: '${datasource}' },
    fieldConfig: { defaults: { unit, ...(kind === 'stat' ? {} : { custom: { axisSoftMin: 0 } }) }, overrides: [] },
    targets: Object.entries(all).map(([legendFormat, expr], index) => ({
      refId: String.fromCodePoint(65 + index),
      expr: expr.replaceAll(/\{here\b/gu, '{job=~"$job", instance=~"$instance"').replaceAll('[rate]', '[$__rate_interval]'),
      legendFormat,
      ...(kind === 'stat' ? { instant: true, range: false } : {}),
    })),
  };
}

/**
 * @param {string} histogram
 * @param {string} [by] - one more label
 * @param {string} [where] - one more matcher
 */
function percentiles(histogram, by, where) {
  const labels = by === undefined ? 'le' : `${by}, le`;
  const inside = where === undefined ? 'here' : `here, ${where}`;
  const name = by === undefined ? '' : ` {{${by}}}`;
  return Object.fromEntries(
    ['0.5', '0.95'].map((share) => [
      `${share === '0.5' ? 'median' : '95 %'}${name}`,
      `histogram_quantile(${share}, sum by (${labels}) (rate(${histogram}_bucket{${inside}}[rate])))`,
    ]),
  );
}
