// `parley serve` that has hardly any file descriptors left: what runs goes on, and what cannot be taken is refused where it comes in.
import { status } from '@grpc/grpc-js';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';
import { ServeProcess, type ReadyLine } from '../support/serve-process.ts';
import { socketDataSource, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';
import { event, keys } from '../support/wire-audio.ts';

/** Files and sockets that the process may have; a server that has started has some thirty, and opens a hundred while it loads. */
const LIMIT = 160;

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ profile: loadProfile('fake') });
});
afterAll(() => issuer.close());

async function serve({ onTestFinished }: TestContext, ...flags: readonly string[]): Promise<{ running: ServeProcess; ready: ReadyLine }> {
  const sources = [dataSource(issuer), socketDataSource(issuer)];
  const running = new ServeProcess([...serverFlags(issuer, undefined, sources), ...WITH_TEST_BOTS, '--json', ...flags], LIMIT);
  onTestFinished(() => running.kill());
  return { running, ready: await running.ready() };
}

async function connect({ onTestFinished }: TestContext, { port }: ReadyLine): Promise<PlatformClient> {
  const client = new PlatformClient({
    target: `127.0.0.1:${String(port)}`,
    authorization: await issuer.issueToken(),
    organizationId: issuer.claims.organizationId,
  });
  onTestFinished(() => {
    client.close();
  });
  return client;
}

/** Opens connections one after the other until one of them is closed. @returns all of them. */
async function fill({ onTestFinished }: TestContext, port: number): Promise<readonly net.Socket[]> {
  const all: net.Socket[] = [];
  onTestFinished(() => {
    for (const socket of all) socket.destroy();
  });
  while (!all.some(({ closed }) => closed)) {
    expect(all.length).toBeLessThan(LIMIT);
    const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
    all.push(socket);
    // HTTP/2 begins with what the server says; who is refused hears nothing.
    await new Promise<void>((resolve) => {
      socket.once('data', () => {
        resolve();
      });
      socket.once('close', () => {
        resolve();
      });
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0');
    });
  }
  return all;
}

const readiness = async ({ opsPort }: ReadyLine): Promise<unknown> =>
  (await fetch(`http://127.0.0.1:${String(opsPort)}/health/ready`, { headers: { connection: 'close' } })).json();

describe('a server without file descriptors', () => {
  it('P-18 closes strangers for new connections, says so, and lets every call go on', async (context) => {
    const { running, ready } = await serve(context);
    const client = await connect(context, ready);
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const open = call.open(keys('7')).halfClose();
    await open.heard('CHUNK audio');

    const held = await fill(context, ready.port);
    await until('it is not ready', async () => JSON.stringify(await readiness(ready)) === '{"ready":false,"reasons":["descriptors"]}');
    expect(running.stderr.match(/"event":"descriptors_short"/gu)).toHaveLength(1);
    expect(running.stderr).toContain('no file descriptors are left');
    for (let count = 0; count < 5; count += 1) {
      const turn = await client.call().turn(event('SESSION_START'));
      expect(turn.ending.code).toBe(status.OK);
      expect(turn.story.join()).not.toContain('TRANSFER');
    }
    await call.turn(event('START_OF_DTMF'));
    expect(await open.ended()).toMatchObject({ code: status.OK });

    // Strangers hold every descriptor, and keep nobody out.
    await (await connect(context, ready)).list();
    for (const socket of held) socket.destroy();
    await until('it is ready again', async () => JSON.stringify(await readiness(ready)) === '{"ready":true,"reasons":[]}');
    await (await connect(context, ready)).list();
    expect(running.stderr).not.toContain('"code":"internal"');
  });

  it('says at the start that its settings need more', async (context) => {
    const { running } = await serve(context, ...WITH_SOCKETS);
    await running.logged('the process may open fewer file descriptors than its settings need');
    expect(running.stderr).toContain(`"event":"descriptors_few","limit":${String(LIMIT)},`);
  });
});
