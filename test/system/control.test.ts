// `parley control` with real processes: one socket for all workers, also for those that start later; reload and SIGHUP.
import { status } from '@grpc/grpc-js';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Controlled } from '../../src/app/control/commands.ts';
import { systemClock } from '../../src/base/clock.ts';
import { controlGroup } from '../../src/cli/control.ts';
import { writeThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { runCommand } from '../support/admin-command.ts';
import { testCertificate, type TestCertificate } from '../support/certificate.ts';
import { requireDebian } from '../support/debian.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { until } from '../support/until.ts';
import { WatchedFolder } from '../support/watched-folder.ts';
import { event, keys } from '../support/wire-audio.ts';

const hasRedis = requireDebian(REDIS_NEEDS);

type Line = Readonly<Record<string, unknown>>;

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

it('commands all workers of a server, while a call goes on', async ({ onTestFinished }) => {
  const folder = new WatchedFolder();
  folder.write('parley.yaml', 'log:\n  level: info\n');
  const socket = `${folder.file('run')}/control.sock`;
  const flags = serverFlags(issuer, certificate, [dataSource(issuer)]).filter((flag) => !flag.startsWith('--log.level'));
  const shared = ['--store.kind=redis', `--store.redis.url=${redis?.url ?? ''}`, `--store.keys=["${'a1'.repeat(32)}"]`];
  const given = [...flags, ...WITH_TEST_BOTS, ...shared, `--config=${folder.file('parley.yaml')}`, `--control.socket=${socket}`];
  const running = new ServeProcess([...given, '--workers=2', '--json']);
  onTestFinished(() => running.kill());
  const { port, opsPort } = await running.ready();
  const control = async (...argv: readonly string[]): Promise<Controlled & { readonly code: number }> => {
    const { code, out, err } = await runCommand(controlGroup(), [...argv, `--socket=${socket}`, '--json']);
    expect(err).toBe('');
    return { ...(JSON.parse(out) as Controlled), code };
  };
  const lines = (members: Line): readonly Line[] =>
    running.stderr
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => Object.entries(members).every(([key, value]) => line[key] === value));
  const connect = async (authority = certificate.certificatePem): Promise<PlatformClient> => {
    const target = `localhost:${String(port)}`;
    const { organizationId } = issuer.claims;
    const client = new PlatformClient({ target, authority, authorization: await issuer.issueToken(), organizationId });
    onTestFinished(() => {
      client.close();
    });
    return client;
  };
  const health = async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${String(opsPort)}/health/ready`)).json();

  const [client, another] = [await connect(), await connect()];
  const [call, other] = [client.call(), another.call()];
  await call.turn(event('SESSION_START'));
  await other.turn(event('SESSION_START'));
  const open = call.open(keys('7')).halfClose();
  await open.heard('CHUNK audio');
  expect(await control('status')).toMatchObject({
    ...{ code: 0, silent: 0, readiness: { ready: true } },
    processes: [{ process: 'primary' }, { process: 'worker 1', calls: 1 }, { process: 'worker 2', calls: 1 }],
  });

  const { conversationId } = other.ids;
  const { processes: tracing } = await control('trace', conversationId);
  expect(tracing.flatMap(({ traced }) => traced.filter(({ isHere }) => isHere))).toMatchObject([{ conversationId }]);
  await other.turn(keys('0'));
  expect(lines({ level: 'debug', conversationId })).not.toEqual([]);
  expect(lines({ level: 'debug' })).toEqual(lines({ level: 'debug', conversationId }));

  expect(await control('drain')).toMatchObject({ code: 0, readiness: { ready: false, reasons: ['drained'] } });
  expect(await health()).toEqual({ ready: false, reasons: ['drained'] });
  // Whoever takes the place of a worker is like the others.
  const victim = (await control('status')).processes.find(({ calls, turns }) => calls === 1 && turns === 0);
  process.kill(victim?.pid ?? 0, 'SIGKILL');
  await until('another worker takes its place', () => lines({ msg: 'a worker takes calls' }).length === 3);
  await until('it is drained, too', async () => {
    const { processes } = await control('status');
    return processes.length === 3 && processes.every(({ readiness, traced }) => !readiness.ready && traced.length === 1);
  });
  expect(await control('undrain')).toMatchObject({ code: 0, readiness: { ready: true } });
  expect(await health()).toEqual({ ready: true, reasons: [] });

  const next = await writeThrowAwayCertificate(certificate.folder, systemClock.nowMs());
  const reloaded = { taken: ['certificate'], refused: [], needRestart: [] };
  expect(await control('reload')).toMatchObject({
    ...{ code: 0, processes: [{ reloaded: { taken: [] } }, { reloaded }, { reloaded }] },
  });
  for (let count = 0; count < 2; count += 1) await (await connect(next.certificatePem)).list();

  writeFileSync(certificate.keyFile, 'broken');
  folder.write('parley.yaml', 'log:\n  level: warn\nsessions:\n  max: 77\n');
  running.signal('SIGHUP');
  await until('all processes reload', () => lines({ event: 'reloaded' }).length === 6);
  const byWorkers = lines({ event: 'reloaded' }).filter(({ worker }) => worker !== undefined);
  expect(byWorkers.slice(-2)).toMatchObject([
    { taken: ['log.level'], refused: ['certificate'], needRestart: ['sessions.max'] },
    { taken: ['log.level'], refused: ['certificate'], needRestart: ['sessions.max'] },
  ]);
  await (await connect(next.certificatePem)).list();
  expect((await control('reload')).code).toBe(1);

  await call.turn(event('START_OF_DTMF'));
  expect(await open.ended()).toMatchObject({ code: status.OK });
  running.signal('SIGTERM');
  expect(await running.ended()).toEqual({ code: 0, signal: null });
  expect(lines({}).filter((line) => typeof line['server'] !== 'string' || typeof line['version'] !== 'string')).toEqual([]);
});
