// The dashboards of deploy/grafana as Grafana would import them, and their queries as Grafana would ask them. Knows no Prometheus.
import { z } from 'zod';
import { filesUnder } from './source-tree.ts';

const SOURCE = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const PLACE = z.strictObject({ x: z.int(), y: z.int(), w: z.int().min(1), h: z.int().min(1) });
const ANY_PANEL = { id: z.int(), title: z.string().min(2), description: z.string().optional(), gridPos: PLACE };
const TARGET = z.strictObject({
  ...{ refId: z.string().regex(/^[A-Z]$/u), expr: z.string().min(2), legendFormat: z.string().min(2) },
  ...{ instant: z.literal(true).optional(), range: z.literal(false).optional() },
});
const PANEL = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('row'), ...ANY_PANEL, collapsed: z.literal(false), panels: z.tuple([]) }),
  z.strictObject({
    ...{ type: z.literal('text'), ...ANY_PANEL },
    options: z.strictObject({ mode: z.literal('markdown'), content: z.string() }),
  }),
  z.strictObject({
    ...{ type: z.enum(['timeseries', 'stat']), ...ANY_PANEL, datasource: SOURCE },
    fieldConfig: z.strictObject({
      defaults: z.strictObject({ unit: z.string(), custom: z.strictObject({ axisSoftMin: z.literal(0) }).optional() }),
      overrides: z.tuple([]),
    }),
    targets: z.array(TARGET).min(1),
  }),
]);
const VARIABLE = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('datasource'), name: z.literal('datasource'), label: z.string(), query: z.literal('prometheus') }),
  z.looseObject({
    type: z.literal('query'),
    name: z.string(),
    datasource: SOURCE,
    query: z.strictObject({ query: z.string(), refId: z.string() }),
  }),
]);
const DASHBOARD = z.looseObject({
  ...{ uid: z.string().max(40), title: z.string(), schemaVersion: z.int() },
  templating: z.strictObject({ list: z.tuple([VARIABLE], VARIABLE) }),
  panels: z.array(PANEL).min(3),
});

/** A dashboard and its file. */
export interface Dashboard extends z.infer<typeof DASHBOARD> {
  readonly file: string;
}

/** One query of a panel. */
export interface PanelQuery {
  /** Dashboard, panel and legend. */
  readonly name: string;
  readonly legend: string;
  /** As it stands in the file. */
  readonly expr: string;
  /** With values for the variables: anything that is there, and a time for `$__rate_interval`. */
  readonly asked: string;
}

/** All of them. @throws when one has not the form that Grafana imports. */
export const GRAFANA_DASHBOARDS: readonly Dashboard[] = filesUnder(['deploy/grafana'], ['.json']).map(({ path: file, text }) => ({
  file,
  ...DASHBOARD.parse(JSON.parse(text)),
}));

/** @param interval - what `$__rate_interval` is, such as `1m`. */
export function queriesOf({ uid, panels }: Dashboard, interval: string): readonly PanelQuery[] {
  return panels.flatMap((panel) =>
    'targets' in panel
      ? panel.targets.map(({ expr, legendFormat }) => ({
          name: `${uid}: ${panel.title}: ${legendFormat}`,
          legend: legendFormat,
          expr,
          asked: expr.replaceAll('$__rate_interval', interval).replaceAll(/\$\w+/gu, '.+'),
        }))
      : [],
  );
}
