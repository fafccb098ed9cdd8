// `parley doctor` against a whole of which one thing is broken at a time: it must find this one thing and no other.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CHECK_IDS, type CheckId } from '../../src/admin/doctor/check.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { listening, type CertificateOptions, type Speaking } from '../support/certificate-authority.ts';
import { dependants, ExaminedServer } from '../support/examined-server.ts';
import { freePort } from '../support/free-port.ts';
import { ParleyProcess } from '../support/parley-process.ts';
import { RunningServer, WITH_TEST_BOTS } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event, keys } from '../support/wire-audio.ts';

const WITHOUT_AGENTS = randomUUID();
const PROFILE = loadProfile('fake');
const MINUTE_MS = 60_000;
const NEVER = new AbortController().signal;

let whole: ExaminedServer;
beforeAll(async () => {
  const noAgents = JSON.stringify([{ organization_id: WITHOUT_AGENTS, bots: [] }]);
  whole = await ExaminedServer.open([`--bots.organizations=${noAgents}`]);
});
afterAll(() => whole.close());

/** What breaks, which organization it breaks for and with which flags, and the one thing that must be found. */
interface Breakage {
  readonly what: string;
  readonly breaks: () => Promise<{ readonly organization: string; readonly flags?: readonly string[] }>;
  readonly finding: `${CheckId}/${string}`;
  /** Default a fault. */
  readonly isWarning?: true;
}

/** Breaks something of the record of an organization of its own. */
function record(change: (organization: string) => Promise<unknown>): Breakage['breaks'] {
  return async () => {
    const organization = await whole.admit();
    await change(organization);
    return { organization };
  };
}

/** Breaks something that is everybody's, until the end of the test. */
function everybody(breakIt: () => unknown, mendIt: () => unknown): Breakage['breaks'] {
  return async () => {
    const organization = await whole.admit();
    await breakIt();
    onTestFinished(async () => {
      await mendIt();
    });
    return { organization };
  };
}

/** Registers an organization at another address, with a token for it, as if it had always been configured so. */
async function registeredAt(url: string): ReturnType<Breakage['breaks']> {
  const organization = await whole.admit();
  await whole.sign(organization, { url });
  return { organization, flags: [`--admin.data_sources.url=${url}`] };
}

/** Registers an organization at a server that speaks like this, with this certificate. */
function registeredAtServer(speaking: Speaking, certificate?: CertificateOptions): Breakage['breaks'] {
  return async () => registeredAt(`https://localhost:${String(await listening(speaking, await whole.authority.issue(certificate)))}`);
}

/** Registers an organization at a server that is told to stop while it has a caller. */
async function registeredAtStopping(): ReturnType<Breakage['breaks']> {
  const flags = [...WITH_TEST_BOTS, ...(await whole.tlsFlags()), '--auth.enabled=false', '--shutdown.grace_ms=60000'];
  const server = await RunningServer.start({ dataSources: () => [], flags });
  const call = (await server.client({ authority: whole.authority.pem })).call();
  await call.turn(event('SESSION_START'));
  const speaking = call.open(keys('7')).halfClose();
  await speaking.heard('CHUNK audio');
  void server.app.close();
  onTestFinished(async () => {
    speaking.cancel();
    await call.turn(event('SESSION_END'));
    await server.close();
  });
  return registeredAt(`https://${server.target}`);
}

function api() {
  return whole.surroundings.api;
}

/** Has a token signed that lives for an hour, and began so long ago, ms. */
async function signedAgo(agoMs: number, organization: string): Promise<void> {
  api().switches.skewMs = -agoMs;
  await whole.sign(organization, {});
  api().switches.skewMs = 0;
}

function dataSourceOf(organization: string): string {
  return api().dataSources(organization)[0]?.id ?? '';
}

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

const BREAKAGES: readonly Breakage[] = [
  {
    what: 'the organization has not authorized the app',
    breaks: () => Promise.resolve({ organization: randomUUID() }),
    finding: 'organization_token/token_not_stored',
  },
  {
    what: 'the app lacks the scope to read data sources (5.1)',
    breaks: everybody(
      () => {
        api().faults.add('GET /dataSources', { kind: 'answer', status: 403 });
      },
      () => {
        api().faults.clear();
      },
    ),
    finding: 'platform_access/scope_missing',
  },
  {
    what: 'the data source has been deleted',
    breaks: record((organization) => whole.access.dataSourcesOf(organization).delete(dataSourceOf(organization), NEVER)),
    finding: 'data_source/data_source_missing',
  },
  {
    what: 'the data source has the schema of the other transport (J-2E)',
    breaks: record((organization) => whole.change(organization, { schemaId: PROFILE.schemas.websocket })),
    finding: 'schema/schema_of_other_transport',
  },
  {
    what: 'the registered address has a slash more than the configured one (J-19)',
    breaks: record((organization) => whole.change(organization, { url: `${whole.url}/` })),
    finding: 'url/url_spelling',
  },
  {
    what: 'the registered address leads elsewhere',
    breaks: record((organization) => whole.change(organization, { url: 'https://localhost/elsewhere' })),
    finding: 'url/url_wrong',
  },
  {
    what: 'the platform has disabled the data source (R-03)',
    breaks: record((organization) => Promise.resolve(api().disableDataSource(dataSourceOf(organization), 'too many failures'))),
    finding: 'status/not_active',
  },
  {
    what: 'the token has ended (J-03)',
    breaks: record((organization) => signedAgo(61 * MINUTE_MS, organization)),
    finding: 'token_expiry/token_over',
  },
  {
    what: 'the token ends soon and was not renewed (L-07)',
    breaks: record((organization) => signedAgo(55 * MINUTE_MS, organization)),
    finding: 'token_expiry/token_near_end',
    isWarning: true,
  },
  {
    what: 'somebody else has changed the nonce (J-18)',
    breaks: record((organization) => whole.change(organization, { nonce: randomUUID() })),
    finding: 'nonce/nonce_unknown',
  },
  {
    what: 'the issuer of the token is not in the list (J-12)',
    breaks: async () => ({ organization: await whole.admit(), flags: ['--platform.extra_issuers=[]'] }),
    finding: 'issuer/issuer_unknown',
  },
  {
    what: 'the audience in the token is not the registered one (J-17)',
    breaks: async () => {
      const organization = await whole.admit();
      await whole.sign(organization, { audience: 'another' });
      return { organization };
    },
    finding: 'test_token/token_refused',
  },
  {
    what: 'the clocks do not agree',
    breaks: everybody(
      () => (api().switches.skewMs = 5 * MINUTE_MS),
      () => (api().switches.skewMs = 0),
    ),
    finding: 'clock/clock_skew',
  },
  {
    what: 'nobody listens at the registered address',
    breaks: async () => registeredAt(`https://localhost:${String(await freePort())}`),
    finding: 'listens/not_listening',
  },
  { what: 'what listens there speaks no TLS', breaks: registeredAtServer('plain'), finding: 'tls_handshake/tls_failed' },
  {
    what: 'the certificate has ended (P-12)',
    breaks: registeredAtServer('h2', { fromDays: -30, toDays: -1 }),
    finding: 'certificate/certificate_over',
  },
  {
    what: 'the certificate is for another name',
    breaks: registeredAtServer('h2', { name: 'other.example.test' }),
    finding: 'certificate/certificate_name',
  },
  {
    what: 'the certificate is signed by itself (O-13)',
    breaks: registeredAtServer('h2', { isSelfSigned: true }),
    finding: 'certificate/certificate_untrusted',
  },
  { what: 'HTTP/2 is not offered (1.9)', breaks: registeredAtServer('http/1.1'), finding: 'alpn/alpn_missing' },
  { what: 'the server is stopping (1.8)', breaks: registeredAtStopping, finding: 'health/health_bad' },
  {
    what: 'a webhook was switched off (H-24)',
    breaks: everybody(
      () => api().deactivateWebhook(api().webhooks()[0]?.id ?? ''),
      async () => {
        const webhooks = whole.access.access.serviceApp?.api;
        const [first] = (await webhooks?.list(NEVER)) ?? [];
        if (first?.name === undefined || first.targetUrl === undefined) throw new Error('there is no webhook to mend');
        await webhooks?.update(first.id, { name: first.name, targetUrl: first.targetUrl, status: 'active' }, NEVER);
      },
    ),
    finding: 'webhooks/webhook_inactive',
    isWarning: true,
  },
  {
    what: 'the server offers the organization no agent (G-05)',
    breaks: async () => ({ organization: await whole.admit(WITHOUT_AGENTS) }),
    finding: 'agents/no_agents',
  },
];

describe('parley doctor', () => {
  it('finds nothing where all is well, leaves nothing out, and ends with 0', async () => {
    await whole.admit();
    const { end, report, found, skipped } = await whole.examine([]);
    expect({ code: end.code, err: end.err, found, skipped }).toEqual({ code: 0, err: '', found: [], skipped: [] });
    expect(report).toMatchObject({ ok: true, faults: 0, warnings: 0 });
    expect([...new Set(report.checks.map(({ id }) => id))]).toEqual(CHECK_IDS);
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
    const { out, code } = await whole.run(['--org', organization]);
    expect(code).toBe(1);
    const lines = out.split('\n');
    const at = lines.findIndex((line) => line.startsWith('found '));
    expect(lines[at]).toMatch(/^found {4}url {17}the grpc data source of organization [-0-9a-f]+$/u);
    expect(lines.slice(at + 1, at + 4)).toEqual([
      expect.stringMatching(/^ {9}url_spelling \(fault\): its address is the same and spelt differently: a slash at the end \(.+\)\.$/u),
      expect.stringMatching(/^ {9}seen at: the grpc data source of organization [-0-9a-f]+, record [-0-9a-f]+\.$/u),
      '         to mend: write both alike to the character, because tokens are compared so.',
    ]);
    expect(out.trimEnd().split('\n').at(-1)).toBe('19 checks: 16 ok, 1 found something, 2 skipped; 1 fault, 0 warnings');
    expect(anonymous(blocks('text')[0] ?? '')).toBe(anonymous(out));
  });

  it('takes the options of every command in docs/doctor.md', async () => {
    const commands = blocks('sh').flatMap((block) => block.trim().split('\n'));
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
    expect(report.checks.map(({ id }) => id)).toEqual(['organization_token', 'platform_access', 'data_source', 'url']);
  });

  it('looks at address, server and bots where the administration is off', async () => {
    const source = { id: 'static', organization_id: 'anybody', url: whole.url, audience: 'a', subject: 's', nonce: 'n', transport: 'grpc' };
    const flags = ['--admin.enabled=false', `--auth.data_sources=${JSON.stringify([source])}`];
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

describe('parley doctor, while somebody watches', () => {
  it('shows on standard error how far it is, and clears the line before the result', async () => {
    const { err, code } = await whole.run(['--org', await whole.admit()], [], { isWatched: true });
    expect(code).toBe(0);
    expect(err).toMatch(/^\r\u001b\[K1 of 19 checks made, [\s\S]*\r\u001b\[K19 of 19 checks made, the last one: \w+\r\u001b\[K$/u);
  });

  it('is a process that ends by itself, with the result and nothing else', async () => {
    const child = new ParleyProcess(['doctor', ...whole.argv(['--org', await whole.admit()])]);
    onTestFinished(() => child.kill());
    expect(await child.ended()).toEqual({ code: 0, signal: null });
    whole.printed.push(child.stdout, child.stderr);
    expect(child.stdout).toMatch(/19 checks: 19 ok, 0 found something, 0 skipped; 0 faults, 0 warnings\n$/u);
    expect(child.stderr).toBe('');
  }, 120_000);

  it('ends with 130 on Ctrl-C, and tells what it knows by then', async () => {
    const organization = await whole.admit();
    const { faults, journal } = api();
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
    api().revokeTokens(api().serviceApp.clientId, 'access', organization);
    const { found } = await whole.examine(['--org', organization, '--only', 'data_source', '--only', 'agents']);
    expect(found.filter((each) => !each.startsWith('key_set/'))).toEqual(['listens/not_listening']);
  });

  it('finds that the organization has taken its authorization back (6.5)', async () => {
    api().deauthorize(organization);
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
