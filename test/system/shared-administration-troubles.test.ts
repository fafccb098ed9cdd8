// What can go wrong between servers with one store, against the fake platform: a store that comes back empty while a server is
// started, keys that do not reach all servers at the same time, deliveries that nobody can take.
import { randomBytes, randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { writeWaitingEvent } from '../../src/admin/webhooks/delivery.ts';
import { CHECK_MS } from '../../src/base/watched-files.ts';
import { DeliveryQueue } from '../../src/store/redis/delivery-queue.ts';
import { Seal } from '../../src/store/seal.ts';
import { requireDebian } from '../support/debian.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { startRelay, type Relay } from '../support/relay.ts';
import type { RunningServer } from '../support/running-server.ts';
import { leaseOf, logInShared, storeOn } from '../support/shared-admin.ts';
import { askAll, askWith, closeAll, going, ORG, owns, sharedServers, TAKEOVER_LIMIT_MS, transitions } from '../support/shared-servers.ts';
import { until } from '../support/until.ts';
import { WatchedFolder } from '../support/watched-folder.ts';

const MINUTE = 60_000;
const WRITABLE = 'parley_admin_store_writable';

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** The way of some servers to the store, which a test can cut. */
async function relayTo({ port }: Pick<RedisServer, 'port'>): Promise<Relay & { readonly url: string }> {
  const relay = await startRelay(port);
  onTestFinished(() => {
    relay.close();
  });
  return { ...relay, url: `redis://${new URL(relay.target.replace('grpc:', 'http:')).host}` };
}

const registered = (server: RunningServer): Promise<void> => until('it is registered', () => transitions(server).includes('created'));

/** How far the clock goes at each look, ms: so slowly that no request is given up on a busy machine. */
const RETRY_STEP_MS = 20;

describe('servers with one store', () => {
  it('L-15 a server that is started with a store that came back empty costs nobody a call, and learns what all others know', async () => {
    const own = await RedisServer.start();
    onTestFinished(() => own.stop());
    const clock = new FakeClock();
    const { api, servers, serve } = await sharedServers(own, clock);
    const relay = await relayTo(own);
    const token = (): string | undefined => api.dataSources(ORG)[0]?.jwsToken;
    const [first, second] = [await serve(relay.url), await serve(relay.url)];
    api.authorize(ORG);
    await registered(first);
    const before = token();

    relay.turnTo(1);
    relay.cut();
    await own.kill();
    await own.again();
    const third = await serve(own.url, '--admin.fail_startup=false');
    expect([await owns(third), await askWith(third, before)]).toEqual([1, status.UNAUTHENTICATED]);
    relay.turnTo(own.port);
    await until('somebody renews who knows all', async () => (await owns(third)) === 0, TAKEOVER_LIMIT_MS);
    await until('the new one lets it in', async () => (await askWith(third, before)) === status.OK);
    expect(await askAll(servers, before)).toEqual(Array(3).fill(status.OK));
    // Whoever had it before may not have looked yet that it is another's by now.
    await until(
      'one of them knows that it renews',
      async () => ((await owns(first)) ?? 0) + ((await owns(second)) ?? 0) === 1,
      TAKEOVER_LIMIT_MS,
    );

    clock.advance(41 * MINUTE);
    await until('it is renewed', () => {
      // Whoever has just lost sight of the renewal for so long takes it again after a while.
      clock.advance(RETRY_STEP_MS);
      return token() !== before;
    });
    expect(await askAll(servers, token())).toEqual(Array(3).fill(status.OK));
    expect([api.journal.count('POST /dataSources'), api.journal.count('PUT /dataSources/:id')]).toEqual([1, 1]);
    // A write that was under way when the store died.
    await closeAll([first, second, third], clock, ['nonces_unsaved']);
  }, 240_000);

  it('L-10 L-15 a store that is emptied under the servers is filled again by the leader, nobody is refused, and it renews once', async () => {
    const own = await RedisServer.start();
    onTestFinished(() => own.stop());
    const clock = new FakeClock();
    const { api, servers, serve } = await sharedServers(own, clock);
    const token = (): string | undefined => api.dataSources(ORG)[0]?.jwsToken;
    const [first] = [await serve(), await serve()];
    api.authorize(ORG);
    await registered(first);
    const before = token();
    expect(await askAll(servers, before)).toEqual([status.OK, status.OK]);
    await own.ask('FLUSHALL');
    await until('somebody leads again, who has written everything down', async () =>
      (await own.ask('KEYS', '*:admin:*')).includes(':lease'),
    );
    const third = await serve();
    expect(await askAll(servers, before)).toEqual(Array(3).fill(status.OK));
    expect(await owns(third)).toBe(0);

    clock.advance(41 * MINUTE);
    await until('it is renewed', () => {
      clock.advance(RETRY_STEP_MS);
      return token() !== before;
    });
    expect(await askAll(servers, token())).toEqual(Array(3).fill(status.OK));
    expect([api.journal.count('POST /dataSources'), api.journal.count('PUT /dataSources/:id')]).toEqual([1, 1]);
    await closeAll(servers, clock);
  }, 240_000);

  it('L-04 a leader that finds nothing written down adopts what the platform has, and renews it', async () => {
    const clock = new FakeClock();
    const around = await sharedServers(redis, clock);
    const { api, prefix, servers, serve } = around;
    const flags = [`--admin.organizations=${JSON.stringify([ORG])}`];
    api.authorize(ORG);
    const first = await serve(undefined, ...flags);
    await registered(first);
    const before = api.dataSources(ORG)[0]?.nonce;
    await closeAll([first], clock);
    servers.shift();
    for (const key of ['lease', 'texts', 'changes', 'deliveries']) await redis.ask('DEL', `${prefix}:admin:${key}`);

    await logInShared(redis, prefix, around, clock);
    const second = await serve(undefined, ...flags);
    await until('it has adopted it', () => transitions(second).includes('adopted'));
    expect(await askWith(second, api.dataSources(ORG)[0]?.jwsToken)).toBe(status.OK);
    expect([api.journal.count('POST /dataSources'), api.dataSources(ORG).length, api.dataSources(ORG)[0]?.nonce]).toEqual([1, 1, before]);
    await closeAll([second], clock);
  }, 240_000);

  it('a server without the new key lets in what it knows and does not renew, until the key comes', async () => {
    const clock = new FakeClock();
    const around = await sharedServers(redis, clock);
    const { api, servers, serve } = around;
    const folder = new WatchedFolder();
    const keyOf = (name: string): string => `--admin.store.keys=${JSON.stringify([{ file: folder.write(name, around.key) }])}`;
    const token = (): string | undefined => api.dataSources(ORG)[0]?.jwsToken;
    const [first, second] = [await serve(undefined, keyOf('first')), await serve(undefined, keyOf('second'))];
    api.authorize(ORG);
    await registered(first);
    const before = token();
    const fresh = randomBytes(32).toString('hex');
    const taken = async (server: RunningServer): Promise<void> => {
      await until('the key is taken', () => {
        clock.advance(CHECK_MS);
        return server.logged({ event: 'files_taken', what: 'admin_store_keys' }).length > 0;
      });
    };
    folder.write('first', fresh);
    await taken(first);
    clock.advance(41 * MINUTE);
    await until('it is renewed', () => transitions(first).includes('renewed'));
    // Fails closed: what cannot be read is not let in.
    expect(await askAll(servers, token())).toEqual([status.OK, status.UNAUTHENTICATED]);
    expect(await askWith(second, before)).toBe(status.OK);
    await going(first.app.close(), clock);
    await until('it cannot begin', () => second.logged({ event: 'admin_owner', level: 'warn' }).length > 0, TAKEOVER_LIMIT_MS);
    expect(await owns(second)).toBe(0);

    folder.write('second', fresh);
    await taken(second);
    await until('it lets in', async () => (await askWith(second, token())) === status.OK, TAKEOVER_LIMIT_MS);
    await until('it renews', async () => (await owns(second)) === 1, TAKEOVER_LIMIT_MS);
    expect([api.journal.count('POST /dataSources'), api.journal.count('PUT /dataSources/:id')]).toEqual([1, 1]);
    await closeAll([first, second], clock);
  }, 240_000);

  it('L-10 the one that learns when it renews that another one does changes nothing at the platform, and is no alarm', async () => {
    const clock = new FakeClock();
    const { api, serve, prefix } = await sharedServers(redis, clock);
    const elsewhere = await storeOn(redis, prefix);
    const [first, second] = [await serve(), await serve()];
    api.authorize(ORG);
    await registered(first);
    const other = await leaseOf(elsewhere, String(await elsewhere.send(['GET', elsewhere.keys.lease])));

    clock.advance(41 * MINUTE);
    await until('it stops', () => first.logged({ event: 'admin_owner', owns: false }).length === 1);
    expect(api.journal.count('PUT /dataSources/:id')).toBe(0);
    await other.giveBack();
    await until('one of them renews', () => {
      clock.advance(RETRY_STEP_MS);
      return [first, second].some((server) => transitions(server).includes('renewed'));
    });
    await closeAll([first, second], clock);
  }, 240_000);

  it('an organization that leaves while nobody renews is refused by all as soon as somebody does', async () => {
    const clock = new FakeClock();
    const { api, servers, serve } = await sharedServers(redis, clock);
    const relay = await relayTo(redis);
    const token = (): string | undefined => api.dataSources(ORG)[0]?.jwsToken;
    const [first, second] = [await serve(relay.url), await serve()];
    api.authorize(ORG);
    await registered(first);
    const before = token();
    relay.turnTo(1);
    relay.cut();
    api.deauthorize(ORG);
    await until('the other one has it', () => second.logged({ event: 'webhook_delivery', outcome: 'taken' }).length === 2);
    // The one that is cut off cannot hear of it.
    expect(await askWith(first, before)).toBe(status.OK);
    await until('the other one renews', async () => (await owns(second)) === 1, TAKEOVER_LIMIT_MS);
    await until('it refuses', async () => (await askWith(second, before)) === status.UNAUTHENTICATED);
    relay.turnTo(redis.port);
    await until('all refuse', async () => (await askAll(servers, before)).every((code) => code === status.UNAUTHENTICATED));
    expect([await owns(first), await owns(second)]).toEqual([0, 1]);
    await closeAll([first, second], clock);
  }, 240_000);

  it('a delivery that cannot be taken keeps no other from being taken', async () => {
    const clock = new FakeClock();
    const around = await sharedServers(redis, clock);
    const { api, serve, prefix, key } = around;
    const queue = new DeliveryQueue(await storeOn(redis, prefix), new Seal(Buffer.from(key, 'hex')));
    const event = { event: 'authorized' as const, authorizerOrgId: ORG, authorizedAtMs: clock.nowMs() };
    // Too long for the store.
    await queue.add('a', writeWaitingEvent({ ...event, organizationId: randomUUID().repeat(10), idempotencyKey: 'a' }));
    const [first, second] = [await serve(), await serve()];
    api.authorize(ORG);
    await registered(first);
    expect(second.logged({ event: 'webhook_delivery', outcome: 'taken' })).toHaveLength(1);
    expect((await queue.waiting()).map(({ id }) => id)).toEqual(['a']);
    await closeAll([first, second], clock);
  }, 240_000);

  it('the one that renews alarms while the store is away for a moment, and no longer', async () => {
    const clock = new FakeClock();
    const { serve } = await sharedServers(redis, clock);
    const relay = await relayTo(redis);
    const first = await serve(relay.url);
    relay.turnTo(1);
    relay.cut();
    await until('it is told', async () => (await first.metric(WRITABLE)) === 0);
    relay.turnTo(redis.port);
    await until('it is well', async () => (await first.metric(WRITABLE)) === 1);
    expect([await owns(first), first.logged({ event: 'admin_owner' }).length]).toEqual([1, 1]);
    await closeAll([first], clock);
  }, 240_000);
});
