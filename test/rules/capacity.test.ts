// docs/capacity.md: its tables are those of the kept result, and the fleet it plays has the limits of deploy/kubernetes.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { capacityPage, DRAIN_S, MOST_CALLS, readResult } from '../../scripts/bench/capacity-page.ts';
import { ROOT } from '../support/source-tree.ts';

it('has the tables of the kept result: otherwise run `npm run bench -- capacity --tables`', async () => {
  const { now, made } = await capacityPage(await readResult());
  expect(now).toBe(made);
});

it('says which loads did not count, and what could not be measured', async () => {
  const { variants, processes, ...rest } = await readResult();
  const changed = variants.map((figures) => {
    const isVoid = figures.name === 'grpc' ? 'the load was late' : null;
    const msPerCall = figures.name === 'forwarded-all' ? 1 : 2;
    return { ...figures, loads: figures.loads.map((load) => ({ ...load, isVoid, msPerCall })) };
  });
  const [first, ...others] = processes.map((figures) => ({ ...figures, isVoid: null, msPerCall: 2 }));
  if (first === undefined) throw new Error('the result has no processes');
  const { made } = await capacityPage({ ...rest, variants: changed, processes: [{ ...first, isVoid: 'it was late' }, ...others] });
  expect(made).toMatch(
    /^\| gRPC, cleartext \| not counted \|[^]*^\| gRPC, TLS \| 2\.00 \|[^]*calls were not counted: the load was late\.$/mu,
  );
  expect(made).toMatch(/^\| 1 on one core \| \d+ \| not counted \|[^]*^\| 2 on one core \| \d+ \| 2\.00 \|/mu);
  expect(made).toMatch(/^\| 2 \| \d+ \| not measurable \|[^]*what forwarding adds was not measurable\.$/mu);
});

it('plays a fleet whose replicas are as full, and wait as long for calls over WebSocket, as parley.yaml says', () => {
  const { sessions, websocket } = z
    .object({ sessions: z.object({ max: z.number() }), websocket: z.object({ drain_ms: z.number() }) })
    .parse(parse(readFileSync(path.join(ROOT, 'deploy/kubernetes/parley.yaml'), 'utf8')));
  expect([sessions.max, websocket.drain_ms]).toEqual([MOST_CALLS, DRAIN_S * 1000]);
});
