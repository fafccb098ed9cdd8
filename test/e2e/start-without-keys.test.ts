// Servers whose key server is away, at their start or for so long that no key serves any more: nobody may send them calls until
// a token can be checked.
import { status } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { SERVICES, type PlatformClient } from '../support/platform-client.ts';
import { dataSource, RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { connectSocket, socketDataSource, socketToken, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

/** The keys of the fake issuer serve so long: an hour fresh, a day stale. */
const KEYS_SERVE_MS = 25 * 3_600_000;
const REFUSED = { code: status.UNAUTHENTICATED, details: 'token refused' };
const NOT_READY = { status: 503, body: { ready: false, reasons: ['keys_unavailable'] } };
const READY = { status: 200, body: { ready: true, reasons: [] } };
const SERVING = 1;
const NOT_SERVING = 2;

/** An issuer at one address for all of its lives; it forgets its keys when it ends. */
class KeyServer {
  readonly #clock: FakeClock;
  #running: Issuer;

  private constructor(clock: FakeClock, running: Issuer) {
    this.#clock = clock;
    this.#running = running;
  }

  static async start(clock: FakeClock): Promise<KeyServer> {
    return new KeyServer(clock, await startIssuer({ profile: loadProfile('fake'), clock }));
  }

  get issuer(): Issuer {
    return this.#running;
  }

  async up(): Promise<void> {
    const { claims, origin } = this.#running;
    const port = Number(new URL(origin).port);
    this.#running = await startIssuer({ profile: loadProfile('fake'), clock: this.#clock, port, ...claims });
  }

  down(): Promise<void> {
    return this.#running.close();
  }
}

/** What both health checks say: over HTTP, and the two gRPC services. */
async function health({ app }: RunningServer, client: PlatformClient) {
  const answer = await fetch(`http://127.0.0.1:${String(app.ready.opsPort)}/health/ready`);
  const check = (service: string): Promise<number> => client.unary(`/${service}/Check`, asking, told, '');
  return { http: { status: answer.status, body: await answer.json() }, grpc: await Promise.all(SERVICES.health.map(check)) };
}

/** For the server as a whole. */
const asking = (): Buffer => Buffer.alloc(0);
/** The one field of an answer. */
const told = (bytes: Buffer): number => bytes[1] ?? 0;

async function serverOf(keyServer: KeyServer, clock: FakeClock): Promise<RunningServer> {
  const { issuer } = keyServer;
  const server = await RunningServer.start({
    clock,
    flags: [...WITH_TEST_BOTS, ...WITH_SOCKETS, `--platform.extra_issuers=${JSON.stringify([issuer.issuer])}`],
    dataSources: () => [dataSource(issuer), socketDataSource(issuer)],
  });
  onTestFinished(() => server.close());
  return server;
}

/** A client with a token that is good as soon as its key is known. */
async function clientOf(server: RunningServer, { issuer }: KeyServer): Promise<PlatformClient> {
  return server.client({ authorization: await issuer.issueToken(), organizationId: issuer.claims.organizationId });
}

it('J-2B a server that starts while the key server is away is not ready, says why, and takes calls by itself when it comes', async () => {
  const clock = new FakeClock();
  const keyServer = await KeyServer.start(clock);
  await keyServer.down();
  const server = await serverOf(keyServer, clock);
  const early = await clientOf(server, keyServer);

  expect(await health(server, early)).toEqual({ http: NOT_READY, grpc: [NOT_SERVING, NOT_SERVING] });
  expect(server.logged({ level: 'warn', event: 'keys_awaited' })).toHaveLength(1);
  // Who comes all the same is refused like everybody whose token was not found good (G-02, W-06, J-1C).
  const turn = early.open().send(early.call().message(event('SESSION_START')));
  expect(await turn.ended()).toMatchObject(REFUSED);
  await expect(connectSocket(server, '/v1/va', `Bearer ${await socketToken(keyServer.issuer)}`)).rejects.toThrow(/refused with 401/u);

  await keyServer.up();
  onTestFinished(() => keyServer.down());
  clock.advance(1000);
  await until('the server is ready', async () => (await health(server, early)).http.status === 200);
  expect(await health(server, early)).toEqual({ http: READY, grpc: [SERVING, SERVING] });
  const call = (await clientOf(server, keyServer)).call();
  expect((await call.turn(event('SESSION_START'))).ending.code).toBe(status.OK);
  await call.turn(event('SESSION_END'));
  const socket = await connectSocket(server, '/v1/va', `Bearer ${await socketToken(keyServer.issuer)}`);
  socket.socket.close();
  await socket.closed();
  expect(server.logged({ event: 'keys_awaited' })).toHaveLength(1);
  expect(server.logged({ level: 'info', event: 'keys_there' })).toHaveLength(1);
});

it('a server stays ready while its keys serve, is not when the last of them has ended and nobody gives others, and is again later', async () => {
  const clock = new FakeClock();
  const keyServer = await KeyServer.start(clock);
  const server = await serverOf(keyServer, clock);
  const client = await clientOf(server, keyServer);
  expect(await health(server, client)).toEqual({ http: READY, grpc: [SERVING, SERVING] });
  const watches = SERVICES.health.map((service) => client.stream(`/${service}/Watch`, asking, told, ''));
  await until('the watches are answered', () => watches.every(({ responses }) => responses.length > 0));

  await keyServer.down();
  clock.advance(KEYS_SERVE_MS - 1);
  expect(await health(server, client)).toEqual({ http: READY, grpc: [SERVING, SERVING] });
  clock.advance(1);
  await until('the server is not ready', async () => (await health(server, client)).http.status === 503);
  expect(await health(server, client)).toEqual({ http: NOT_READY, grpc: [NOT_SERVING, NOT_SERVING] });
  await until('the watches are told', () => watches.every(({ responses }) => responses.length > 1));

  await keyServer.up();
  onTestFinished(() => keyServer.down());
  clock.advance(1000);
  await until('the watches are told', () => watches.every(({ responses }) => responses.length > 2));
  expect(watches.map(({ responses }) => responses)).toEqual(watches.map(() => [SERVING, NOT_SERVING, SERVING]));
  expect((await health(server, client)).http).toEqual(READY);
  await (await clientOf(server, keyServer)).list();
  for (const watching of watches) watching.cancel();
});

it('P-09 a server that waits for keys is stopped like any other, says then that it drains, and leaves nothing behind', async () => {
  const clock = new FakeClock();
  const keyServer = await KeyServer.start(clock);
  await keyServer.down();
  const server = await serverOf(keyServer, clock);
  const { readiness } = server.app.shown;
  expect(readiness.current.reasons).toEqual(['keys_unavailable']);
  // Looks for timers and sockets that are left.
  await server.close();
  expect(readiness.current).toEqual({ ready: false, reasons: ['draining', 'keys_unavailable'] });
});
