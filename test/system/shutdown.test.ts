// Starting and stopping `parley serve` as its operator sees it: a process with signals, exit codes and a few lines.
import { status } from '@grpc/grpc-js';
import net from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { testCertificate, type TestCertificate } from '../support/certificate.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { botModule, makeFolder, removeFolder } from '../support/bots-folder.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../support/running-server.ts';
import { compiledEntry } from '../support/compiled-program.ts';
import { openSurroundings } from '../support/open-surroundings.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { socketDataSource, WITH_SOCKETS } from '../support/socket-peer.ts';
import { until } from '../support/until.ts';
import { event, format, keys, quiet } from '../support/wire-audio.ts';

let issuer: Issuer;
let certificate: TestCertificate;

beforeAll(async () => {
  [issuer, certificate] = await Promise.all([startIssuer({ profile: loadProfile('fake') }), testCertificate()]);
});
afterAll(async () => {
  certificate.remove();
  await issuer.close();
});

/** Flags that take calls over WebSocket, with the one data source that they need. */
function takingSockets(): readonly string[] {
  return [...WITH_SOCKETS, `--auth.data_sources=${JSON.stringify([socketDataSource(issuer)])}`];
}

/** Starts a server with the settings of all these tests; later flags win. It ends with its test. */
function serve({ onTestFinished }: TestContext, ...flags: readonly string[]): ServeProcess {
  const running = new ServeProcess([...serverFlags(issuer, certificate, [dataSource(issuer)]), ...flags]);
  onTestFinished(() => running.kill());
  return running;
}

/** Flags that load a bot whose module keeps the process busy, as a pool of connections would. The folder goes with the test. */
async function withBusyBot({ onTestFinished }: TestContext): Promise<readonly string[]> {
  const folder = await makeFolder({ 'busy.mjs': `${botModule('busy', '', compiledEntry())}setInterval(() => undefined, 1000);\n` });
  onTestFinished(() => removeFolder(folder));
  return [`--bots.folder=${folder}`, '--bots.default_bot=busy'];
}

async function clientOf({ onTestFinished }: TestContext, port: number): Promise<PlatformClient> {
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

const check = (client: PlatformClient): Promise<number> =>
  client.unary(
    '/grpc.health.v1.Health/Check',
    () => Buffer.alloc(0),
    (bytes: Buffer) => bytes[1] ?? 0,
    null,
  );

describe('parley serve', () => {
  it('says in one line where it listens and how it is guarded, and stops at once when nobody calls', async (context) => {
    const running = serve(context, ...takingSockets());
    await until('a line is there', () => running.stdout.includes('\n') || running.exit !== undefined);
    expect(running.stdout).toMatch(
      /^ready {2}127\.0\.0\.1:\d+ {2}TLS {2}bots appointments, clinic, code-line, echo, front-desk, talk {2}data sources 1 {2}token check ON {2}operations port \d+ {2}WebSocket 127\.0\.0\.1:\d+ TLS {2}NO RECOGNIZER for the words of appointments, front-desk\n$/,
    );
    running.signal('SIGINT');
    expect(await running.ended()).toEqual({ code: 0, signal: null });
  });

  it('P-09 finishes open turns after SIGTERM, takes no new calls meanwhile, and ends with code 0', async (context) => {
    const running = serve(context, '--json', ...WITH_TEST_BOTS, '--shutdown.grace_ms=20000');
    const { port, opsPort } = await running.ready();
    const client = await clientOf(context, port);
    const ready = (): Promise<Response> => fetch(`http://127.0.0.1:${String(opsPort)}/health/ready`);
    await running.logged('the static prompts are spoken');
    expect((await ready()).status).toBe(200);
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const open = call.open(keys('7')).halfClose();
    await open.heard('CHUNK audio');

    running.signal('SIGTERM');
    await running.logged('stopping');
    expect(await check(client)).toBe(2);
    expect((await ready()).status).toBe(503);
    const turnedAway = await client.call().turn(event('SESSION_START'));
    expect({ code: turnedAway.ending.code, story: turnedAway.story }).toEqual({
      code: status.OK,
      story: ['FINAL TRANSFER_TO_AGENT wav'],
    });
    expect((await client.call().turn(format())).ending).toMatchObject({ code: status.UNAVAILABLE });
    expect(open.ending).toBeUndefined();
    expect(running.exit).toBeUndefined();

    // A key on the running call ends what its bot is thinking about.
    expect((await call.turn(event('START_OF_DTMF'))).ending.code).toBe(status.OK);
    expect(await open.ended()).toMatchObject({ code: status.OK });
    expect(open.story.at(-1)).toBe('FINAL empty');
    // The platform opens the next stream of a call that goes on; nobody is waited for who has hung up.
    await call.turn(event('SESSION_END'));
    const startedMs = systemClock.monotonicMs();
    expect(await running.ended()).toEqual({ code: 0, signal: null });
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(5000);
    expect(running.stderr).toContain('"stopped"');
  });

  it(
    'finishes what can be finished of calls in every state, transfers the others, and counts them (G-51)',
    { timeout: 180_000 },
    async (context) => {
      const running = serve(context, '--json', ...WITH_TEST_BOTS, '--shutdown.grace_ms=6000');
      const client = await clientOf(context, (await running.ready()).port);
      await running.logged('the static prompts are spoken');
      const [thinking, listening, streaming, farewell, between, silent] = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const call = client.call();
          await call.turn(event('SESSION_START'));
          return call;
        }),
      );
      const thought = thinking?.open(keys('7')).halfClose();
      const heard = listening?.open(format(), ...quiet(200));
      const goodbye = farewell?.open(keys('A')).halfClose();
      await Promise.all([thought?.heard('CHUNK audio'), goodbye?.heard('CHUNK audio')]);
      const streamed = streaming?.open(keys('*')).halfClose();
      await streamed?.heard('CHUNK audio');
      // Its first prompt cannot be cut: the platform opens the next stream only after it. The other never comes back.
      for (const call of [between, silent]) await call?.turn(keys('6'));

      running.signal('SIGTERM');
      await running.logged('stopping');
      expect((await client.call().turn(event('SESSION_START'))).story).toEqual(['FINAL TRANSFER_TO_AGENT wav']);
      await streamed?.ended();
      await streaming?.turn(event('SESSION_END'));
      // The hand-over has begun.
      await heard?.heard('CHUNK audio');
      const back = between?.open(format(), ...quiet(200));
      for (const turn of [thought, heard, goodbye, back]) await turn?.ended();
      expect(await running.ended()).toEqual({ code: 0, signal: null });

      expect([streamed?.ending?.code, streamed?.story.length, streamed?.story.at(-1)]).toEqual([status.OK, 40 * 3 + 2, 'FINAL empty']);
      expect([goodbye?.ending?.code, goodbye?.story.at(-1)]).toEqual([status.OK, expect.stringMatching(/^FINAL SESSION_END/)]);
      for (const turn of [thought, heard, back]) {
        expect([turn?.ending?.code, turn?.story.at(-1)]).toEqual([status.OK, expect.stringMatching(/^FINAL TRANSFER_TO_AGENT/)]);
      }
      expect(running.stderr.split('\n').find((line) => line.includes('cutTurns'))).toContain('"cutTurns":3');
      expect(running.stderr.split('\n').find((line) => line.includes('cutCalls'))).toContain('"cutCalls":1');
    },
  );

  it('ends although a bot module still keeps the process busy', async (context) => {
    const running = serve(context, '--json', ...(await withBusyBot(context)));
    await running.ready();
    running.signal('SIGTERM');
    expect(await running.ended()).toEqual({ code: 0, signal: null });
    expect(running.stderr.trimEnd().split('\n').at(-1)).toContain('"stopped"');
  });

  it('gives up a start that waits for the platform, in order', async (context) => {
    const around = await openSurroundings();
    context.onTestFinished(() => around.close());
    around.api.faults.add('any', { kind: 'hang' }, Infinity);
    const running = new ServeProcess([...serverFlags(around.issuer, undefined, []), ...around.flags, '--json']);
    context.onTestFinished(() => running.kill());
    await until('the platform is asked', () => around.api.journal.count('GET /webhooks') > 0);
    running.signal('SIGTERM');
    expect(await running.ended()).toEqual({ code: 0, signal: null });
    expect([running.stdout, running.stderr]).toEqual(['', expect.stringContaining('the start is given up')]);
    // The store was let go.
    await (await around.openStore()).close();
  });

  it('ends at once on a second signal', async (context) => {
    const running = serve(context, '--json', ...WITH_TEST_BOTS, '--shutdown.grace_ms=600000');
    const client = await clientOf(context, (await running.ready()).port);
    const call = client.call();
    await call.turn(event('SESSION_START'));
    const open = call.open(keys('7')).halfClose();
    await open.heard('CHUNK audio');
    running.signal('SIGTERM');
    await running.logged('stopping');
    running.signal('SIGTERM');
    const startedMs = systemClock.monotonicMs();
    expect(await running.ended()).toEqual({ code: 130, signal: null });
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(5000);
  });
});

describe('parley serve refuses to start', () => {
  it('P-11 without the token check on an address that others can reach, and names the switch that would allow it', async (context) => {
    const refused = serve(context, '--grpc.host=0.0.0.0', '--auth.enabled=false', '--tls.mode=off');
    expect(await refused.ended()).toEqual({ code: 2, signal: null });
    expect(refused.stdout).toBe('');
    expect(refused.stderr).toContain('without the token check the server listens on a loopback address only');
    expect(refused.stderr).toContain('auth.allow_unauthenticated_network');
  });

  it('P-12 with a certificate that is no PEM', async (context) => {
    const garbage = path.join(certificate.folder, 'garbage.pem');
    writeFileSync(garbage, 'no certificate\n');
    const refused = serve(context, `--tls.certificate_file=${garbage}`);
    expect(await refused.ended()).toEqual({ code: 1, signal: null });
    expect(refused.stdout).toBe('');
    expect(refused.stderr).toMatch(/^error certificate_invalid {2}\S.+\nwhat to do {2}\S.+\n$/);
    expect(refused.stderr).toContain(garbage);
  });

  it('on a port that is taken, for calls or for operations, whatever a bot module still does', async (context) => {
    const taken = net.createServer().listen(0, '127.0.0.1');
    context.onTestFinished(() => {
      taken.close();
    });
    await until('the port is taken', () => taken.listening);
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const attempts = [serve(context, `--grpc.port=${port}`), serve(context, `--ops.port=${port}`, ...(await withBusyBot(context)))];
    for (const attempt of attempts) {
      expect(await attempt.ended()).toEqual({ code: 1, signal: null });
      expect(attempt.stdout).toBe('');
      expect(attempt.stderr).toMatch(/^error listen_failed {2}\S.+\nwhat to do {2}\S.+\n$/m);
      expect(attempt.stderr).toContain(port);
      expect(attempt.stderr).not.toContain('    at ');
    }
  });
});
