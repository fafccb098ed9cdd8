import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { RestClient } from '../../../../src/admin/rest/rest-client.ts';
import { Webhooks } from '../../../../src/admin/rest/webhooks.ts';
import type { AuthorizationHandler } from '../../../../src/admin/webhooks/inbox.ts';
import { writeKeptEvent } from '../../../../src/admin/webhooks/kept-events.ts';
import { openWebhookSide } from '../../../../src/admin/webhooks/webhook-side.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { addressAt, countedTokens, keptLog, MemorySecrets } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { until } from '../../../support/until.ts';

const APP = `C${'0a'.repeat(32)}`;

it('the end stops the work on events at once, also while a connection is waited for that says nothing', async () => {
  const [clock, store, profile] = [new FakeClock(), new MemorySecrets(), loadProfile('fake')];
  const names = profile.webhook;
  if (names === undefined) throw new Error('the profile has webhooks');
  const event = { version: 1, generation: 1, done: 0, event: 'authorized', authorizerOrgId: 'org', authorizedAtMs: 1, seen: [] } as const;
  await writeKeptEvent(store, 'org', event);
  const signals: AbortSignal[] = [];
  const work: AuthorizationHandler['authorized'] = (_, signal) =>
    new Promise((resolve) => {
      signals.push(signal);
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
  const rest = new RestClient({ address: addressAt('http://127.0.0.1:1'), tokens: countedTokens(), clock, log: keptLog().log });
  const app = { applicationId: APP, filterId: APP, names, idScheme: profile.ids?.urnScheme ?? '', api: new Webhooks(rest) };
  const where = { host: '127.0.0.1', port: 0, path: '/deliveries', unverifiedTimeoutMs: 10_000, maxUnverifiedPerAddress: 50 };
  const side = await openWebhookSide({ targetUrl: 'https://bots.example/', ...where }, app, {
    ...{ store, clock, onDone: () => undefined },
    observer: { delivered: () => undefined, registered: () => undefined, eventFailed: () => undefined },
    handler: { authorized: work, deauthorized: work },
  });
  await until('it is worked on', () => signals.length === 1);
  const socket = connect(side.port ?? 0, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  // Connections are accepted in their order: once this is answered, the server has the one before.
  await fetch(`http://127.0.0.1:${String(side.port)}/`, { headers: { connection: 'close' } });
  const closing = side.close();
  await until('the connection is waited for', () => clock.nextTimerInMs === 6000);
  expect(signals[0]?.aborted).toBe(true);
  await clock.advanceAsync(6000);
  await closing;
  expect(clock.pendingTimers).toBe(0);
});
