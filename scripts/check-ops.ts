// `npm run check -- ops`: do the alerts fire when they must, and do the dashboards show something beside real servers? See scripts/ops.
import { setTimeout as pause } from 'node:timers/promises';
import { ALERT_CASES } from '../test/support/alert-cases.ts';
import { GRAFANA_DASHBOARDS, queriesOf } from '../test/support/dashboards.ts';
import { RULES } from '../test/support/metric-names.ts';
import { alertsJudged } from '../test/support/promtool.ts';
import type { ArrivedSpan } from '../test/support/trace-collector.ts';
import { checkTraceTree, tracesIn } from '../test/support/trace-tree.ts';
import { command, progress, secondsSince, source } from './command-line.ts';
import { alarms } from './ops/alarms.ts';
import { callAll } from './ops/callers.ts';
import { Prometheus } from './ops/prometheus.ts';
import { openStage } from './ops/stage.ts';
import { flooded } from './ops/tenants.ts';
import { testUpgrades } from './upgrade/upgrades.ts';

/** What Grafana would take for `$__rate_interval`: all calls are in it. */
const INTERVAL = '2m';
/** Longest until the last call is in a rule that is made of a rule, ms. */
const SETTLE_MS = 15_000;
const LOOK_MS = 1000;

const help = `Plays every alert of deploy/prometheus to promtool, with a fault and without, and does the fault of each to real servers with calls on
them: a Prometheus whose rules are 60 times as fast must fire it then, not before, and not for ever. Then asks a Prometheus that scrapes two
servers for everything that the dashboards of deploy/grafana show and the rules record, and checks the traces of all calls. Does what
\`npm run check -- upgrade\` does as well. Before, one organization floods a server, and two others want less than their share of it.

  npm run check -- ops              some ten minutes
  npm run check -- ops --source     starts the source and not the build

Needs Debian's prometheus, redis-server and haproxy. Progress is on stderr; the last line of stdout is JSON: {"ok", "alertsTested",
"alertsInjected", "alertsSilentBefore", "alertsEnded", "alarmFaults", "upgradesTested", "dashboardQueriesThatReturnData", "dashboardQueries",
"recordedThatReturnData", "recorded", "traceTreesChecked", "withoutData", "tenantsStarved", …}. The exit code is 1 when an alert fires at the wrong time, a rule cannot be computed, a query has no value, a trace is no
tree, an upgrade fails, or more than a tenth of the calls of an organization below its share is refused.
`;

/** What is asked, by a name for people. */
type Queries = readonly { readonly name: string; readonly asked: string }[];

await command({
  help,
  options: { source },
  run: async ({ source: program }) => {
    const startedMs = performance.now();
    progress(`${String(ALERT_CASES.length)} alerts`);
    const alerts = alertsJudged(ALERT_CASES);
    const upgrades = await testUpgrades(progress);
    progress(`one organization floods a server (${program})`);
    const tenants = await flooded(program);
    const isFair = tenants.tenantsStarved === 0 && tenants.tenantsRefused.flood > 0;
    progress('starting servers for faults');
    const injected = await alarms(program, progress);
    progress('starting servers');
    const stage = await openStage(program);
    try {
      const prometheus = await Prometheus.start(stage.opsPorts);
      try {
        progress('calls');
        const called = await callAll(stage);
        const panels: Queries = GRAFANA_DASHBOARDS.flatMap((dashboard) => queriesOf(dashboard, INTERVAL));
        const recorded: Queries = RULES.flatMap((rule) =>
          'record' in rule ? [{ name: rule.record, asked: `${rule.record}${selectorOf(rule.labels)}` }] : [],
        );
        progress(`${String(panels.length)} queries of dashboards, ${String(recorded.length)} rules`);
        const empty = await withoutData(prometheus, [...panels, ...recorded]);
        const brokenRules = await prometheus.brokenRules();
        const { collector } = stage;
        const traceFaults = await faultsIn(collector.spans);
        const traceTreesChecked = tracesIn(collector.spans);
        const filled = (queries: Queries): number => queries.filter((query) => !empty.includes(query)).length;
        return {
          ok:
            alerts.ok &&
            upgrades.ok &&
            isFair &&
            injected.alarmFaults.length === 0 &&
            empty.length + brokenRules.length + traceFaults.length === 0 &&
            traceTreesChecked >= called.calls,
          described: [...(alerts.ok ? [] : [alerts.said]), ...traceFaults],
          ...{ alertsTested: ALERT_CASES.length, ...injected },
          ...{ upgradesTested: upgrades.upgradesTested, upgrades: upgrades.failed ?? upgrades.skipped },
          ...{ dashboardQueriesThatReturnData: filled(panels), dashboardQueries: panels.length },
          ...{ recordedThatReturnData: filled(recorded), recorded: recorded.length },
          traceTreesChecked,
          ...{ withoutData: empty.map(({ name }) => name), brokenRules, ...tenants, ...called, seconds: secondsSince(startedMs) },
        };
      } finally {
        await prometheus.stop();
      }
    } finally {
      await stage.close();
    }
  },
});

/** Those that have no value, after some time for the last scrape and the rules made of it. */
async function withoutData(prometheus: Prometheus, queries: Queries): Promise<Queries> {
  const untilMs = performance.now() + SETTLE_MS;
  let left = queries;
  for (;;) {
    const answers = await Promise.all(left.map(async (query) => ((await prometheus.hasData(query.asked)) ? [] : [query])));
    left = answers.flat();
    if (left.length === 0 || performance.now() > untilMs) return left;
    await pause(LOOK_MS);
  }
}

/** What is wrong with traces, after some time for the last spans to arrive. */
async function faultsIn(spans: readonly ArrivedSpan[]): Promise<readonly string[]> {
  const untilMs = performance.now() + SETTLE_MS;
  for (;;) {
    const faults = checkTraceTree(spans);
    if (faults.length === 0 || performance.now() > untilMs) return faults;
    await pause(LOOK_MS);
  }
}

function selectorOf(labels: Readonly<Record<string, string>> = {}): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}}`;
}
