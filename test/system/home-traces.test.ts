// A call whose turns come to another server, and whose home is killed: one trace, with real processes and Redis.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FLEET_NEEDS } from '../fleet/fleet.ts';
import { HomeStage } from '../fleet/home-stage.ts';
import { press, silentUntil } from '../fleet/routed-call.ts';
import { requireDebian } from '../support/debian.ts';
import { TraceCollector } from '../support/trace-collector.ts';
import { checkTraceTree, tracesIn } from '../support/trace-tree.ts';
import { until } from '../support/until.ts';

const HOME = 0;
const OTHER = 1;

const isReady = requireDebian(FLEET_NEEDS);
let stage: HomeStage;
let collector: TraceCollector;

beforeAll(async () => {
  if (!isReady) return;
  collector = await TraceCollector.start();
  stage = await HomeStage.start(2, [`--traces.endpoint=${collector.url}`]);
});
afterAll(async () => {
  if (!isReady) return;
  await stage.close();
  await collector.close();
});

it('a call that is forwarded, and then taken over, is one trace with one span of the call', async () => {
  const named = (name: string): number => collector.spans.filter((span) => span.name === name).length;
  // Each server has had a call before.
  await until('those calls have arrived', () => named('call') === 2);
  collector.spans.splice(0);
  const over = new AbortController();
  const call = stage.call({
    script: [press('1'), press('2'), silentUntil(over.signal), press('3')],
    serverOf: (rpc) => (rpc < 2 ? HOME : OTHER),
  });
  await call.reached('waits');
  await stage.live([call], HOME, [OTHER]);
  await until('what happened so far has arrived', () => named('forward') > 0 && named('turn') > 1);
  await stage.replica(HOME).kill();
  over.abort();
  const { findings } = await call.heard();
  expect(findings, call.story).toEqual([]);
  await until('the call has arrived', () => named('call') > 0);
  expect(checkTraceTree(collector.spans)).toEqual([]);
  expect([tracesIn(collector.spans), named('call')]).toEqual([1, 1]);
  const homes = new Set(collector.spans.flatMap(({ name, resource }) => (name === 'turn' ? [resource['service.instance.id']] : [])));
  expect(homes.size).toBe(2);
});
