// The server that looks after its data sources itself, against the fake platform: an organization authorizes the app by
// itself, calls come in with the tokens that the platform makes, and end with the authorization.
import { rm } from 'node:fs/promises';
import { request } from 'node:https';
import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { adminSurroundings, type AdminSurroundings } from '../support/admin-surroundings.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import type { SurroundingsOptions } from '../support/open-surroundings.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const MINUTE = 60_000;

/** What stays when the server is started again. */
interface Surroundings extends AdminSurroundings {
  readonly clock: FakeClock;
}

async function surroundings(options: Pick<SurroundingsOptions, 'switches'> = {}): Promise<Surroundings> {
  const clock = new FakeClock();
  return { clock, ...(await adminSurroundings({ clock, ...options })) };
}

const serve = ({ clock, flags }: Surroundings): Promise<RunningServer> =>
  RunningServer.start({ clock, flags: [...WITH_TEST_BOTS, ...flags], dataSources: () => [] });

/** How a short call with this token ends. */
async function callWith(server: RunningServer, authorization: string | undefined): Promise<status | undefined> {
  const call = (await server.client({ authorization, organizationId: ORG })).call();
  const { ending } = await call.turn(event('SESSION_START'));
  if (ending.code === status.OK) await call.turn(event('SESSION_END'));
  return ending.code;
}

it('authorized, called, renewed, called with both tokens, restarted without a change, deauthorized, refused', async () => {
  const around = await surroundings();
  const { api, clock } = around;
  const puts = (): number => api.journal.count('PUT /dataSources/:id');
  const transitions = (server: RunningServer): readonly unknown[] =>
    server.logged({ event: 'data_source' }).map((line) => line['transition']);

  const first = await serve(around);
  expect(first.app.ready.hasTokenCheck).toBe(true);
  expect(await first.metric('parley_webhook_registered{event="authorized"}')).toBe(1);
  api.authorize(ORG);
  await until('it is registered', () => transitions(first).includes('created'));
  const [registered] = api.dataSources(ORG);
  const before = registered?.jwsToken;
  expect(await callWith(first, before)).toBe(status.OK);
  expect(await callWith(first, await around.issuer.issueToken({ organizationId: ORG }))).toBe(status.UNAUTHENTICATED);

  clock.advance(41 * MINUTE);
  await until('it is renewed', () => transitions(first).includes('renewed'));
  const after = api.dataSources(ORG)[0]?.jwsToken;
  expect(after).not.toBe(before);
  // J-05: the platform may go on with the old one.
  for (const token of [after, before]) expect(await callWith(first, token)).toBe(status.OK);
  expect(await first.metric('parley_data_source_token_expiry_seconds{transport="grpc"}')).toBe(3600);
  expect(await first.metric('parley_data_source_transitions_total{transport="grpc",transition="renewed"}')).toBe(1);
  await first.quiet();
  await first.close();

  const second = await serve(around);
  expect([puts(), api.dataSources(ORG).length, transitions(second)]).toEqual([1, 1, ['adopted']]);
  for (const token of [after, before]) expect(await callWith(second, token)).toBe(status.OK);

  api.deauthorize(ORG);
  await until('it is forgotten', () => transitions(second).includes('forgotten'));
  for (const token of [after, before]) expect(await callWith(second, token)).toBe(status.UNAUTHENTICATED);
  await second.quiet();
  // P-14: no secret of all this is in any log.
  const secrets = [around.key, before, after, registered?.nonce, api.dataSources(ORG)[0]?.nonce, api.integration.clientSecret];
  const written = JSON.stringify([first.log, second.log]);
  for (const secret of [...secrets, ...api.webhooks().map((webhook) => webhook.secret)]) expect(written).not.toContain(secret);
  await second.close();
}, 180_000);

it('J-05 started again with another audience and subject, it takes calls with the token of before beside the new one', async () => {
  const around = await surroundings();
  const first = await serve(around);
  around.api.authorize(ORG);
  const token = (): string | undefined => around.api.dataSources(ORG)[0]?.jwsToken;
  await until('it is registered', () => first.logged({ event: 'data_source', transition: 'created' }).length === 1);
  const before = token();
  expect(await callWith(first, before)).toBe(status.OK);
  await first.quiet();
  await first.close();

  const flags = [...around.flags, '--admin.data_sources.audience=another', '--admin.data_sources.subject=another'];
  const second = await serve({ ...around, flags });
  expect(around.api.dataSources(ORG)).toMatchObject([{ audience: 'another', subject: 'another' }]);
  expect(token()).not.toBe(before);
  for (const each of [before, token()]) expect(await callWith(second, each)).toBe(status.OK);
  await second.quiet();
  await second.close();
}, 180_000);

it('a first look that fails ends the start, with the sentence that mends it, and leaves nothing open', async () => {
  const around = await surroundings();
  around.api.revokeTokens(around.api.integration.clientId);
  await expect(serve(around)).rejects.toMatchObject({ code: 'login_needed' });
  const later = await serve({ ...around, flags: [...around.flags, '--admin.fail_startup=false'] });
  await until('the first look fails', () => later.logged({ event: 'webhook_registration', outcome: 'failed' }).length === 2);
  // It takes its port and waits, and nobody sends it calls.
  expect(later.app.shown.readiness.current).toEqual({ ready: false, reasons: ['login_needed'] });
  expect(later.logged({ event: 'login_awaited' })).toHaveLength(1);
  await later.close();
});

it('L-10 renews no token any more once another process has taken its store, and uses those that are good', async () => {
  const around = await surroundings({ switches: { accessTokenSeconds: 600 } });
  const { api, clock } = around;
  const server = await serve({
    ...around,
    flags: [...around.flags, '--admin.data_sources.check_interval_s=60', '--admin.token_expiry_buffer_s=300'],
  });
  api.authorize(ORG);
  await until('it is registered', () => server.logged({ event: 'data_source', transition: 'created' }).length === 1);
  await rm(`${around.storeFile}.lock`, { recursive: true });
  await until('the store is lost', () => server.logged({ event: 'admin_store_lost' }).length === 1);
  const renewals = (): number => api.journal.count('POST /access_token') + api.journal.count('POST /applications/:id/token');
  const looks = (): number => api.journal.count('GET /dataSources/:id') + api.journal.count('GET /webhooks');
  const [renewed, looked] = [renewals(), looks()];
  // Less than 300 seconds are left of the tokens then.
  await clock.advanceAsync(5 * MINUTE + 1000);
  await until('data source and webhooks are looked at', () => looks() > looked + 1);
  expect([renewals(), server.logged({ event: 'data_source', transition: 'failed' }).length]).toEqual([renewed, 0]);
  await server.close(['admin_store_lost']);
});

it('takes deliveries over TLS with the certificate of the media server when it is configured so', async () => {
  const around = await surroundings();
  const port = around.webhookPort;
  const secure = ['--admin.webhooks.tls=true', `--admin.webhooks.target_url=https://localhost:${String(port)}/webhooks`];
  const server = await serve({ ...around, flags: [...around.flags, ...secure] });
  const answered = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request({ port, path: '/webhooks', method: 'POST', ca: server.certificate.certificatePem, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.once('error', reject).end('{}');
  });
  // H-20: whoever does not sign is a stranger, who was heard.
  expect(answered).toBe(401);
  await server.close();
});
