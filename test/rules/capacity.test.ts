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

it('plays a fleet whose replicas are as full, and wait as long for calls over WebSocket, as parley.yaml says', () => {
  const { sessions, websocket } = z
    .object({ sessions: z.object({ max: z.number() }), websocket: z.object({ drain_ms: z.number() }) })
    .parse(parse(readFileSync(path.join(ROOT, 'deploy/kubernetes/parley.yaml'), 'utf8')));
  expect([sessions.max, websocket.drain_ms]).toEqual([MOST_CALLS, DRAIN_S * 1000]);
});
