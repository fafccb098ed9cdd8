// Servers that share a store while nobody has logged in, and while somebody logs in again: they wait, and none is stopped for it.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { runAdmin } from '../support/admin-command.ts';
import { requireDebian } from '../support/debian.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { freePort } from '../support/free-port.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import type { RunningServer } from '../support/running-server.ts';
import { askAll, closeAll, ORG, owns, sharedServers, TAKEOVER_LIMIT_MS, transitions, type Shared } from '../support/shared-servers.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
/** Between two questions to all servers, ms. */
const ASK_MS = 200;
/** Lines of what fails without a login. */
const ABOUT_LOGIN = new Set(['integration_login', 'login_awaited', 'organization_failed', 'data_source', 'webhook_registration']);

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** Servers with an integration whose browser may come back to a free port, and `parley admin login` with such a browser. */
async function withLogin(clock: FakeClock) {
  const around = await sharedServers(redis, clock, { isLoggedIn: false });
  const redirectUri = `http://127.0.0.1:${String(await freePort())}/callback`;
  const { clientId, clientSecret } = around.api.apps.addIntegration({ redirectUris: [redirectUri] });
  around.api.switches.consent = 'auto';
  const own = [`client_id=${clientId}`, `client_secret=${clientSecret}`, `redirect_uri=${redirectUri}`].map(
    (each) => `--admin.integration.${each}`,
  );
  const onErr = (text: string): void => {
    const address = /^ {2}(http:\S+)$/mu.exec(text)?.[1];
    if (address !== undefined) void fetch(address).then((page) => page.text());
  };
  const logIn = () => runAdmin(['login', ...around.flags, ...own, ...around.storeFlags()], { onErr });
  const serve: Shared['serve'] = (url, ...more) => around.serve(url, ...own, ...more);
  return { ...around, clientId, logIn, serve };
}

const reasonsOf = ({ app }: RunningServer): readonly string[] => app.shown.readiness.current.reasons;
const isReady = ({ app }: RunningServer): boolean => app.shown.readiness.current.ready;

describe('servers with one store', () => {
  it('L-01 start without a login, are not ready and say why once, and serve as soon as somebody has logged in', async () => {
    const clock = new FakeClock();
    const around = await withLogin(clock);
    const { api, servers, logIn, serve } = around;
    // The organization is known from the settings, so the first check of the leader fails for it, too.
    for (let started = 0; started < 2; started += 1) await serve(undefined, `--admin.organizations=["${ORG}"]`);
    expect(servers.map(reasonsOf)).toEqual([['login_needed'], ['login_needed']]);
    const answer = await fetch(`http://127.0.0.1:${String(servers[0]?.app.ready.opsPort)}/health/ready`);
    expect(answer.status).toBe(503);
    const warnings = (): readonly unknown[] =>
      servers.flatMap((server) => server.logged({ level: 'warn' }).flatMap(({ event }) => (ABOUT_LOGIN.has(String(event)) ? [event] : [])));
    for (const server of servers) expect(server.logged({ event: 'login_awaited' })).toHaveLength(1);
    const said = warnings();
    expect([...said].sort()).toEqual(['integration_login', 'login_awaited', 'login_awaited', 'organization_failed']);
    // Five attempts later it has said nothing more.
    for (let minute = 0; minute < 5; minute += 1) await clock.advanceAsync(MINUTE);
    expect(warnings()).toEqual(said);

    api.authorize(ORG);
    expect(await logIn()).toMatchObject({ code: 0 });
    await until('both are ready', () => servers.every(isReady), TAKEOVER_LIMIT_MS);
    await until('the organization is served', () => servers.some((server) => transitions(server).includes('created')), TAKEOVER_LIMIT_MS);
    const token = api.dataSources(ORG)[0]?.jwsToken;
    expect(await askAll(servers, token)).toEqual([status.OK, status.OK]);
    for (const server of servers) expect(server.logged({ event: 'login_there' })).toHaveLength(1);
    await closeAll(servers, clock);
  });

  it('L-10 go on with their calls while somebody logs in again, and renew with the new login', async () => {
    const clock = new FakeClock();
    const { api, clientId, servers, logIn, serve } = await withLogin(clock);
    api.switches.accessTokenSeconds = 600;
    expect(await logIn()).toMatchObject({ code: 0 });
    for (let started = 0; started < 2; started += 1) await serve();
    api.authorize(ORG);
    await until('it is registered', () => servers.some((server) => transitions(server).includes('created')));
    const token = api.dataSources(ORG)[0]?.jwsToken;

    // Somebody has ended the tokens of the integration at the platform.
    api.revokeTokens(clientId);
    for (let minute = 0; minute < 15; minute += 1) await clock.advanceAsync(MINUTE);
    const leads = async (): Promise<readonly (number | undefined)[]> => Promise.all(servers.map(owns));
    const logins = async (): Promise<number> =>
      Math.min(...(await Promise.all(servers.map((server) => server.metric('parley_integration_login')))).map((value) => value ?? 1));
    await until('the login is found dead', async () => (await logins()) === 0);
    // Asked again and again meanwhile, no server ever refuses the token.
    const told = new Set<status>();
    const over = new AbortController();
    const asking = (async () => {
      while (!over.signal.aborted) {
        for (const each of await askAll(servers, token)) told.add(each);
        await new Promise<void>((resolve) => systemClock.after(ASK_MS, resolve));
      }
    })();
    expect(await logIn()).toMatchObject({ code: 0, err: expect.not.stringContaining('error') as unknown });
    await until('one leads with the new login', async () => (await leads()).includes(1) && (await logins()) === 1, TAKEOVER_LIMIT_MS);
    over.abort();
    await asking;
    expect([...told]).toEqual([status.OK]);
    expect(servers.map(isReady)).toEqual([true, true]);
    for (let minute = 0; minute < 26; minute += 1) await clock.advanceAsync(MINUTE);
    await until('the data source is renewed', () => servers.some((server) => transitions(server).includes('renewed')), TAKEOVER_LIMIT_MS);
    await closeAll(servers, clock);
  });
});
