// Several servers with one store against the fake platform, in this process: what the tests of a shared administration start, ask
// and close. Whose Redis server it is, and what becomes of it, each test says.
import { randomUUID } from 'node:crypto';
import { status, type ServiceError } from '@grpc/grpc-js';
import type { Clock } from '../../src/base/clock.ts';
import { adminSurroundings, type AdminSurroundings } from './admin-surroundings.ts';
import type { FakeClock } from './fake-clock.ts';
import { freePort } from './free-port.ts';
import type { RedisServer } from './redis-server.ts';
import { RunningServer, WITH_TEST_BOTS } from './running-server.ts';
import { logInShared } from './shared-admin.ts';
import { until } from './until.ts';

/** The organization of these tests. */
export const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
/** In its last third a lease of 15 seconds has ended, and another server has it, ms. */
export const TAKEOVER_LIMIT_MS = 40_000;

/** What the servers of one test share. */
export interface Shared extends AdminSurroundings {
  /** What their keys in the store begin with. */
  readonly prefix: string;
  readonly servers: RunningServer[];
  /** What each server told somebody with each token, at the moment in which the platform had made it. */
  readonly atOnce: status[];
  /** What joins a server or a command to the store. @param url - of the store; default: its own. */
  readonly storeFlags: (url?: string) => readonly string[];
  readonly serve: (url?: string, ...flags: readonly string[]) => Promise<RunningServer>;
}

/** No server is started. @param isLoggedIn - whether somebody has logged in; default true. */
export async function sharedServers(redis: Pick<RedisServer, 'url'>, clock: Clock, { isLoggedIn = true } = {}): Promise<Shared> {
  const servers: RunningServer[] = [];
  const atOnce: status[] = [];
  const around = await adminSurroundings({
    clock,
    isLoggedIn: false,
    onSigned: async ({ token }) => {
      atOnce.push(...(await Promise.all(servers.map((server) => askWith(server, token)))));
    },
  });
  // Not the port's number: a later test is given the same one, and would find texts sealed with another key.
  const prefix = `test-${randomUUID()}`;
  if (isLoggedIn) await logInShared(redis, prefix, around, clock);
  let started = 0;
  const storeFlags = (url = redis.url): readonly string[] =>
    ['kind=redis', `redis.url=${url}`, `keys=${JSON.stringify([around.key])}`, `redis.key_prefix=${prefix}`].map(
      (each) => `--store.${each}`,
    );
  const serve: Shared['serve'] = async (url, ...more) => {
    // The platform delivers to one of them, which is the second.
    started += 1;
    const port = started === 2 ? around.webhookPort : await freePort();
    const own = [`--admin.webhooks.port=${String(port)}`, '--shutdown.notice_ms=0'];
    const flags = [...WITH_TEST_BOTS, ...around.flags, ...storeFlags(url), ...own, ...more];
    const server = await RunningServer.start({ clock, flags, dataSources: () => [] });
    servers.push(server);
    return server;
  };
  return { ...around, prefix, servers, atOnce, storeFlags, serve };
}

/** What somebody with this token is told who asks for the agents: the same token check as for a call, and no session. */
export async function askWith(server: RunningServer, authorization: string | undefined): Promise<status> {
  const client = await server.client({ authorization, organizationId: ORG });
  return client.list().then(
    () => status.OK,
    (error: unknown) => (error as ServiceError).code,
  );
}

/** The same of all. */
export function askAll(servers: readonly RunningServer[], token: string | undefined): Promise<readonly status[]> {
  return Promise.all(servers.map((server) => askWith(server, token)));
}

/** 1 when it renews, else 0. */
export function owns(server: RunningServer): Promise<number | undefined> {
  return server.metric('parley_admin_owner');
}

/** What it did to data sources, in order. */
export function transitions(server: RunningServer): readonly unknown[] {
  return server.logged({ event: 'data_source' }).map((line) => line['transition']);
}

/**
 * The last one first in the end: each demands that nothing is there that was not before it.
 *
 * @param clock - has to go on meanwhile.
 * @param expected - the events of errors that a test has brought about.
 */
export async function closeAll(servers: readonly RunningServer[], clock?: FakeClock, expected: readonly string[] = []): Promise<void> {
  for (const server of servers) await going(server.app.close(), clock);
  for (const server of [...servers].reverse()) await server.close(expected);
}

/** Lets time pass until `work` is over. */
export async function going(work: Promise<void>, clock: FakeClock | undefined): Promise<void> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  await until('it is over', () => {
    clock?.advance(1);
    return isOver;
  });
  await over;
}
