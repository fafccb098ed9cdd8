// Two servers with one store as processes of their own, against the fake platform: the one that renews is killed, or stopped for
// longer than its lease, at the very moment in which the platform has done what it was asked for and has not said so.
import { randomUUID } from 'node:crypto';
import { status, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { RENEWAL_LEASE_MS } from '../../src/store/redis/renewal-lease.ts';
import { adminSurroundings, type AdminSurroundings } from '../support/admin-surroundings.ts';
import { requireDebian } from '../support/debian.ts';
import { freePort } from '../support/free-port.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { logInShared } from '../support/shared-admin.ts';
import { until } from '../support/until.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
/** Beside its lease: for the first look of the one that takes over, on a busy machine, ms. */
const BEGIN_MS = 10_000;
/** A token of two minutes is renewed when one of them is over, or a little earlier; this limit is for a busy machine, ms. */
const RENEWAL_LIMIT_MS = 90_000;
/** The platform's clock is behind: for everybody else its tokens live that much shorter, and so does this test, ms. */
const BEHIND_MS = 25_000;
const platformClock: Clock = {
  nowMs: () => systemClock.nowMs() - BEHIND_MS,
  monotonicMs: () => systemClock.monotonicMs(),
  after: (ms, task) => systemClock.after(ms, task),
};

const hasRedis = requireDebian(REDIS_NEEDS);
let redis: RedisServer;
beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  if (hasRedis) await redis.stop();
});

/** One server. */
class Replica extends ServeProcess {
  /** Lines of its log with this event, in order. */
  lines(event: string): readonly Readonly<Record<string, unknown>>[] {
    return this.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      .filter((line) => line['event'] === event);
  }

  get transitions(): readonly unknown[] {
    return this.lines('data_source').map(({ transition }) => transition);
  }

  /** Whether it leads, each time that this changed. */
  get leads(): readonly unknown[] {
    return this.lines('admin_owner').flatMap(({ owns }) => (owns === undefined ? [] : [owns]));
  }

  /** What somebody with this token is told who asks for the agents. */
  async ask(token: string | undefined): Promise<status> {
    const { port } = await this.ready();
    const target = `localhost:${String(port)}`;
    const client = new PlatformClient({ target, authority: undefined, authorization: token, organizationId: ORG });
    try {
      await client.list();
      return status.OK;
    } catch (thrown) {
      return (thrown as ServiceError).code;
    } finally {
      client.close();
    }
  }
}

interface World extends AdminSurroundings {
  /** The one that renews, and the other one. */
  readonly first: Replica;
  readonly second: Replica;
  /** The token of the moment, as the platform presents it. */
  readonly token: () => string | undefined;
  /** What the second one told somebody with each token, at the moment in which the platform had made it. */
  readonly atOnce: readonly status[];
}

/** @param onTaken - the platform has taken the registration of the first one, and answers it when this resolves. */
async function start(onTaken: (first: Replica) => void | Promise<void>): Promise<World> {
  const atOnce: status[] = [];
  const running: Replica[] = [];
  const around = await adminSurroundings({
    clock: platformClock,
    isLoggedIn: false,
    onSigned: async ({ token }) => {
      const [first, second] = running;
      if (first === undefined || second === undefined) throw new Error('nobody is registered yet');
      if (atOnce.length === 0) await onTaken(first);
      atOnce.push(await second.ask(token));
    },
  });
  const prefix = `test-${randomUUID()}`;
  await logInShared(redis, prefix, around, systemClock);
  const store = ['kind=redis', `redis.url=${redis.url}`, `keys=${JSON.stringify([around.key])}`, `redis.key_prefix=${prefix}`];
  const serve = async (webhookPort: number): Promise<Replica> => {
    const replica = new Replica([
      ...[...serverFlags(around.issuer, undefined, []), ...WITH_TEST_BOTS, ...around.flags, '--json'],
      ...store.map((each) => `--store.${each}`),
      ...['token_lifetime_minutes=2', 'renewal_lead_minutes=1', 'retry_interval_s=1'].map((each) => `--admin.data_sources.${each}`),
      ...[`--admin.webhooks.port=${String(webhookPort)}`, '--shutdown.notice_ms=0', '--shutdown.grace_ms=0'],
    ]);
    running.push(replica);
    onTestFinished(() => replica.kill());
    await replica.said('it takes calls', () => {
      if (replica.exit !== undefined) throw new Error(`it has ended; it said: ${replica.stderr}`);
      return replica.stdout.includes('\n');
    });
    return replica;
  };
  const first = await serve(await freePort());
  const second = await serve(around.webhookPort);
  return { ...around, first, second, atOnce, token: () => around.api.dataSources(ORG)[0]?.jwsToken };
}

const tookOver = (replica: Replica): Promise<void> =>
  until(
    () => `it renews; it said: ${replica.stderr}`,
    () => replica.leads.at(-1) === true,
    RENEWAL_LEASE_MS + BEGIN_MS,
  );

describe('the process that renews', () => {
  it('L-10 is killed before it hears of its registration: another one goes on within its lease, registers nothing twice, and renews', async () => {
    const { api, first, second, token, atOnce } = await start((owner) => owner.kill());
    api.authorize(ORG);
    await until('it is killed', () => first.exit?.signal === 'SIGKILL');
    await tookOver(second);
    await until('it has looked', () => second.transitions.includes('adopted'));
    const before = token();
    expect([await second.ask(before), api.dataSources(ORG).length, api.journal.count('POST /dataSources')]).toEqual([status.OK, 1, 1]);
    expect(api.journal.count('POST /webhooks')).toBe(2);

    await until('it is renewed', () => second.transitions.includes('renewed'), RENEWAL_LIMIT_MS);
    expect(token()).not.toBe(before);
    expect([await second.ask(token()), await second.ask(before)]).toEqual([status.OK, status.OK]);
    // Also before the one that was killed could have said so, and before the lease was over.
    expect(atOnce).toEqual([status.OK, status.OK]);
    expect([api.journal.count('POST /dataSources'), api.journal.count('PUT /dataSources/:id')]).toEqual([1, 1]);
  }, 240_000);

  it('L-10 stands still for longer than its lease: woken it writes and changes nothing, and lets in what the other one has made', async () => {
    const { api, first, second, token, atOnce } = await start((owner) => {
      owner.signal('SIGSTOP');
    });
    api.authorize(ORG);
    await until('the platform has taken it', () => atOnce.length === 1);
    await tookOver(second);
    await until('it has looked', () => second.transitions.includes('adopted'));
    first.signal('SIGCONT');
    await until(
      () => `it steps down; it said: ${first.stderr}`,
      () => first.leads.at(-1) === false,
    );
    const before = token();
    await until('it lets in what the other one knows', async () => (await first.ask(before)) === status.OK);

    await until('it is renewed', () => second.transitions.includes('renewed'), RENEWAL_LIMIT_MS);
    expect(token()).not.toBe(before);
    for (const replica of [first, second]) expect([await replica.ask(before), await replica.ask(token())]).toEqual([status.OK, status.OK]);
    expect([first.leads, second.leads]).toEqual([[true, false], [true]]);
    expect([api.journal.count('POST /dataSources'), api.journal.count('PUT /dataSources/:id')]).toEqual([1, 1]);
    expect(first.transitions).not.toContain('renewed');
  }, 240_000);
});
