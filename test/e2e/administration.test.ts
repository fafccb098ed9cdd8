// The server that looks after its data sources itself, against the fake platform: an organization authorizes the app by
// itself, calls come in with the tokens that the platform makes, and end with the authorization.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { INTEGRATION_KEY } from '../../src/admin/oauth/integration-tokens.ts';
import { readTokenReply } from '../../src/admin/tokens.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startAdminApi, type AdminApi } from '../../src/fake-platform/admin-api/admin-api.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/issuer.ts';
import { DurableStore } from '../../src/store/durable-store.ts';
import { Seal } from '../../src/store/seal.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const MINUTE = 60_000;
const profile = loadProfile('fake');

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What stays when the server is started again. */
interface Surroundings {
  readonly clock: FakeClock;
  readonly api: AdminApi;
  readonly issuer: Issuer;
  readonly key: string;
  readonly flags: readonly string[];
}

async function surroundings(): Promise<Surroundings> {
  const clock = new FakeClock();
  const issuer = await startIssuer({ profile, clock });
  const api = await startAdminApi({ profile, issuer, clock });
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-admin-'));
  onTestFinished(async () => {
    await api.close();
    await issuer.close();
    rmSync(folder, { recursive: true, force: true });
  });
  // Connections to the platform stay open for the next request, and are no server's: they are there before the first one.
  await Promise.all(Array.from({ length: 4 }, async () => (await fetch(`${api.baseUrl}/nothing`)).text()));
  const key = randomBytes(32).toString('hex');
  const file = path.join(folder, 'admin.store');
  // Somebody has logged in.
  const store = await DurableStore.open({ file, seal: new Seal(Buffer.from(key, 'hex')) });
  await store.set(INTEGRATION_KEY, JSON.stringify(readTokenReply({ ...api.logIn() }, clock.nowMs())));
  await store.close();
  const port = String(await freePort());
  const admin = {
    enabled: 'true',
    base_url: api.baseUrl,
    'store.file': file,
    'store.keys': JSON.stringify([key]),
    'integration.client_id': api.integration.clientId,
    'integration.client_secret': api.integration.clientSecret,
    'service_app.client_id': api.serviceApp.clientId,
    'service_app.client_secret': api.serviceApp.clientSecret,
    'data_sources.url': 'http://127.0.0.1:50051',
    'data_sources.audience': 'aud',
    'data_sources.subject': 'sub',
    'data_sources.token_lifetime_minutes': '60',
    'data_sources.renewal_lead_minutes': '20',
    'webhooks.target_url': `http://127.0.0.1:${port}/webhooks`,
    'webhooks.port': port,
  };
  const issuers = `--platform.extra_issuers=${JSON.stringify([issuer.issuer])}`;
  return {
    clock,
    api,
    issuer,
    key,
    flags: [...WITH_TEST_BOTS, issuers, ...Object.entries(admin).map(([name, value]) => `--admin.${name}=${value}`)],
  };
}

const serve = ({ clock, flags }: Surroundings): Promise<RunningServer> => RunningServer.start({ clock, flags, dataSources: () => [] });

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
}, 90_000);

it('a first look that fails ends the start, with the sentence that mends it, and leaves nothing open', async () => {
  const around = await surroundings();
  around.api.revokeTokens(around.api.integration.clientId);
  await expect(serve(around)).rejects.toMatchObject({ code: 'login_needed' });
  const later = await serve({ ...around, flags: [...around.flags, '--admin.fail_startup=false'] });
  expect(later.logged({ event: 'webhook_registration', outcome: 'failed' })).toHaveLength(2);
  await later.close();
});
