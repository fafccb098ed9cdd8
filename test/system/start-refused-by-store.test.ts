// Servers as processes of their own that the Redis server refuses at their start: what they say, and how they end. One that was
// asked to serve never ends with 0 before somebody has told it to stop.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { doctorCommand } from '../../src/cli/doctor.ts';
import type { DoctorReport } from '../../src/cli/doctor-text.ts';
import { platformCommand } from '../../src/fake-platform/cli/platform.ts';
import { runAdmin, runCommand } from '../support/admin-command.ts';
import { adminSurroundings, type AdminSurroundings } from '../support/admin-surroundings.ts';
import { certificateAuthority } from '../support/certificate-authority.ts';
import { requireDebian } from '../support/debian.ts';
import { freePort } from '../support/free-port.ts';
import type { ParleyProcess } from '../support/parley-process.ts';
import { RedisSentinel } from '../support/redis-sentinel.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { dataSource, serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';
import { ServeProcess } from '../support/serve-process.ts';
import { logInShared } from '../support/shared-admin.ts';

const hasRedis = requireDebian(REDIS_NEEDS);
const PASSWORD = 'the-right-one';
let open: RedisServer;
let locked: RedisServer;
let secure: RedisServer;
beforeAll(async () => {
  if (!hasRedis) return;
  [open, locked, secure] = await Promise.all([
    RedisServer.start(),
    RedisServer.start({ password: PASSWORD }),
    certificateAuthority(systemClock.nowMs()).then((authority) => RedisServer.start({ authority })),
  ]);
});
afterAll(async () => {
  if (hasRedis) await Promise.all([open.stop(), locked.stop(), secure.stop()]);
});

/** The flags of a server with an administration whose store is there. */
function flagsFor(around: AdminSurroundings, store: readonly string[], prefix = `test-${randomUUID()}`): readonly string[] {
  return [
    ...[...serverFlags(around.issuer, undefined, []), ...WITH_TEST_BOTS, ...around.flags, '--json', '--admin.webhooks.port=0'],
    ...['kind=redis', `keys=${JSON.stringify([around.key])}`, `redis.key_prefix=${prefix}`, ...store].map((each) => `--store.${each}`),
    ...['--shutdown.notice_ms=0', '--shutdown.grace_ms=0'],
  ];
}

function serve(flags: readonly string[]): ServeProcess {
  const server = new ServeProcess(flags);
  onTestFinished(() => server.kill());
  return server;
}

const doNothing = (): void => undefined;

/** The line that says why a command ended. */
function errorOf({ stderr }: ParleyProcess): string {
  return stderr.split('\n').find((line) => line.startsWith('error ')) ?? `no error in: ${stderr}`;
}

/** PEM of an authority that signed nothing here. */
async function foreignAuthority(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-ca-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'ca.pem');
  await writeFile(file, (await certificateAuthority(systemClock.nowMs())).pem);
  return file;
}

const REFUSALS: readonly (readonly [what: string, store: () => Promise<readonly string[]>, cause: RegExp])[] = [
  [
    'nobody listens at its port',
    async () => [`redis.url=redis://127.0.0.1:${String(await freePort())}`],
    /failed with ECONNREFUSED: nothing takes connections there/,
  ],
  [
    'no sentinel listens where they should',
    async () => [`redis.sentinels=127.0.0.1:${String(await freePort())}`, 'redis.sentinel_name=calls'],
    /no sentinel names the primary: asking them failed with ECONNREFUSED \(store\.redis\.sentinels\)/,
  ],
  [
    'its sentinels know no primary of that name',
    async () => {
      const sentinel = await RedisSentinel.start(open, 1);
      onTestFinished(() => sentinel.stop());
      return [`redis.sentinels=${sentinel.address}`, 'redis.sentinel_name=others'];
    },
    /the sentinels know no primary named others \(store\.redis\.sentinel_name\)/,
  ],
  [
    'the password is wrong',
    () => Promise.resolve([`redis.url=${locked.url}`, 'redis.password=wrong']),
    /refused with WRONGPASS: the user or the password is wrong/,
  ],
  [
    'it does not know the user',
    () => Promise.resolve([`redis.url=${locked.url}`, 'redis.user=nobody', 'redis.password=wrong']),
    /refused with WRONGPASS: the user or the password is wrong/,
  ],
  ['it wants a password', () => Promise.resolve([`redis.url=${locked.url}`]), /refused with NOAUTH: it wants a user or a password/],
  [
    'another authority has signed its certificate',
    async () => [`redis.url=${secure.url}`, `redis.ca_file=${await foreignAuthority()}`],
    /failed with [A-Z_]+: its certificate is not trusted/,
  ],
];

/** The flags of a command that looks at such a store. */
async function commandFlags(store: readonly string[]): Promise<readonly string[]> {
  return flagsFor(await adminSurroundings({ isLoggedIn: false }), store).filter((flag) => flag !== '--json');
}

// Servers, `parley doctor` and `parley admin` open the store in one place; each is asked once more below.
describe('a command that opens the store names the cause, and it alone, when it cannot be used because', () => {
  it.each(REFUSALS)('%s', async (_what, store, cause) => {
    const { code, out, err } = await runAdmin(['orgs', 'list', ...(await commandFlags(await store()))]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error store_unavailable/m);
    expect(err).toMatch(cause);
    expect(err).not.toContain('redis.password=');
  });
});

describe('when the store cannot be used', () => {
  it('a server with an administration and workers ends with 1 and names the cause', async () => {
    const around = await adminSurroundings({ isLoggedIn: false });
    const server = serve([...flagsFor(around, [`redis.url=${locked.url}`, 'redis.password=wrong']), '--workers=2']);
    expect(await server.ended()).toEqual({ code: 1, signal: null });
    expect(errorOf(server)).toMatch(/^error store_unavailable .*WRONGPASS/);
    expect(server.stderr).not.toContain('redis.password=');
  });

  it('parley doctor ends with 1 and names the cause', async () => {
    const flags = await commandFlags([`redis.url=redis://127.0.0.1:${String(await freePort())}`]);
    const { code, out, err } = await runCommand(doctorCommand(doNothing), flags);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error store_unavailable .*ECONNREFUSED/m);
  });
});

describe('parley doctor looks at the store that servers share, without an administration', () => {
  async function storeLook(...store: readonly string[]): Promise<DoctorReport['checks']> {
    const around = await adminSurroundings({ isLoggedIn: false });
    const key = `keys=${JSON.stringify([around.key])}`;
    const settings = ['kind=redis', key, ...store].map((each) => `--store.${each}`);
    const flags = [...serverFlags(around.issuer, undefined, [dataSource(around.issuer)]), ...settings];
    const { out } = await runCommand(doctorCommand(doNothing), ['--json', '--only', 'store', ...flags]);
    // Written by the command under test; what is wrong with it shows in what is expected of it.
    return (JSON.parse(out) as DoctorReport).checks;
  }

  it('and finds nothing where it is well', async () => {
    expect(await storeLook(`redis.url=${open.url}`)).toMatchObject([{ id: 'store', state: 'ok' }]);
  });

  it('and says why it cannot be used', async () => {
    const [check] = await storeLook(`redis.url=${locked.url}`, 'redis.password=wrong');
    expect(check?.findings).toMatchObject([{ code: 'store_unreachable', what: expect.stringContaining('WRONGPASS') as string }]);
  });

  it('and names the right that its user lacks, as a server does at its start', async () => {
    const redis = await RedisServer.start({ acl: ['user parley on >secret ~* &* +@all -eval'] });
    onTestFinished(() => redis.stop());
    const store = [`redis.url=${redis.url}`, 'redis.user=parley', 'redis.password=secret'];
    const [check] = await storeLook(...store);
    const what = 'the user of the Redis server lacks a right: +eval';
    expect(check?.findings).toMatchObject([{ code: 'store_right_missing', severity: 'fault', what }]);
    const around = await adminSurroundings({ isLoggedIn: false });
    const server = serve(flagsFor(around, store));
    expect(await server.ended()).toEqual({ code: 1, signal: null });
    expect(server.stderr).toContain(what);
  });

  it('and warns of one that a restart would empty, as a server does at its start', async () => {
    const redis = await RedisServer.start({ acl: ['user default off', 'user parley on >secret ~* &* +@all'], isKept: true });
    onTestFinished(() => redis.stop());
    const store = [`redis.url=${redis.url}`, 'redis.user=parley', 'redis.password=secret'];
    const [check] = await storeLook(...store);
    expect(check?.findings).toMatchObject([{ code: 'store_forgets', severity: 'warning' }]);
    const around = await adminSurroundings({ isLoggedIn: false });
    const server = serve(flagsFor(around, store));
    await server.said('it warns', () => server.stderr.includes('"event":"store_forgets"'));
  });
});

describe('with admin.fail_startup off, a server whose store is away', () => {
  it('waits for it, and takes calls when it is there', async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const around = await adminSurroundings({ isLoggedIn: false });
    const prefix = `test-${randomUUID()}`;
    await redis.kill();
    const server = serve([...flagsFor(around, [`redis.url=${redis.url}`], prefix), '--admin.fail_startup=false']);
    await server.logged('the store of the administration cannot be read; trying again');
    expect(server.exit).toBeUndefined();
    await redis.again();
    await logInShared(redis, prefix, around, systemClock);
    expect(await server.ready()).toMatchObject({ event: 'ready' });
    server.signal('SIGTERM');
    expect(await server.ended()).toEqual({ code: 0, signal: null });
  });

  it('gives the start up with 0 on SIGTERM', async () => {
    const around = await adminSurroundings({ isLoggedIn: false });
    const url = `redis.url=redis://127.0.0.1:${String(await freePort())}`;
    const server = serve([...flagsFor(around, [url]), '--admin.fail_startup=false']);
    await server.logged('the store of the administration cannot be read; trying again');
    server.signal('SIGTERM');
    expect(await server.ended()).toEqual({ code: 0, signal: null });
    expect(server.stderr).toContain('stopping: the start is given up');
  });
});

describe('a process that was asked to serve', () => {
  it('ends with 1, loudly, when a bot ends it with 0', async () => {
    const around = await adminSurroundings();
    const folder = await mkdtemp(path.join(tmpdir(), 'parley-bots-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(path.join(folder, 'leaver.mjs'), 'process.exit(0);\n');
    const flags = flagsFor(around, [`redis.url=${open.url}`]).filter((flag) => !flag.startsWith('--bots.'));
    const server = serve([...flags, `--bots.folder=${folder}`]);
    expect(await server.ended()).toEqual({ code: 1, signal: null });
    expect(server.stderr).toContain('the process ends although nobody has asked the server to stop');
  });

  it('waits for somebody to log in where nobody has, is not ready, and stops like any other', async () => {
    const around = await adminSurroundings({ isLoggedIn: false });
    const server = serve(flagsFor(around, [`redis.url=${open.url}`], 'nobody-has'));
    const { opsPort } = await server.ready();
    const answer = await fetch(`http://127.0.0.1:${String(opsPort)}/health/ready`);
    expect([answer.status, await answer.json()]).toEqual([503, { ready: false, reasons: ['login_needed'] }]);
    server.signal('SIGTERM');
    expect(await server.ended()).toEqual({ code: 0, signal: null });
    expect(server.stderr).toContain('"event":"login_awaited"');
    // Others need not wait for the end of its lease.
    expect(await open.ask('EXISTS', 'nobody-has:admin:lease')).toBe(':0');
  });

  it('ends with 1 when the port of its platform is taken', async () => {
    const port = new URL(open.url).port;
    const { code, err } = await runCommand(platformCommand(), ['--port', port]);
    expect([code, err]).toEqual([1, expect.stringMatching(/^error listen_failed/)]);
  });
});
