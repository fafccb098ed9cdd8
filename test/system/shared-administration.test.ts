// Three servers with one store against the fake platform: one looks after the data sources, and all let in what it has made, from
// the very moment in which the platform makes it.
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { runAdmin } from '../support/admin-command.ts';
import { requireDebian } from '../support/debian.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { startRelay } from '../support/relay.ts';
import { askAll, askWith, closeAll, going, ORG, owns, sharedServers, TAKEOVER_LIMIT_MS, transitions } from '../support/shared-servers.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

const shared = (clock: Clock) => sharedServers(redis, clock);

describe('three servers with one store', () => {
  it('L-10 register once, let in each token from its first moment, and renew once', async () => {
    const clock = new FakeClock();
    const around = await shared(clock);
    const { api, servers, atOnce, serve } = around;
    const token = (): string | undefined => api.dataSources(ORG)[0]?.jwsToken;
    const [first, second, third] = [await serve(), await serve(), await serve()];
    expect(await Promise.all(servers.map(owns))).toEqual([1, 0, 0]);
    expect(api.journal.count('POST /webhooks')).toBe(2);

    // Delivered to the second server, done by the first one.
    api.authorize(ORG);
    await until('it is registered', () => transitions(first).includes('created'));
    expect(second.logged({ event: 'webhook_delivery', outcome: 'taken' })).toHaveLength(1);
    expect(atOnce).toEqual([status.OK, status.OK, status.OK]);
    const before = token();
    expect(await askAll(servers, before)).toEqual([status.OK, status.OK, status.OK]);
    expect(await askAll(servers, await around.issuer.issueToken({ organizationId: ORG }))).toEqual(Array(3).fill(status.UNAUTHENTICATED));

    clock.advance(41 * MINUTE);
    await until('it is renewed', () => transitions(first).includes('renewed'));
    expect(atOnce).toEqual(Array(6).fill(status.OK));
    expect(token()).not.toBe(before);
    for (const each of [before, token()]) expect(await askAll(servers, each)).toEqual([status.OK, status.OK, status.OK]);
    expect([api.journal.count('POST /dataSources'), api.journal.count('PUT /dataSources/:id')]).toEqual([1, 1]);
    expect([transitions(second), transitions(third)]).toEqual([[], []]);
    await until('the gauge of a server that does not renew follows', async () => {
      return (await third.metric('parley_data_source_token_expiry_seconds{transport="grpc"}')) === 3600;
    });

    api.deauthorize(ORG);
    await until('all refuse', async () => (await askAll(servers, token())).every((code) => code === status.UNAUTHENTICATED));
    expect(transitions(first).at(-1)).toBe('forgotten');
    const written = JSON.stringify(servers.map(({ log }) => log));
    for (const secret of [around.key, before, token(), api.integration.clientSecret]) expect(written).not.toContain(secret);
    await closeAll(servers, clock);
  }, 180_000);

  it('L-10 L-15 change the leader at once when the leader stops, and a restarted one changes nothing', async () => {
    const clock = new FakeClock();
    const { api, servers, serve } = await shared(clock);
    const token = (): string | undefined => api.dataSources(ORG)[0]?.jwsToken;
    const [first, second] = [await serve(), await serve()];
    api.authorize(ORG);
    await until('it is registered', () => transitions(first).includes('created'));
    await going(first.app.close(), clock);
    servers.shift();
    await until('the other one renews', async () => (await owns(second)) === 1, 4000);
    expect(await second.metric('parley_admin_takeovers_total')).toBe(1);
    await until('it has looked', () => transitions(second).includes('adopted'));

    const third = await serve();
    expect([await owns(third), await askWith(third, token())]).toEqual([0, status.OK]);
    clock.advance(41 * MINUTE);
    await until('it is renewed', () => transitions(second).includes('renewed'));
    expect(await askAll(servers, token())).toEqual([status.OK, status.OK]);
    expect([api.journal.count('POST /dataSources'), api.journal.count('PUT /dataSources/:id')]).toEqual([1, 1]);
    expect(api.journal.count('POST /webhooks')).toBe(2);
    await closeAll([first, second, third], clock);
  }, 180_000);

  it('L-10 another one renews when the one that did is cut off, which stops, keeps what it knows, and learns the rest later', async () => {
    const clock = new FakeClock();
    const { api, servers, serve } = await shared(clock);
    const relay = await startRelay(redis.port);
    onTestFinished(() => {
      relay.close();
    });
    const token = (): string | undefined => api.dataSources(ORG)[0]?.jwsToken;
    const first = await serve(`redis://${new URL(relay.target.replace('grpc:', 'http:')).host}`);
    const second = await serve();
    api.authorize(ORG);
    await until('it is registered', () => transitions(first).includes('created'));
    const before = token();

    relay.turnTo(1);
    relay.cut();
    await until('it stops', () => first.logged({ event: 'admin_owner', owns: false }).length === 1, TAKEOVER_LIMIT_MS);
    await until('the other one renews', async () => (await owns(second)) === 1, TAKEOVER_LIMIT_MS);
    expect(await owns(first)).toBe(0);
    // L-15: nobody is refused for that.
    expect(await askWith(first, before)).toBe(status.OK);
    servers.shift();
    clock.advance(41 * MINUTE);
    await until('it is renewed', () => transitions(second).includes('renewed'));
    expect([api.journal.count('PUT /dataSources/:id'), transitions(first).includes('renewed')]).toEqual([1, false]);
    // Fails closed: what is not known is not let in.
    expect(await askWith(first, token())).toBe(status.UNAUTHENTICATED);

    relay.turnTo(redis.port);
    await until('it learns the new nonce', async () => (await askWith(first, token())) === status.OK);
    expect([await owns(first), await owns(second)]).toEqual([0, 1]);
    await closeAll([first, second], clock);
  }, 240_000);

  it('L-10 leave nothing to change for a command, which looks meanwhile, and changes what it likes when all have stopped', async () => {
    const { api, servers, serve, flags, storeFlags } = await shared(systemClock);
    const run = (...argv: readonly string[]) => runAdmin([...argv, ...flags, ...storeFlags()]);
    const nonce = (): string | undefined => api.dataSources(ORG)[0]?.nonce;
    const [first, second] = [await serve(), await serve()];
    api.authorize(ORG);
    await until('it is registered', () => transitions(first).includes('created'));
    const before = nonce();
    expect(await run('orgs', 'list')).toMatchObject({ code: 0, out: expect.stringContaining(ORG) as string });
    const refused = await run('data-sources', 'renew', '--org', ORG);
    expect([refused.code, nonce()]).toEqual([1, before]);
    expect(refused.err).toContain('a running server or another command renews');
    await closeAll([first, second]);
    servers.splice(0);

    expect((await run('data-sources', 'renew', '--org', ORG)).code).toBe(0);
    expect(nonce()).not.toBe(before);
    const again = await serve();
    expect([await askWith(again, api.dataSources(ORG)[0]?.jwsToken), transitions(again)]).toEqual([status.OK, ['adopted']]);
    await closeAll([again]);
  }, 240_000);
});
