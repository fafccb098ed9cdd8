// How long the platform waits for its answer: no longer than it takes to write the delivery down, whatever hangs behind it.
// Endpoint, receiver, inbox and sealed store are the real ones.
import { createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEndpoint } from '../../../../src/admin/webhooks/endpoint.ts';
import { Inbox, type AuthorizationHandler } from '../../../../src/admin/webhooks/inbox.ts';
import { Receiver } from '../../../../src/admin/webhooks/receiver.ts';
import { systemClock } from '../../../../src/base/clock.ts';
import { DurableStore } from '../../../../src/store/durable-store.ts';
import { Seal } from '../../../../src/store/seal.ts';

const SECRET = 'a secret of ours';
const APP = `C${'0a'.repeat(32)}`;
const DELIVERIES = 50;
/** What the platform may be kept waiting, ms; how long the disk takes is the machine's. */
const ANSWER_LIMIT_MS = 100;

/** Everything between the platform and a handler that never comes to its end. */
async function open() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-acknowledgement-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = await DurableStore.open({ file: path.join(folder, 'admin.store'), seal: new Seal() });
  onTestFinished(() => store.close());
  const seen = { writes: 0, begun: 0, ended: 0 };
  const disk = { ms: 0 };
  const hangs: AuthorizationHandler['authorized'] = async (_, signal) => {
    seen.begun += 1;
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    seen.ended += 1;
    throw new Error('aborted');
  };
  const inbox = await Inbox.open({
    store: {
      get: (key) => store.get(key),
      keys: (prefix) => store.keys(prefix),
      delete: (key) => store.delete(key),
      set: async (key, value) => {
        seen.writes += 1;
        const startedMs = performance.now();
        await store.set(key, value);
        disk.ms += performance.now() - startedMs;
      },
    },
    handler: { authorized: hangs, deauthorized: hangs },
    clock: systemClock,
    onDone: () => undefined,
    onFailed: () => undefined,
  });
  onTestFinished(() => inbox.close());
  const receiver = new Receiver({
    target: { applicationId: APP, resource: 'serviceApp', idScheme: 'fakeid://' },
    inbox,
    secrets: () => [SECRET],
    onDelivery: () => undefined,
  });
  const headers = { sha1Header: 'X-Fake-Signature', sha2Header: 'X-Fake-Strong' };
  const endpoint = await startEndpoint({
    host: '127.0.0.1',
    port: 0,
    path: '/webhooks',
    ...{ unverifiedTimeoutMs: 10_000, maxUnverifiedPerAddress: 50 },
    ...headers,
    receiver,
    clock: systemClock,
  });
  onTestFinished(() => endpoint.close());
  const deliver = async (event: string, authorizerOrgId: string, authorizationDate: string): Promise<number> => {
    const body = JSON.stringify({ resource: 'serviceApp', event, data: { id: APP, authorizerOrgId, authorizationDate } });
    const signature = createHmac('sha1', SECRET).update(body).digest('hex');
    const answer = await fetch(`http://127.0.0.1:${String(endpoint.port)}/webhooks`, {
      method: 'POST',
      body,
      headers: { 'x-fake-signature': signature },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  return { seen, disk, deliver };
}

it('H-20 H-24 answers each delivery after one write, while the work of all of them hangs', async () => {
  const { seen, disk, deliver } = await open();
  const tookMs: number[] = [];
  for (let count = 1; count <= DELIVERIES; count += 1) {
    const [startedMs, diskMs] = [performance.now(), disk.ms];
    expect(await deliver('authorized', randomUUID(), '2026-09-29T08:00:00Z')).toBe(202);
    tookMs.push(performance.now() - startedMs - (disk.ms - diskMs));
    // By construction: nothing else was waited for, and none of the work has come to its end.
    expect(seen).toEqual({ writes: count, begun: count, ended: 0 });
  }
  tookMs.sort((one, other) => one - other);
  const [median = NaN, p99 = NaN] = [0.5, 0.99].map((part) => tookMs[Math.floor(part * (tookMs.length - 1))]);
  // On a busy machine a few are slower.
  expect(median, `median ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms beside the write`).toBeLessThan(ANSWER_LIMIT_MS);
});

it('H-23 answers an end of an authorization at once although the work on it hangs', async () => {
  const { seen, deliver } = await open();
  const organization = randomUUID();
  expect(await deliver('authorized', organization, '2026-09-29T08:00:00Z')).toBe(202);
  expect(await deliver('deauthorized', organization, '2026-09-29T08:00:00Z')).toBe(202);
  expect(seen.writes).toBe(2);
  // Delivered again: known, and nothing is written.
  expect(await deliver('deauthorized', organization, '2026-09-29T08:00:00Z')).toBe(202);
  expect(seen.writes).toBe(2);
});
