// `parley config --check-live` where all is well, and with each fault by itself: what it finds, what it ends with, and that it leaves
// nothing behind. Stores, services and files are real.
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { CheckId } from '../../src/admin/doctor/check.ts';
import { systemClock } from '../../src/base/clock.ts';
import { configCommand } from '../../src/cli/config.ts';
import type { DoctorReport } from '../../src/cli/doctor-text.ts';
import { runCommand } from '../support/admin-command.ts';
import { adminSurroundings } from '../support/admin-surroundings.ts';
import { certificateAuthority, listening, type Authority, type CertificateOptions } from '../support/certificate-authority.ts';
import { requireDebian } from '../support/debian.ts';
import { freePort } from '../support/free-port.ts';
import { ParleyProcess } from '../support/parley-process.ts';
import { REDIS_NEEDS, RedisServer } from '../support/redis-server.ts';
import { logInShared } from '../support/shared-admin.ts';
import { json, speechService, status, type Answering } from '../support/speech-service.ts';

requireDebian(REDIS_NEEDS);

let redis: RedisServer;
let authority: Authority;
beforeAll(async () => {
  redis = await RedisServer.start({ isKept: true });
  authority = await certificateAuthority(systemClock.nowMs());
});
afterAll(() => redis.stop());

const MODELS = json({ data: [] });
/** A server that needs nobody. */
const ALONE = ['--check-live', '--json', '--tls.mode=off', '--auth.enabled=false', '--grpc.host=127.0.0.1'];

/** What a server needs, all of it well. */
async function surroundings() {
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-live-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const around = await adminSurroundings({ isLoggedIn: false, url: `https://localhost:${String(await freePort())}` });
  const prefix = `test-${randomUUID()}`;
  await logInShared(redis, prefix, around, systemClock);
  const speech = await speechService(MODELS);
  const file = (name: string): string => path.join(folder, name);
  const certify = async (options?: CertificateOptions): Promise<void> => {
    const { cert, key } = await authority.issue(options);
    await Promise.all([writeFile(file('cert.pem'), cert), writeFile(file('key.pem'), key)]);
  };
  await certify();
  await writeFile(file('ca.pem'), authority.pem);
  const settings: Readonly<Record<string, string>> = {
    ...{ 'platform.profile': 'fake', 'grpc.host': '127.0.0.1', 'store.kind': 'redis', 'store.redis.url': redis.url },
    ...{ 'store.redis.key_prefix': prefix, 'store.keys': JSON.stringify([around.key]) },
    ...{ 'tls.certificate_file': file('cert.pem'), 'tls.key_file': file('key.pem') },
    ...{
      'synthesizer.engine': 'http',
      'synthesizer.http.url': speech.url,
      'synthesizer.http.model': 'm',
      'synthesizer.http.key': 'CANARY-k',
    },
    ...{ 'recognizer.engine': 'http', 'recognizer.http.url': speech.url, 'recognizer.http.model': 'm' },
    ...{ 'recognizer.stream.url': speech.url.replace('http', 'ws'), 'recognizer.stream.model': 'm', 'recognizer.stream.key': 'CANARY-s' },
    ...{
      'recordings.enabled': 'true',
      'recordings.folder': file('recordings'),
      'recordings.keys': JSON.stringify([randomBytes(32).toString('hex')]),
    },
    'synthesizer.cache_folder': file('spoken'),
  };
  const argv = (changed: Readonly<Record<string, string>> = {}): readonly string[] => [
    ...['--check-live', '--json', `--ca=${file('ca.pem')}`, ...around.flags],
    ...Object.entries({ ...settings, ...changed }).map(([name, value]) => `--${name}=${value}`),
  ];
  return {
    ...around,
    folder,
    prefix,
    speech,
    certify,
    file,
    argv,
    examine: (changed?: Readonly<Record<string, string>>) => examined(argv(changed)),
  };
}

type Surroundings = Awaited<ReturnType<typeof surroundings>>;

async function examined(argv: readonly string[]) {
  const { code, out, err } = await runCommand(
    configCommand(() => undefined),
    argv,
  );
  expect(out + err).not.toContain('CANARY');
  const report = JSON.parse(out) as DoctorReport;
  const found = report.checks.flatMap(({ id, findings }) => findings.map((each) => `${id}/${each.code}`));
  return { code, err, report, found };
}

/** One thing that is wrong, and all that must be found then. */
interface Fault {
  readonly what: string;
  readonly breaks: (around: Surroundings) => Promise<Readonly<Record<string, string>>>;
  readonly finding: `${CheckId}/${string}`;
  readonly isWarning?: true;
}

/** Sets something of the Redis server for the time of a test. */
function withRedis(...settings: readonly (readonly [name: string, value: string, usual: string])[]): Fault['breaks'] {
  return async () => {
    for (const [name, value, usual] of settings) {
      expect(await redis.ask('CONFIG', 'SET', name, value)).toBe('+OK');
      onTestFinished(async () => void (await redis.ask('CONFIG', 'SET', name, usual)));
    }
    return {};
  };
}

const closed = async (): Promise<string> => `127.0.0.1:${String(await freePort())}`;
const answering =
  (...ways: readonly Answering[]): Fault['breaks'] =>
  async () => ({ 'synthesizer.http.url': (await speechService(...ways)).url });

const FAULTS: readonly Fault[] = [
  {
    what: 'the store is away',
    breaks: async () => ({ 'store.redis.url': `redis://${await closed()}` }),
    finding: 'store/store_unreachable',
  },
  {
    what: 'the user of the store lacks a right',
    breaks: async ({ prefix }) => {
      await redis.ask('ACL', 'SETUSER', 'weak', 'reset', 'on', '>secret', `~${prefix}:*`, '+@all', '-hdel');
      return { 'store.redis.user': 'weak', 'store.redis.password': 'secret' };
    },
    finding: 'store/store_right_missing',
  },
  {
    what: 'the store has no append-only file',
    breaks: withRedis(['appendonly', 'no', 'yes']),
    finding: 'store/store_unsaved',
    isWarning: true,
  },
  {
    what: 'the store drops keys when it is full',
    breaks: withRedis(['maxmemory', '100mb', '0'], ['maxmemory-policy', 'allkeys-lru', 'noeviction']),
    finding: 'store/store_evicts',
    isWarning: true,
  },
  {
    what: 'nobody has logged in',
    breaks: async () => Promise.resolve({ 'store.redis.key_prefix': randomUUID() }),
    finding: 'login/login_missing',
  },
  {
    what: 'the certificate has ended',
    breaks: async ({ certify }) => certify({ fromDays: -9, toDays: -1 }).then(() => ({})),
    finding: 'own_certificate/certificate_over',
  },
  {
    what: 'the certificate is for another host',
    breaks: async ({ certify }) => certify({ name: 'elsewhere' }).then(() => ({})),
    finding: 'own_certificate/certificate_name',
    isWarning: true,
  },
  {
    what: 'nobody has signed the certificate',
    breaks: async ({ certify }) => certify({ isSelfSigned: true }).then(() => ({})),
    finding: 'own_certificate/certificate_untrusted',
    isWarning: true,
  },
  {
    what: 'the key is of another certificate',
    breaks: async ({ file }) => {
      await writeFile(file('key.pem'), (await authority.issue()).key);
      return {};
    },
    finding: 'own_certificate/check_failed',
  },
  {
    what: 'the certificate at the registered address has ended',
    breaks: async () => {
      const port = await listening('both', await authority.issue({ fromDays: -9, toDays: -1 }));
      return { 'admin.data_sources.url': `https://localhost:${String(port)}` };
    },
    finding: 'address/certificate_over',
  },
  {
    what: 'the registered host has no address',
    breaks: async ({ certify }) => {
      await certify({ name: 'nobody.invalid' });
      return { 'admin.data_sources.url': 'https://nobody.invalid' };
    },
    finding: 'address/host_unknown',
  },
  {
    what: 'no issuer gives its keys',
    breaks: async ({ issuer }) => issuer.close().then(() => ({})),
    finding: 'key_sets/key_set_unreachable',
  },
  {
    what: 'a service is away',
    breaks: async () => ({ 'recognizer.http.url': `http://${await closed()}` }),
    finding: 'service/not_listening',
  },
  { what: 'a service refuses our key', breaks: answering(status(401)), finding: 'service/key_refused' },
  {
    what: 'a service wants a key, and has none',
    breaks: async () => ({ 'recognizer.http.url': (await speechService(status(403))).url }),
    finding: 'service/key_refused',
  },
  { what: 'a service has nothing at its address', breaks: answering(status(404)), finding: 'service/service_fails', isWarning: true },
  { what: 'a service is broken', breaks: answering(status(502)), finding: 'service/service_fails', isWarning: true },
  {
    what: 'the certificate of a service has ended',
    breaks: async () => {
      const port = await listening('both', await authority.issue({ fromDays: -9, toDays: -1 }));
      return { 'synthesizer.http.url': `https://localhost:${String(port)}` };
    },
    finding: 'service/certificate_untrusted',
  },
  {
    what: 'a folder is a file',
    breaks: async ({ file }) => Promise.resolve({ 'recordings.folder': file('ca.pem') }),
    finding: 'folder/folder_unusable',
  },
  {
    what: 'a bot does not load',
    breaks: async ({ file }) => {
      await mkdir(file('bots'));
      await writeFile(file('bots/broken.mjs'), 'throw new Error("no");');
      return { 'bots.folder': file('bots') };
    },
    finding: 'bots/bot_invalid',
  },
  {
    what: 'a setting names a bot that is not there',
    breaks: async () => Promise.resolve({ 'bots.default_bot': 'nobody' }),
    finding: 'bots/bot_invalid',
  },
];

describe('parley config --check-live', () => {
  it('finds nothing where all is well, within ten seconds, and changes nothing', async () => {
    const { examine, file, speech } = await surroundings();
    const before = await redis.ask('DBSIZE');
    const startedMs = systemClock.monotonicMs();
    const { code, err, report, found } = await examine();
    expect({ code, err, found, ok: report.ok }).toEqual({ code: 0, err: '', found: [], ok: true });
    expect(systemClock.monotonicMs() - startedMs).toBeLessThan(10_000);
    const made = report.checks.map(({ id, subject, state }) => `${state} ${id} ${subject.replace(/:\d+$/u, '')}`);
    expect(made).toEqual([
      'ok store the shared store',
      'ok clock the platform',
      'ok descriptors the platform',
      'ok own_certificate tls.certificate_file for localhost',
      'ok key_sets the issuers of tokens',
      'ok login the administration',
      'skipped address localhost',
      'skipped address 127.0.0.1',
      'ok service the administration of the platform',
      'ok service the synthesizer',
      'ok service the recognizer',
      'ok service the streaming recognizer',
      'ok folder recordings.folder',
      'ok folder synthesizer.cache_folder',
      'ok bots the bots',
    ]);
    expect(
      speech.received.map(({ method, path: asked, headers, body }) => [method, asked, headers.authorization, body.length]).sort(),
    ).toEqual([
      ['GET', '/', 'Bearer CANARY-s', 0],
      ['GET', '/models', undefined, 0],
      ['GET', '/models', 'Bearer CANARY-k', 0],
    ]);
    expect([await redis.ask('DBSIZE'), existsSync(file('recordings')), existsSync(file('spoken'))]).toEqual([before, false, false]);
  });

  it.each(FAULTS)('finds, when $what, exactly that', async ({ breaks, finding, isWarning = false }) => {
    const around = await surroundings();
    const { code, err, report, found } = await around.examine(await breaks(around));
    expect({ found, err }).toEqual({ found: [finding], err: '' });
    expect({ code, ok: report.ok }).toEqual(isWarning ? { code: 0, ok: true } : { code: 1, ok: false });
    for (const { findings } of report.checks)
      for (const { what, where, mend } of findings) for (const text of [what, where, mend]) expect(text).not.toBe('');
  });

  it('does without a store, a login and TLS where there are none, and ends with 2 for a wrong configuration', async () => {
    const { code, report, found } = await examined(ALONE);
    expect({ code, found }).toEqual({ code: 0, found: [] });
    expect(report.checks.map(({ id }) => id)).toEqual(['clock', 'descriptors', 'folder', 'bots']);
    const wrong = await runCommand(
      configCommand(() => undefined),
      [...ALONE, '--grpc.port=x'],
    );
    expect(wrong).toMatchObject({ code: 2, out: '', err: expect.stringContaining('grpc.port = x') as unknown });
  });

  it('finds a folder that the user of the server may only read', async () => {
    const { argv, file } = await surroundings();
    await mkdir(file('recordings'), { mode: 0o555 });
    // An administrator may write everywhere, with this capability.
    const bound = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];
    const child = new ParleyProcess(['config', ...argv()], undefined, undefined, bound);
    onTestFinished(() => child.kill());
    expect(await child.ended()).toEqual({ code: 1, signal: null });
    const { checks } = JSON.parse(child.stdout) as DoctorReport;
    const what = `nothing can be written to ${file('recordings')} (EACCES)`;
    const folders = checks.filter(({ id }) => id === 'folder');
    expect(folders.flatMap(({ findings }) => findings)).toMatchObject([{ code: 'folder_unusable', severity: 'fault', what }]);
  }, 120_000);

  it('is a process that says what is wrong with it in lines, and ends by itself', async () => {
    const child = new ParleyProcess(['config', ...ALONE.filter((each) => each !== '--json')], undefined, 1200);
    onTestFinished(() => child.kill());
    expect(await child.ended()).toEqual({ code: 0, signal: null });
    expect(child.stdout).toMatch(
      /^found +descriptors +the platform\n +descriptors_few \(warning\): the settings need \d+ file descriptors, and this process may have 1200\.\n/mu,
    );
    expect(child.stdout).toMatch(/4 checks: 2 ok, 1 found something, 1 skipped; 0 faults, 1 warning\n$/u);
    expect(child.stderr).toBe('');
  }, 120_000);
});
