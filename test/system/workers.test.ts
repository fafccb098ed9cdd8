// `parley serve --workers` as its operator sees it: several processes that share ports, calls and a Redis server, one process
// that is asked about all of them, and what happens when one of them dies.
import { status } from '@grpc/grpc-js';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { FoundCalls, Overview } from '../../src/ops/console-api.ts';
import { systemClock } from '../../src/base/clock.ts';
import { serveCommand } from '../../src/cli/serve.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { runCommand } from '../support/admin-command.ts';
import { testCertificate, type TestCertificate } from '../support/certificate.ts';
import { requireDebian } from '../support/debian.ts';
import { PlatformClient, type ClientTurn } from '../support/platform-client.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';
import { ServeProcess, type ReadyLine } from '../support/serve-process.ts';
import { SocketPeer, socketDataSource, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';
import { event, keys } from '../support/wire-audio.ts';

const hasRedis = requireDebian(REDIS_NEEDS);

let issuer: Issuer;
let certificate: TestCertificate;
let redis: RedisServer | undefined;

beforeAll(async () => {
  [issuer, certificate] = await Promise.all([startIssuer({ profile: loadProfile('fake') }), testCertificate()]);
  if (hasRedis) redis = await RedisServer.start();
});
afterAll(async () => {
  await redis?.stop();
  certificate.remove();
  await issuer.close();
});

type Line = Readonly<Record<string, unknown>>;
type SocketReadyLine = ReadyLine & { readonly websocket: { readonly port: number } };

const TAKES_CALLS = 'a worker takes calls';
const ENDED = 'a worker ended; another one takes its place';

/** A server of several processes. */
class Workers extends ServeProcess {
  /** The log, in order. */
  get log(): readonly Line[] {
    return this.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line);
  }

  /** Lines of it with this message. */
  lines(message: string): readonly Line[] {
    return this.log.filter(({ msg }) => msg === message);
  }

  /** Process ids of the workers that have said that they take calls, and are alive. */
  get alive(): readonly number[] {
    return this.lines(TAKES_CALLS)
      .map(({ pid }) => Number(pid))
      .filter(isAlive);
  }
}

/** Not so: one that has ended, and nobody has asked how; its parent was killed, and whoever took it over may never ask. */
function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${String(pid)}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** The flags of a server of two workers; later ones win. */
function flagsWith(...flags: readonly string[]): readonly string[] {
  const shared = [`--store.kind=redis`, `--store.redis.url=${redis?.url ?? ''}`, `--store.keys=["${'a1'.repeat(32)}"]`];
  const base = serverFlags(issuer, certificate, [dataSource(issuer), socketDataSource(issuer)]);
  return [...base, ...WITH_TEST_BOTS, ...shared, '--workers=2', '--json', ...flags];
}

/** Starts a server of two workers; later flags win. It ends with its test. */
function serve({ onTestFinished }: TestContext, ...flags: readonly string[]): Workers {
  const running = new Workers(flagsWith(...flags));
  onTestFinished(() => running.kill());
  return running;
}

async function clientOf({ onTestFinished }: TestContext, { port }: ReadyLine): Promise<PlatformClient> {
  const client = new PlatformClient({
    target: `localhost:${String(port)}`,
    authority: certificate.certificatePem,
    authorization: await issuer.issueToken(),
    organizationId: issuer.claims.organizationId,
  });
  onTestFinished(() => {
    client.close();
  });
  return client;
}

/** As many calls as connections; connections are dealt out in turn, so every worker has some of them. */
async function callsOver(context: TestContext, ready: ReadyLine, connections: number): Promise<ReturnType<PlatformClient['call']>[]> {
  const calls = [];
  for (let count = 0; count < connections; count += 1) {
    const call = (await clientOf(context, ready)).call();
    expect((await call.turn(event('SESSION_START'))).ending.code).toBe(status.OK);
    calls.push(call);
  }
  return calls;
}

/** What the operations server answers. */
function operations({ opsPort }: ReadyLine, place: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${String(opsPort)}${place}`, { headers: { connection: 'close' } });
}

async function sample(ready: ReadyLine, name: string): Promise<number | undefined> {
  const line = (await (await operations(ready, '/metrics')).text()).split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length));
}

const STARTED = 'parley_sessions_started_total{bot="tester"}';

describe('parley serve --workers', () => {
  let running: Workers;
  let ready: SocketReadyLine;

  // One server for all of them, which outlives its workers: starting it is what takes the time.
  beforeAll(async () => {
    if (!hasRedis) return;
    running = new Workers(
      flagsWith(...WITH_SOCKETS, '--websocket.drain_ms=60000', '--websocket.first_message_timeout_ms=60000', '--shutdown.notice_ms=0'),
    );
    ready = (await running.ready()) as SocketReadyLine;
  });
  afterAll(async () => {
    if (hasRedis) await running.kill();
  });

  /** Connects a socket that says nothing. */
  async function connect({ onTestFinished }: TestContext): Promise<SocketPeer> {
    const headers = { authorization: `Bearer ${await socketToken(issuer)}` };
    const url = `wss://localhost:${String(ready.websocket.port)}/v1/va`;
    const peer = await SocketPeer.connect(url, { ca: certificate.certificatePem, headers });
    onTestFinished(() => {
      peer.socket.terminate();
    });
    return peer;
  }

  /** Ends a worker at once. @returns its line of the log, when the end has been noticed. */
  async function killed(worker: Line | undefined): Promise<Line | undefined> {
    const before = running.lines(ENDED).length;
    process.kill(Number(worker?.['pid']), 'SIGKILL');
    await until('the end is told', () => running.lines(ENDED).length > before);
    return running.lines(ENDED).at(-1);
  }

  it('has workers that share one port for each kind of calls, and one operations port that shows all of them', async (context) => {
    expect(ready).toMatchObject({ event: 'ready', workers: 2, hasTokenCheck: true, websocket: { security: 'TLS' } });
    expect(new Set(running.lines(TAKES_CALLS).map(({ address }) => address))).toEqual(new Set([`127.0.0.1:${String(ready.port)}`]));
    expect(running.stdout.trim().split('\n')).toHaveLength(1);

    const calls = await callsOver(context, ready, 4);
    expect(new Set(running.lines('session started').map(({ worker }) => worker))).toEqual(new Set([1, 2]));
    expect(await sample(ready, STARTED)).toBe(4);
    expect(await sample(ready, 'parley_sessions_open{bot="tester"}')).toBe(4);
    expect(await sample(ready, 'parley_workers{state="ready"}')).toBe(2);
    const listed = (await (await operations(ready, '/calls')).json()) as { readonly calls: readonly { readonly conversationId: string }[] };
    const ids = calls.map((call) => call.ids.conversationId);
    expect(listed.calls.map(({ conversationId }) => conversationId).sort()).toEqual([...ids].sort());
    for (const id of ids) expect(await (await operations(ready, `/calls/${id}`)).json()).toMatchObject({ conversationId: id });

    expect(new Set([ready.port, ready.opsPort, ready.websocket.port]).size).toBe(3);
    for (let count = 0; count < 4; count += 1) await connect(context);
    expect(await sample(ready, 'parley_sockets_open')).toBe(4);
  });

  it('goes on with a call whose turns come over several connections, also when the worker is killed that has it', async (context) => {
    const [first, second] = [await clientOf(context, ready), await clientOf(context, ready)];
    const { ids } = first.call();
    const turn = (client: PlatformClient, key: '0' | '2'): Promise<ClientTurn> => client.call(ids).turn(keys(key));
    await first.call(ids).turn(event('SESSION_START'));
    for (const client of [second, first, second]) expect((await turn(client, '0')).story.at(-1)).toMatch(/^FINAL/u);
    expect(await (await operations(ready, `/calls/${ids.conversationId}`)).json()).toMatchObject({ conversationId: ids.conversationId });

    // The line that says who looked at the call is not a worker's.
    const ofCall = running.log.filter(({ conversationId, worker }) => conversationId === ids.conversationId && worker !== undefined);
    const last = ofCall.at(-1)?.['worker'];
    await killed(running.lines(TAKES_CALLS).find(({ worker }) => worker === last));
    const third = await clientOf(context, ready);
    expect((await turn(third, '0')).story.at(-1)).toMatch(/^FINAL/u);
    const end = await turn(third, '2');
    expect([end.ending?.code, end.story.at(-1)]).toEqual([status.OK, expect.stringMatching(/^FINAL SESSION_END/u)]);
    await until('another worker takes calls', () => running.alive.length === 2);
  });

  it('shows all of its workers in the console, with the calls of each', async (context) => {
    const calls = await callsOver(context, ready, 2);
    const overview = async (): Promise<Overview> => (await (await operations(ready, '/api/overview')).json()) as Overview;
    await until('the workers know each other', async () => (await overview()).servers.length === 2);
    const { servers, silent } = await overview();
    expect(silent).toEqual([]);
    const { calls: found } = (await (await operations(ready, '/api/calls')).json()) as FoundCalls;
    const serverOf = (id: string): string | undefined => found.find(({ conversationId }) => conversationId === id)?.server;
    for (const { ids } of calls) expect(servers.map(({ id }) => id)).toContain(serverOf(ids.conversationId));
  });

  it('replaces a worker that was killed while the other one takes calls, and does not forget what it had counted', async (context) => {
    const before = (await sample(ready, STARTED)) ?? 0;
    await callsOver(context, ready, 4);
    expect(await sample(ready, STARTED)).toBe(before + 4);
    const victim = running.lines(TAKES_CALLS).find(({ pid }) => running.alive.includes(Number(pid)));
    expect(await killed(victim)).toMatchObject({ worker: victim?.['worker'], pid: victim?.['pid'], signal: 'SIGKILL' });
    expect((await operations(ready, '/health/ready')).status).toBe(200);
    await callsOver(context, ready, 1);
    await until('another worker takes calls', () => running.alive.length === 2);
    await callsOver(context, ready, 4);
    const newest = running.lines(TAKES_CALLS).at(-1)?.['worker'];
    expect(running.lines('session started').map(({ worker }) => worker)).toContain(newest);
    expect(await sample(ready, STARTED)).toBe(before + 9);
    expect(await sample(ready, 'parley_workers_ended_total')).toBe(running.lines(ENDED).length);
  });

  it('kills and replaces a worker that stands still, and answers for the others meanwhile', async (context) => {
    const [stopped = 0] = running.alive;
    process.kill(stopped, 'SIGSTOP');
    expect(await sample(ready, 'parley_workers{state="ready"}')).toBe(2);
    await until('its end is told', () => running.lines(ENDED).some(({ pid }) => pid === stopped));
    expect(running.lines('a worker does not answer and is killed').map(({ pid }) => pid)).toEqual([stopped]);
    await callsOver(context, ready, 2);
    await until('another worker takes calls', () => running.alive.length === 2);
  });

  it('brings no new connection to a worker that is renewed while its calls end', async (context) => {
    const open = [await connect(context), await connect(context)];
    const starts = running.lines(TAKES_CALLS).length;
    const [renewed = 0] = running.alive;
    process.kill(renewed, 'SIGTERM');
    await running.logged('new connections are left to the other workers');
    // Those that are dealt to a worker which drains are refused.
    for (let count = 0; count < 4; count += 1) await connect(context);
    expect(running.alive).toContain(renewed);
    for (const { socket } of open) socket.terminate();
    await until('another worker takes its place', () => running.lines(TAKES_CALLS).length > starts);
    expect(running.alive).not.toContain(renewed);
    expect((await operations(ready, '/health/ready')).status).toBe(200);
  });

  it('gives up with code 1 when its workers die again and again', async () => {
    const killed = new Set<number>();
    await until('the server has given up', () => {
      for (const pid of running.lines('a worker starts').map((line) => Number(line['pid']))) {
        if (killed.has(pid) || !isAlive(pid)) continue;
        killed.add(pid);
        process.kill(pid, 'SIGKILL');
      }
      return running.exit !== undefined;
    });
    expect(running.exit).toEqual({ code: 1, signal: null });
    // Those that ended in the tests before count, too, if it is not a minute since.
    expect(running.lines('workers end again and again: the server gives up')).toMatchObject([{ recentEnds: 11 }]);
    expect(killed.size).toBeGreaterThan(2);
  });
});

describe('a server of several processes', () => {
  it('finishes open turns in every worker after SIGTERM, and ends with code 0', async (context) => {
    const running = serve(context, '--shutdown.grace_ms=20000');
    const ready = await running.ready();
    const calls = await callsOver(context, ready, 4);
    const open = calls.map((call) => call.open(keys('7')).halfClose());
    for (const turn of open) await turn.heard('CHUNK audio');
    running.signal('SIGTERM');
    await until('both workers drain', () => running.lines('stopping: new calls are refused, open turns are finished').length === 3);
    expect(await (await operations(ready, '/health/ready')).json()).toEqual({ ready: false, reasons: ['draining'] });
    expect(running.exit).toBeUndefined();
    for (const [index, call] of calls.entries()) {
      await call.turn(event('START_OF_DTMF'));
      expect(await open[index]?.ended()).toMatchObject({ code: status.OK });
      await call.turn(event('SESSION_END'));
    }
    expect(await running.ended()).toEqual({ code: 0, signal: null });
    expect(running.alive).toEqual([]);
  });

  it('lets workers finish their calls when a terminal interrupts all processes at once, and ends them at the second signal', async (context) => {
    const running = serve(context, '--shutdown.grace_ms=600000', '--shutdown.notice_ms=0');
    const [call] = await callsOver(context, await running.ready(), 1);
    await call?.open(keys('7')).halfClose().heard('CHUNK audio');
    const interrupt = (): void => {
      for (const pid of running.alive) process.kill(pid, 'SIGINT');
      running.signal('SIGINT');
    };
    interrupt();
    await until('both workers drain', () => running.lines('stopping: new calls are refused, open turns are finished').length === 3);
    await until('the worker without a call is gone', () => running.alive.length === 1);
    interrupt();
    expect(await running.ended()).toEqual({ code: 130, signal: null });
    expect(running.alive).toEqual([]);
  });

  it('leaves no worker behind when the process that started them is killed, and no turn unfinished', async (context) => {
    const running = serve(context, '--shutdown.grace_ms=20000');
    const ready = await running.ready();
    const [call] = await callsOver(context, ready, 1);
    const open = call?.open(keys('7')).halfClose();
    await open?.heard('CHUNK audio');
    running.signal('SIGKILL');
    await until('the workers hear of it', () => running.lines('stopping: new calls are refused, open turns are finished').length === 2);
    await call?.turn(event('START_OF_DTMF'));
    expect(await open?.ended()).toMatchObject({ code: status.OK });
    await call?.turn(event('SESSION_END'));
    const startedMs = systemClock.monotonicMs();
    // Its streams are also those of the workers.
    await running.ended();
    expect(running.alive).toEqual([]);
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(10_000);
  });

  it('closes connections that are too many for every worker, and kills a worker that hangs while all of them stop', async (context) => {
    const running = serve(context, '--tls.mode=off', '--grpc.max_connections=1', '--shutdown.notice_ms=0');
    const { port } = await running.ready();
    const closed: number[] = [];
    for (const index of [0, 1, 2, 3]) {
      const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
      socket.resume().once('close', () => closed.push(index));
      context.onTestFinished(() => {
        socket.destroy();
      });
      await until('it stands', () => !socket.connecting);
    }
    await until('both that are too many are closed', () => closed.length === 2);
    expect(running.stderr).toContain('connections to the media server were closed: as many as allowed are open');
    expect((await operations(await running.ready(), '/health/ready')).status).toBe(200);

    const [hanging = 0] = running.alive;
    process.kill(hanging, 'SIGSTOP');
    running.signal('SIGTERM');
    expect(await running.ended()).toEqual({ code: 0, signal: null });
    expect(running.lines('a worker does not answer and is killed').map(({ pid }) => pid)).toEqual([hanging]);
    expect(running.alive).toEqual([]);
  });

  it('says once what keeps the workers from starting', async (context) => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    context.onTestFinished(() => {
      taken.close();
    });
    await until('the port is taken', () => taken.listening);
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const running = serve(context, `--grpc.port=${port}`);
    expect(await running.ended()).toEqual({ code: 1, signal: null });
    expect(running.stdout).toBe('');
    expect([...running.stderr.matchAll(/^error listen_failed {2}.*$/gmu)]).toHaveLength(1);
    expect(running.stderr).toContain(port);
    expect(running.stderr).not.toContain('    at ');
  });
});

describe('parley serve --workers refuses to start', () => {
  it('without a store that the workers share', async (context) => {
    const running = serve(context, '--store.kind=memory');
    expect(await running.ended()).toEqual({ code: 2, signal: null });
    expect([running.stdout, running.stderr]).toEqual([
      '',
      expect.stringMatching(/^error config_invalid {2}--workers 2 needs a store .* set store\.kind to redis/u),
    ]);
  });

  it.each(['0', '65', 'many', '2.5'])('with %s workers, which makes no sense', async (workers) => {
    const command = serveCommand(() => undefined);
    const { code, err } = await runCommand(command, [`--workers=${workers}`]);
    expect([code, err]).toEqual([2, expect.stringContaining("option '--workers <number>'")]);
  });
});
