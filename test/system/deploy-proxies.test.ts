// The proxies of deploy/ before two real servers: each is started from the very file that is shipped, and calls of the platform go
// through it. The servers share nothing here, so where turns may come to either of them, a call is one turn.
import { status } from '@grpc/grpc-js';
import https from 'node:https';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { CallResult } from '../../src/fake-platform/caller/caller.ts';
import { requireDebian, type DebianNeeds } from '../support/debian.ts';
import { ProxiedServers, type ProxiedOptions } from '../support/proxied-servers.ts';
import type { ClientTurn, PlatformClient } from '../support/platform-client.ts';
import type { ProxyKind } from '../support/shipped-proxy.ts';
import { SocketPeer, socketToken } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const NEEDS: Readonly<Record<ProxyKind, DebianNeeds>> = {
  nginx: { files: ['/usr/sbin/nginx'], packages: ['nginx'] },
  HAProxy: { files: ['/usr/sbin/haproxy'], packages: ['haproxy'] },
};
/** More than one for each worker of a proxy and each server. */
const CALLS = 8;
/** More than proxies allow on one connection unless told otherwise: 100 and 128. */
const MANY = 140;
/** Longer than the time that the shipped one is replaced by, where a test shows what that time does. */
const SILENCE_MS = 2000;

/** A socket on which no call begins stays for longer than these tests look at it. */
const PATIENT_WITH_SOCKETS = '--websocket.first_message_timeout_ms=60000';

/** Servers and a proxy that end with the test. */
async function behind(kind: ProxyKind, options: Partial<ProxiedOptions> = {}): Promise<ProxiedServers> {
  const proxied = await ProxiedServers.start({ kind, ...options });
  onTestFinished(() => proxied.close());
  return proxied;
}

/** A turn that says something at once and is then silent until its caller leaves. */
async function musing(client: PlatformClient): Promise<ClientTurn> {
  const turn = client.call({ agentId: 'muser' }).open(event('SESSION_START')).halfClose();
  await turn.heard('CHUNK audio');
  return turn;
}

async function silence(ms: number): Promise<void> {
  const startedMs = systemClock.monotonicMs();
  await until('the silence is over', () => systemClock.monotonicMs() - startedMs >= ms);
}

/** Calls of one turn each, one after the other. @param conversation - what the header of each says (G-09); left out: there is none. */
async function shortCalls(client: PlatformClient, conversation?: (count: number) => string): Promise<void> {
  for (let count = 0; count < CALLS; count += 1) {
    const turn = client.open(conversation === undefined ? {} : { metadata: { 'x-conversation-id': conversation(count) } });
    turn.send(client.call().message(event('SESSION_START'))).halfClose();
    expect((await turn.ended()).code).toBe(status.OK);
  }
}

/** How many calls have begun at each server while `work` was done. */
async function begunDuring(proxied: ProxiedServers, work: () => Promise<void>): Promise<readonly [number, number]> {
  const before = await proxied.begun();
  await work();
  const after = await proxied.begun();
  return [after[0] - before[0], after[1] - before[1]];
}

const openTurns = ({ servers }: ProxiedServers): number => servers.reduce((sum, { app }) => sum + app.openTurns(), 0);
const outcomes = (calls: readonly CallResult[]): readonly string[] => calls.map(({ outcome }) => outcome);
const ended = (count: number): readonly string[] => Array.from({ length: count }, () => 'ended');

async function callsOf(proxied: ProxiedServers, count = CALLS): Promise<readonly CallResult[]> {
  return Promise.all(Array.from({ length: count }, () => proxied.grpcCall()));
}

/** The status of a plain request over HTTP/1.1. */
function statusOf({ port, authority }: ProxiedServers, place: string, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = https.request({ host: 'localhost', port, path: place, method, ca: authority.pem, agent: false }, (response) => {
      response.resume().once('end', () => {
        resolve(response.statusCode);
      });
    });
    request.once('error', reject).end();
  });
}

describe.each(['nginx', 'HAProxy'] as const)('%s of deploy/', (kind) => {
  const isThere = requireDebian(NEEDS[kind]);
  let proxied: ProxiedServers;
  beforeAll(async () => {
    if (isThere) proxied = await ProxiedServers.start({ kind, flags: ['--turns.slow_reader_ms=120000', PATIENT_WITH_SOCKETS] });
  });
  afterEach(async () => {
    if (isThere) await until('nothing is open any more', () => openTurns(proxied) === 0);
  });
  afterAll(async () => {
    if (isThere) await proxied.close();
  });

  it('brings whole calls of the platform to both servers, and finds nothing wrong with the wire', async () => {
    const begun = await begunDuring(proxied, async () => {
      const calls = await callsOf(proxied);
      expect(outcomes(calls)).toEqual(ended(CALLS));
      expect(calls.flatMap(({ findings }) => findings)).toEqual([]);
    });
    expect(begun[0] + begun[1]).toBe(CALLS);
    expect(Math.min(...begun)).toBeGreaterThanOrEqual(CALLS / 4);
  });

  it('brings the RPCs of one connection to both servers in turn', async () => {
    const client = await proxied.client();
    const begun = await begunDuring(proxied, () => shortCalls(client));
    expect(begun[0] + begun[1]).toBe(CALLS);
    expect(Math.min(...begun)).toBeGreaterThanOrEqual(CALLS / 4);
  });

  it('G-09 brings all RPCs that name the same conversation to one server, and conversations to both', async () => {
    const [client, other] = [await proxied.client(), await proxied.client()];
    const same = await begunDuring(proxied, async () => {
      await Promise.all([client, other].map((each) => shortCalls(each, () => 'the same')));
    });
    expect([...same].sort((one, two) => one - two)).toEqual([0, 2 * CALLS]);
    const different = await begunDuring(proxied, () => shortCalls(client, (count) => `conversation ${String(count)}`));
    expect(Math.min(...different)).toBeGreaterThan(0);
  });

  it('passes sound on while the reply is still being made, and cancels the RPC when the caller leaves', async () => {
    const turn = await musing(await proxied.client());
    expect(turn.ending).toBeUndefined();
    expect(turn.audio.length).toBeGreaterThanOrEqual(1600);
    expect(openTurns(proxied)).toBe(1);
    turn.cancel();
    await until('the server has noticed', () => openTurns(proxied) === 0);
  });

  it('lets no RPC wait because many are open on its connection', async () => {
    const client = await proxied.client();
    const turns = await Promise.all(Array.from({ length: MANY }, () => musing(client)));
    expect(openTurns(proxied)).toBe(MANY);
    for (const turn of turns) turn.cancel();
  });

  it('passes the refusal of a token on, to a caller who has not said everything yet', async () => {
    const refused = (await proxied.client('nonsense')).call().open(event('SESSION_START'));
    expect(await refused.ended()).toMatchObject({ code: status.UNAUTHENTICATED, details: 'token refused' });
  });

  it('carries calls over WebSocket', async () => {
    const begun = await begunDuring(proxied, async () => {
      const calls = await Promise.all(Array.from({ length: 4 }, () => proxied.socketCall()));
      expect(outcomes(calls)).toEqual(ended(4));
      expect(calls.flatMap(({ findings }) => findings)).toEqual([]);
    });
    expect(Math.min(...begun)).toBeGreaterThan(0);
  });

  it('lets nobody see the operations port, and passes webhooks on', async () => {
    for (const place of ['/', '/metrics', '/calls', '/health/ready', '/parley/v1/ping']) {
      expect([place, await statusOf(proxied, place)]).toEqual([place, 404]);
    }
    expect(await statusOf(proxied, '/webhooks', 'POST')).toBe(204);
    expect(proxied.webhooks).toEqual(['/webhooks']);
  });

  it('lets a caller who does not read hold up nobody else', async () => {
    const deaf = await proxied.client();
    const stuck = Array.from({ length: 4 }, () => {
      const turn = deaf.open({ isReading: false });
      return turn.send(deaf.call({ agentId: 'talker' }).message(event('SESSION_START'))).halfClose();
    });
    await until('they are heard by nobody', () => proxied.servers.every(({ app }) => app.openTurns() === 2));
    // Until everything between the server and them is full.
    await silence(SILENCE_MS);
    expect(outcomes(await callsOf(proxied))).toEqual(ended(CALLS));
    expect(proxied.servers.map(({ app }) => app.openTurns())).toEqual([2, 2]);
    for (const turn of stuck) turn.cancel();
  });

  it('does not end what is silent: a bot that thinks, a caller who says nothing, a quiet socket', async () => {
    const client = await proxied.client();
    const thinking = await musing(client);
    const listening = client.call({ agentId: 'keypad' }).open(event('SESSION_START'));
    const socket = await quietSocket(proxied);
    await silence(SILENCE_MS);
    expect([thinking.ending, socket.end]).toEqual([undefined, undefined]);
    expect([undefined, status.OK]).toContain(listening.ending?.code);
    for (const turn of [thinking, listening]) turn.cancel();
    socket.socket.terminate();
  });
});

describe.each(['nginx', 'HAProxy'] as const)('%s of deploy/, changed or with servers that go', (kind) => {
  requireDebian(NEEDS[kind]);

  it('would end what is silent with shorter times: the shipped ones are those that count', async () => {
    const changed = (text: string): string => text.replaceAll(/\b(?:1h|24h|5m)\b/gu, '1s');
    const proxied = await behind(kind, { changed, flags: [PATIENT_WITH_SOCKETS] });
    const thinking = await musing(await proxied.client());
    const socket = await quietSocket(proxied);
    expect((await thinking.ended()).code).not.toBe(status.OK);
    expect((await socket.closed()).code).toBe(1006);
  });

  it('brings all RPCs of a connection to one server when the line for it is taken in', async () => {
    const changed = (text: string): string => text.replace(/^( +)#(?=hash |http-request )/mu, '$1');
    const proxied = await behind(kind, { changed });
    const used = new Set<number>();
    for (let count = 0; count < 2 * CALLS; count += 1) {
      const client = await proxied.client();
      const turns = [await musing(client), await musing(client)];
      const open = proxied.servers.map(({ app }) => app.openTurns());
      expect([...open].sort()).toEqual([0, 2]);
      used.add(open.indexOf(2));
      for (const turn of turns) turn.cancel();
      await until('they are over', () => openTurns(proxied) === 0);
    }
    expect(used.size).toBe(2);
  });

  it('brings every call to the server that is left, and fails calls when there is none', async () => {
    const proxied = await behind(kind);
    expect(outcomes(await callsOf(proxied))).toEqual(ended(CALLS));
    const [before] = await proxied.begun();
    await proxied.servers[1].app.close();
    expect(outcomes(await callsOf(proxied))).toEqual(ended(CALLS));
    expect(await proxied.servers[0].metric('parley_sessions_started_total{bot="brief"}')).toBe(before + CALLS);
    expect(outcomes([await proxied.socketCall(), await proxied.socketCall()])).toEqual(ended(2));
    await proxied.servers[0].app.close();
    const refused = await (await proxied.client()).call().turn(event('SESSION_START'));
    expect(refused.ending.code).toBe(status.UNAVAILABLE);
  });
});

describe('a server that is stopped while it has calls', () => {
  /** Two servers, each with one RPC that is not over. */
  async function busy(kind: ProxyKind): Promise<{ readonly proxied: ProxiedServers; readonly turns: readonly ClientTurn[] }> {
    const proxied = await behind(kind, { flags: ['--shutdown.grace_ms=120000'] });
    const client = await proxied.client();
    const turns = [await musing(client), await musing(client)];
    expect(proxied.servers.map(({ app }) => app.openTurns())).toEqual([1, 1]);
    return { proxied, turns };
  }

  /** The calls that run go on, new ones all come to the other server, and then the server can end. */
  async function expectGraceful({ proxied, turns }: Awaited<ReturnType<typeof busy>>, closing: Promise<void>): Promise<void> {
    expect(outcomes(await callsOf(proxied))).toEqual(ended(CALLS));
    expect(turns.map(({ ending }) => ending)).toEqual([undefined, undefined]);
    for (const turn of turns) turn.cancel();
    await closing;
    expect(outcomes(await callsOf(proxied))).toEqual(ended(CALLS));
  }

  /** Calls over WebSocket, of which some are brought to a server that refuses them. */
  async function expectSockets(proxied: ProxiedServers): Promise<void> {
    expect(outcomes(await Promise.all(Array.from({ length: 4 }, () => proxied.socketCall())))).toEqual(ended(4));
  }

  describe('behind HAProxy', () => {
    requireDebian(NEEDS.HAProxy);

    it('gets no new calls as soon as its health check says that it drains, not one before that is lost, and ends those that it has', async () => {
      const { proxied, turns } = await busy('HAProxy');
      const closing = proxied.servers[1].app.close();
      await expectSockets(proxied);
      await until('HAProxy has noticed', () => proxied.proxy.log.includes('parley_grpc/one is DOWN'));
      await expectGraceful({ proxied, turns }, closing);
    });
  });

  describe('behind nginx', () => {
    requireDebian(NEEDS.nginx);

    it('gets no new calls once it is marked as down, and ends those that it has', async () => {
      const { proxied, turns } = await busy('nginx');
      const port = String(proxied.servers[1].app.ready.port);
      proxied.proxy.reload((text) => text.replaceAll(`127.0.0.1:${port} max_fails=0`, `127.0.0.1:${port} down`));
      await until('both workers have been replaced', () => (proxied.proxy.log.match(/gracefully shutting down/gu) ?? []).length === 2);
      await expectGraceful({ proxied, turns }, proxied.servers[1].app.close());
    });

    it('gets no new socket either way: one that it refuses because it stops comes to the other one', async () => {
      const { proxied, turns } = await busy('nginx');
      const closing = proxied.servers[1].app.close();
      await expectSockets(proxied);
      for (const turn of turns) turn.cancel();
      await closing;
    });
  });
});

/** A socket that stands and says nothing. */
async function quietSocket({ port, issuer, authority }: ProxiedServers): Promise<SocketPeer> {
  const headers = { authorization: `Bearer ${await socketToken(issuer)}` };
  return SocketPeer.connect(`wss://localhost:${String(port)}/v1/va`, { headers, ca: authority.pem });
}
