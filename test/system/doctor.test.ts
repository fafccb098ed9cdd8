// `parley doctor` against a whole of which one thing is broken at a time: it must find this one thing and no other.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CHECK_IDS } from '../../src/admin/doctor/check.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { requireDebian } from '../support/debian.ts';
import { breakagesOf } from '../support/doctor-breakages.ts';
import { dependants, ExaminedServer } from '../support/examined-server.ts';
import { ParleyProcess } from '../support/parley-process.ts';
import { until } from '../support/until.ts';

const WITHOUT_AGENTS = randomUUID();

let whole: ExaminedServer;
beforeAll(async () => {
  const noAgents = JSON.stringify([{ organization_id: WITHOUT_AGENTS, bots: [] }]);
  whole = await ExaminedServer.open([`--bots.organizations=${noAgents}`]);
});
afterAll(() => whole.close());

const PAGE = readFileSync(path.join(packageRoot(), 'docs/doctor.md'), 'utf8');

/** The code blocks of docs/doctor.md in a language. */
function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gmu'))].map((match) => match[1] ?? '');
}

/** A text without what differs from run to run: ids, ports, and the spaces that depend on their lengths. */
function anonymous(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu, 'ID')
    .replaceAll(/localhost:\d+/gu, 'localhost:PORT')
    .replaceAll(/ {2,}/gu, '  ');
}

const BREAKAGES = breakagesOf(() => whole, WITHOUT_AGENTS);

/** Only the first data source of each organization is looked at. */
const ONE_TRANSPORT = ['--admin.data_sources.transports=["grpc"]', '--websocket.enabled=false'];

describe('parley doctor', () => {
  it('finds nothing where all is well, leaves nothing out, and ends with 0', async () => {
    await whole.admit();
    const { end, report, found, skipped } = await whole.examine([]);
    expect({ code: end.code, err: end.err, found, skipped }).toEqual({ code: 0, err: '', found: [], skipped: [] });
    expect(report).toMatchObject({ ok: true, faults: 0, warnings: 0 });
    // Its calls are in its own memory.
    expect([...new Set(report.checks.map(({ id }) => id))]).toEqual(CHECK_IDS.filter((id) => id !== 'store' && id !== 'scopes'));
  });

  it.each(BREAKAGES)('finds, when $what, exactly that', async ({ breaks, finding, isWarning = false }) => {
    const { organization, flags } = await breaks();
    const { end, report, found, skipped } = await whole.examine(['--org', organization], flags);
    expect({ found, err: end.err }).toEqual({ found: [finding], err: '' });
    expect({ code: end.code, ok: report.ok }).toEqual(isWarning ? { code: 0, ok: true } : { code: 1, ok: false });
    const id = CHECK_IDS.find((known) => finding.startsWith(`${known}/`));
    const consequences = isWarning || id === undefined ? new Set() : dependants(id);
    expect(skipped.filter((each) => !consequences.has(each))).toEqual([]);
  });

  it('says below a check what is wrong, where, and how to mend it, and counts at the end', async () => {
    const organization = await whole.admit();
    await whole.change(organization, { url: `${whole.url}/` });
    const { out, code } = await whole.run(['--org', organization], ONE_TRANSPORT);
    expect(code).toBe(1);
    const lines = out.split('\n');
    const at = lines.findIndex((line) => line.startsWith('found '));
    expect(lines[at]).toMatch(/^found {4}url {17}the grpc data source of organization [-0-9a-f]+$/u);
    expect(lines.slice(at + 1, at + 4)).toEqual([
      expect.stringMatching(/^ {9}url_spelling \(fault\): its address is the same and spelt differently: a slash at the end \(.+\)\.$/u),
      expect.stringMatching(/^ {9}seen at: the grpc data source of organization [-0-9a-f]+, record [-0-9a-f]+\.$/u),
      '         to mend: write both alike to the character, because tokens are compared so.',
    ]);
    expect(out).toContain('\n19 checks: 16 ok, 1 found something, 2 skipped; 1 fault, 0 warnings\n');
    const { out: some } = await whole.run(['--org', organization, '--only', 'url', '--only', 'listens'], ONE_TRANSPORT);
    expect(anonymous(blocks('text')[0] ?? '')).toBe(anonymous(some));
  });

  it('takes the options of every command in docs/doctor.md', async () => {
    const lines = blocks('sh').flatMap((block) => block.trim().split('\n'));
    const commands = lines.filter((line) => line.includes(' doctor '));
    expect(commands).toHaveLength(3);
    const organization = await whole.admit();
    for (const command of commands) {
      const given = /^npm run parley -- doctor --config my\.yaml(?<options>.*)$/u.exec(command)?.groups?.['options'];
      // The files are those of the test: its flags say what the configuration would, and its authority is trusted anyway.
      const options = given
        ?.replace('--ca authority.pem', '')
        .replace('$ORG', organization)
        .split(' ')
        .filter((word) => word !== '');
      expect(options).toBeDefined();
      expect(await whole.run(['--only', 'clock', ...(options ?? [])])).toMatchObject({ code: 0, err: '' });
    }
  });

  it('makes with --only the named check and those that it needs', async () => {
    const { report } = await whole.examine(['--only', 'url', '--org', await whole.admit()]);
    const made = new Set(report.checks.map(({ id }) => id));
    expect([...made]).toEqual(['organization_token', 'platform_access', 'data_source', 'schema', 'url']);
  });

  it('looks at address, server and bots where the administration is off', async () => {
    const source = { id: 'static', organization_id: 'anybody', url: whole.url, audience: 'a', subject: 's', nonce: 'n', transport: 'grpc' };
    const flags = ['--admin.enabled=false', '--websocket.enabled=false', `--auth.data_sources=${JSON.stringify([source])}`];
    const { end, found, report } = await whole.examine([], flags);
    expect({ code: end.code, found }).toEqual({ code: 0, found: [] });
    const made = report.checks.flatMap(({ id, state }) => (state === 'ok' ? [id] : []));
    expect(made).toEqual(['listens', 'tls_handshake', 'certificate', 'alpn', 'health', 'agents']);
  });

  it('ends with 2 for a wrong configuration, an unknown check and what is no certificate, and says what is wrong', async () => {
    const wrong = await whole.run([], ['--admin.store.keys=[]']);
    expect(wrong).toMatchObject({ code: 2, out: '', err: expect.stringContaining('admin.store.keys') as unknown });
    const nothing = await whole.run([], ['--admin.enabled=false', '--auth.data_sources=[]', '--auth.enabled=false']);
    expect(nothing).toMatchObject({ code: 2, err: expect.stringContaining('there is nothing to examine') as unknown });
    expect(await whole.run(['--only', 'weather'])).toMatchObject({ code: 2, err: expect.stringContaining('token_expiry') as unknown });
    expect(await whole.run(['--ca', 'package.json'])).toMatchObject({ code: 2, err: expect.stringContaining('no PEM') as unknown });
  });
});

describe('the command that the doctor ends with, run outside', () => {
  requireDebian({ commands: ['curl'], packages: ['curl'] });
  const shell = promisify(execFile);

  it.each([
    ['gRPC, by its health check', ONE_TRANSPORT, /^HTTP\/2 200[\s\S]*grpc-status: 0/u],
    ['WebSocket, by the refusal without a token', ['--admin.data_sources.transports=["websocket"]'], /^HTTP\/1\.1 401/u],
  ])('shows what the platform sees of %s', async (_what, flags, shown) => {
    const { report } = await whole.examine(['--org', await whole.admit(), '--only', 'listens'], flags);
    const env = { ...process.env, CURL_CA_BUNDLE: whole.authorityFile };
    const { stdout } = await shell('sh', ['-c', report.outside?.command ?? 'false'], { env, timeout: 30_000 });
    expect(stdout).toMatch(shown);
  });
});

describe('parley doctor, while somebody watches', () => {
  it('shows on standard error how far it is, and clears the line before the result', async () => {
    const { err, code } = await whole.run(['--org', await whole.admit()], [], { isWatched: true });
    expect(code).toBe(0);
    expect(err).toMatch(/^\r\u001b\[K1 of 34 checks made, [\s\S]*\r\u001b\[K34 of 34 checks made, the last one: \w+\r\u001b\[K$/u);
  });

  it('is a process that ends by itself, with the result and nothing else', async () => {
    const child = new ParleyProcess(['doctor', ...whole.argv(['--org', await whole.admit()])]);
    onTestFinished(() => child.kill());
    expect(await child.ended()).toEqual({ code: 0, signal: null });
    whole.printed.push(child.stdout, child.stderr);
    expect(child.stdout).toMatch(
      /34 checks: 34 ok, 0 found something, 0 skipped; 0 faults, 0 warnings\n\nWhat the platform sees.*\n {2}printf .*\n$/u,
    );
    expect(child.stderr).toBe('');
  }, 120_000);

  it('ends with 130 on Ctrl-C, and prints the findings so far', async () => {
    const organization = await whole.admit();
    const { faults, journal } = whole.surroundings.api;
    const before = journal.count('GET /dataSources');
    faults.add('GET /dataSources', { kind: 'hang' });
    const running = whole.examine(['--org', organization]);
    await until('the platform is asked', () => journal.count('GET /dataSources') > before);
    process.emit('SIGINT');
    const { end, report, skipped } = await running;
    expect({ code: end.code, ok: report.ok, faults: report.faults }).toEqual({ code: 130, ok: false, faults: 0 });
    expect(skipped).toContain('platform_access');
    expect(report.checks.find(({ id }) => id === 'organization_token')?.state).toBe('ok');
  });
});

describe('parley doctor, when things have come to an end', () => {
  let organization: string;
  beforeAll(async () => {
    organization = await whole.admit();
  });

  it('finds that the key of the token is no longer published, and that the key set cannot be fetched (J-13, J-14)', async () => {
    const { issuer } = whole.surroundings;
    await issuer.rotateKey({ forgetOld: true });
    expect((await whole.examine(['--org', organization])).found).toEqual(['key_set/key_missing']);
    await issuer.close();
    const { end, found, skipped } = await whole.examine(['--org', organization]);
    expect({ code: end.code, found, skipped }).toEqual({
      code: 1,
      found: ['key_set/key_set_unreachable'],
      skipped: ['test_token', 'agents'],
    });
  });

  it('finds that the server has stopped, and renews a token that nobody else keeps then', async () => {
    await whole.server.close();
    const { api } = whole.surroundings;
    api.revokeTokens(api.serviceApp.clientId, 'access', organization);
    const { found } = await whole.examine(['--org', organization, '--only', 'data_source', '--only', 'agents']);
    expect(found.filter((each) => !each.startsWith('key_set/'))).toEqual(['listens/not_listening']);
  });

  it('finds that the organization has taken its authorization back (6.5)', async () => {
    whole.surroundings.api.deauthorize(organization);
    const { end, found } = await whole.examine(['--org', organization, '--only', 'platform_access']);
    expect({ code: end.code, found }).toEqual({ code: 1, found: ['platform_access/not_authorized'] });
  });

  it('has never printed a token, a nonce, a secret or a key (P-14, R-13)', () => {
    const printed = whole.printed.join('\n');
    expect(printed).toContain('url_spelling');
    expect(whole.secrets.length).toBeGreaterThan(BREAKAGES.length);
    expect(whole.secrets.filter((secret) => printed.includes(secret))).toEqual([]);
  });
});
