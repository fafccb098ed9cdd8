// How much comes in, what is refused, and how soon callers hear an answer.
import type { Overview, ShownTraffic } from '../../src/ops/console-api.ts';
import { Chart } from './chart.tsx';
import { clockTime, count, inWords, shownMs } from './shown.ts';
import { Table } from './table.tsx';

const SLOTS = 120;

export function Traffic({ overview }: { readonly overview: Overview }) {
  const { nowMs, slotMs, traffic, latency, refused, servers } = overview;
  const last = Math.floor(nowMs / slotMs);
  const times = Array.from({ length: SLOTS }, (_, slot) => (last - SLOTS + 1 + slot) * slotMs);
  const byTime = new Map(traffic.map((slot) => [slot.atMs, slot]));
  const valuesOf = (key: 'started' | 'refused' | 'turns' | 'failed'): readonly number[] => times.map((at) => byTime.get(at)?.[key] ?? 0);
  const latencyOf = (key: 'p50Ms' | 'p95Ms'): readonly (number | undefined)[] => times.map((at) => byTime.get(at)?.[key]);
  const total = (key: 'started' | 'ended' | 'refused' | 'turns' | 'failed'): number =>
    traffic.reduce((sum: number, slot: ShownTraffic) => sum + slot[key], 0);
  return (
    <>
      <dl class="figures">
        <Figure name="Calls now" value={count(servers.reduce((sum, { openCalls }) => sum + openCalls, 0))} />
        <Figure name="Began, last hour" value={count(total('started'))} />
        <Figure name="Refused" value={count(total('refused'))} isBad={total('refused') > 0} />
        <Figure name="Turns" value={count(total('turns'))} />
        <Figure name="Bot failed" value={count(total('failed'))} isBad={total('failed') > 0} />
        <Figure name="Answer, median" value={shownMs(latency.p50Ms)} />
        <Figure name="95 of 100 within" value={shownMs(latency.p95Ms)} />
        <Figure name="99 of 100 within" value={shownMs(latency.p99Ms)} />
      </dl>
      <div class="charts">
        <Chart
          title="New calls"
          kind="bars"
          times={times}
          shown={count}
          series={[
            { name: 'taken', values: valuesOf('started'), tone: 'main' },
            { name: 'refused', values: valuesOf('refused'), tone: 'bad' },
          ]}
        />
        <Chart
          title="Turns"
          kind="bars"
          times={times}
          shown={count}
          series={[
            { name: 'ended', values: valuesOf('turns'), tone: 'main' },
            { name: 'with a failed bot', values: valuesOf('failed'), tone: 'bad' },
          ]}
        />
        <Chart
          title="Time to the answer"
          kind="lines"
          times={times}
          shown={shownMs}
          series={[
            { name: 'median', values: latencyOf('p50Ms'), tone: 'main' },
            { name: '95 of 100', values: latencyOf('p95Ms'), tone: 'second' },
          ]}
        />
      </div>
      <h2>Refused calls, by organization</h2>
      <Table
        name="Refused calls"
        heads={['Organization', 'Reason', 'Calls', 'Last']}
        none="No call was refused since the servers started."
        rows={refused.map(({ organizationId, reason, calls, lastAtMs }) => ({
          key: `${organizationId} ${reason}`,
          cells: [<code>{organizationId}</code>, inWords(reason), count(calls), clockTime(lastAtMs, nowMs)],
        }))}
      />
    </>
  );
}

function Figure({ name, value, isBad = false }: { readonly name: string; readonly value: string; readonly isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? 'bad' : ''}>{value}</dd>
    </div>
  );
}
