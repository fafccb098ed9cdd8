import { mkdtempSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadSettings } from '../../../../src/app/config/load-settings.ts';
import { platformCommand } from '../../../../src/fake-platform/cli/platform.ts';
import { keepControlKey, newControlKey } from '../../../../src/fake-platform/cli/platform/control-key.ts';
import { writeServerConfig } from '../../../../src/fake-platform/cli/platform/server-config.ts';
import { startPlatform, type FakePlatform } from '../../../../src/fake-platform/cli/platform/start-platform.ts';
import { deliveryEvent, eventLine, keysEvent, requestEvent } from '../../../../src/fake-platform/cli/platform/timeline-lines.ts';
import { loadProfile } from '../../../../src/fake-platform/platform/profile.ts';
import type { JournalEntry } from '../../../../src/fake-platform/platform/journal.ts';
import { agreeInBrowser } from '../../../../src/fake-platform/platform/browser.ts';
import { runCommand, type AdminEnd } from '../../../support/admin-command.ts';

const ORG = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';
const REDIRECT_URI = 'http://127.0.0.1:8765/callback';

let folder = '';
let platform: FakePlatform;
let port = 0;
let forgetKey: () => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-platform-'));
  vi.stubEnv('TMPDIR', folder);
  const controlKey = newControlKey();
  platform = await startPlatform({ port: 0, redirectUri: REDIRECT_URI, controlKey });
  port = Number(new URL(platform.api.origin).port);
  forgetKey = await keepControlKey(port, controlKey);
});
afterEach(async () => {
  await forgetKey();
  await platform.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const tell = (...argv: readonly string[]): Promise<AdminEnd> => runCommand(platformCommand(), [...argv, '--port', String(port)]);

/** Data sources of the organization, as a server would have registered them. */
async function registered(...transports: readonly (keyof typeof ADDRESSES)[]): Promise<void> {
  const { api } = platform;
  api.authorize(ORG);
  const { clientId, clientSecret } = api.serviceApp;
  const post = async (at: string, token: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(api.baseUrl + at, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return response.json();
  };
  const application = `/applications/${api.ids.encode('APPLICATION', clientId)}/token`;
  const pair = await post(application, api.logIn().access_token, { clientId, clientSecret, targetOrgId: ORG });
  const words = { audience: 'a', subject: 's', nonce: 'CANARY-nonce', tokenLifetimeMinutes: 60 };
  const { schemas } = loadProfile('fake');
  const { access_token: token } = pair as { access_token: string };
  for (const transport of transports) {
    await post('/dataSources', token, { ...words, url: ADDRESSES[transport], schemaId: schemas[transport] });
  }
}

const ADDRESSES = { grpc: 'http://127.0.0.1:8086', websocket: 'ws://127.0.0.1:8088' } as const;

describe('parley platform break', () => {
  it.each([
    [['500', '--times', '2'], { route: 'any', fault: { kind: 'answer', status: 500 }, left: 2 }, '500 for the next 2 requests'],
    [
      ['429', '--retry-after', '3', '--route', 'GET /webhooks'],
      { route: 'GET /webhooks', fault: { kind: 'answer', status: 429, retryAfterSeconds: 3 }, left: 1 },
      '429 for the next request GET /webhooks',
    ],
    [['timeout'], { route: 'any', fault: { kind: 'hang' }, left: 1 }, 'timeout for the next request'],
    [['lost-answer'], { route: 'any', fault: { kind: 'lost_answer' }, left: 1 }, 'lost-answer for the next request'],
  ])('%j is ordered, and forgotten by mend', async (argv, planned, out) => {
    expect(await tell('break', ...argv)).toEqual({ code: 0, out: `${out}\n`, err: '' });
    expect(platform.api.faults.planned).toEqual([planned]);
    expect(await tell('mend')).toMatchObject({ code: 0, out: '1 fault is forgotten, and the clock is right\n' });
    expect(platform.api.faults.planned).toEqual([]);
  });

  it('makes the clock wrong, and mend makes it right', async () => {
    expect(await tell('break', 'clock-skew', '--seconds', '-90')).toMatchObject({ out: "the platform's clock is wrong by -90 s\n" });
    expect(platform.api.switches.skewMs).toBe(-90_000);
    expect((await tell('status')).out).toContain('wrong by -90 s');
    await tell('mend');
    expect(platform.api.switches.skewMs).toBe(0);
  });

  it('ends tokens and disables data sources', async () => {
    await registered('grpc');
    expect(await tell('break', 'data-source', '--org', ORG, '--message', 'too \u001b[31mold')).toMatchObject({
      ...{ code: 0, out: 'one data source is disabled\n' },
    });
    expect(platform.api.dataSources(ORG)).toMatchObject([{ status: 'disabled', errorMessage: 'too \u001b[31mold' }]);
    expect((await tell('status')).out).toContain('disabled (too [31mold)');
    expect(await tell('break', 'refresh-tokens', '--org', ORG)).toMatchObject({ code: 0, out: '2 tokens have ended\n' });
    expect(await tell('break', 'refresh-tokens')).toMatchObject({ code: 0, out: '2 tokens have ended\n' });
  });

  it.each([
    [['gremlins'], 'Give one of 429, 500, timeout, lost-answer'],
    [['clock-skew'], 'needs --seconds'],
    [['data-source'], 'needs --org'],
    [['500', '--route', 'GET /nothing'], 'Allowed choices'],
    [['500', '--times', 'x'], 'Give a whole number'],
  ])('%j is wrong usage', async (argv, said) => {
    expect(await tell('break', ...argv)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(said) as string });
    expect(platform.api.faults.planned).toEqual([]);
  });
});

describe('parley platform authorize, token and status', () => {
  it('says that nobody is notified, and waits for nothing then', async () => {
    const { code, out } = await tell('authorize', ORG);
    expect([code, out]).toEqual([0, expect.stringContaining('no webhook is registered, so nobody is notified')]);
    expect(platform.api.authorizations()).toMatchObject([{ organizationId: ORG }]);
  });

  it('fails when webhooks were notified and no data source appeared', async () => {
    const { access_token: token } = platform.api.logIn();
    const hook = { name: 'n', targetUrl: `${platform.api.origin}/nobody`, resource: 'serviceApp', event: 'authorized' };
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    await fetch(`${platform.api.baseUrl}/webhooks`, { method: 'POST', headers, body: JSON.stringify(hook) });
    const { code, out } = await tell('authorize', ORG, '--wait-s', '1');
    expect([code, out]).toEqual([1, expect.stringContaining('no data source was registered within 1 s')]);
  });

  it('writes the token to a file, and shows it only to who asks for that', async () => {
    await registered('grpc');
    const file = path.join(folder, 'token.jws');
    writeFileSync(file, 'another', { mode: 0o644 });
    const { code, out } = await tell('token', ORG, '--out', file);
    const token = platform.api.dataSources(ORG)[0]?.jwsToken ?? '';
    expect([code, readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([0, `${token}\n`, 0o600]);
    expect(out).not.toContain(token);
    expect(JSON.parse((await tell('token', ORG, '--json', '--out', file)).out)).toEqual({
      ...{ organizationId: ORG, dataSourceId: platform.api.dataSources(ORG)[0]?.id, file },
      tokenExpiryTime: platform.api.dataSources(ORG)[0]?.tokenExpiryTime,
    });
    expect(await tell('token', ORG, '--print')).toMatchObject({ code: 0, out: `${token}\n` });
    expect(await tell('token', ORG, '--out', path.join(folder, 'none', 'x'))).toMatchObject({ code: 2 });
  });

  it('J-2E writes the token for calls over the transport that is named', async () => {
    await registered('grpc', 'websocket');
    const [grpc, socket] = platform.api.dataSources(ORG).map(({ jwsToken }) => jwsToken);
    expect(await tell('token', ORG, '--print')).toMatchObject({ code: 0, out: `${grpc ?? ''}\n` });
    expect(await tell('token', ORG, '--print', '--transport', 'grpc')).toMatchObject({ code: 0, out: `${grpc ?? ''}\n` });
    expect(await tell('token', ORG, '--print', '--transport', 'websocket')).toMatchObject({ code: 0, out: `${socket ?? ''}\n` });
    expect(await tell('token', ORG, '--transport', 'post')).toMatchObject({ code: 2, out: '' });
  });

  it('shows everything without a secret, as text and as JSON, with the port before or behind', async () => {
    await registered('grpc');
    const { out } = await tell('status');
    expect(out).toMatch(new RegExp(`${ORG}  grpc       active  \\S+Z  \\S+  http://127\\.0\\.0\\.1:8086`, 'u'));
    const json = await runCommand(platformCommand(), ['--port', String(port), '--json', 'status']);
    expect(JSON.parse(json.out)).toMatchObject({ organizations: [{ organizationId: ORG }], webhooks: [], skewMs: 0 });
    for (const shown of [out, json.out]) {
      expect(shown).not.toContain('CANARY');
      expect(shown).not.toContain(platform.api.dataSources(ORG)[0]?.jwsToken);
    }
  });

  it.each([
    ['deauthorize', ORG, 'has not authorized the service app'],
    ['authorize', 'me', 'is no id of an organization'],
    ['token', ORG, 'has no data source'],
  ])('%s %s is refused with a reason', async (command, organization, said) => {
    const { code, err } = await tell(command, organization);
    expect([code, err]).toEqual([1, expect.stringContaining(said)]);
  });
});

describe('the control key', () => {
  it('is needed: without it, with another one, or when nobody listens, there is nothing to control', async () => {
    const file = path.join(folder, `parley-${String(process.getuid?.() ?? 'user')}`, `platform-${String(port)}.key`);
    for (const content of [newControlKey(), 'no key at all']) {
      writeFileSync(file, content);
      expect(await tell('status')).toMatchObject({ code: 1, err: expect.stringContaining('no fake platform of yours runs') as string });
    }
    rmSync(file);
    expect(await tell('status')).toMatchObject({ code: 1, err: expect.stringContaining('no fake platform of yours runs') as string });
    writeFileSync(file, newControlKey());
    await platform.close();
    expect(await tell('status')).toMatchObject({ code: 1, err: expect.stringContaining('no fake platform of yours runs') as string });
  });

  it('is not put into a folder that somebody else has prepared', async () => {
    const elsewhere = path.join(folder, 'elsewhere');
    const temp = path.join(folder, 'temp');
    for (const made of [elsewhere, temp]) mkdirSync(made);
    symlinkSync(elsewhere, path.join(temp, `parley-${String(process.getuid?.() ?? 'user')}`));
    vi.stubEnv('TMPDIR', temp);
    await expect(keepControlKey(port, newControlKey())).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect(await tell('status')).toMatchObject({ code: 1, err: expect.stringContaining('is not yours') as string });
  });
});

describe('the configuration for a server', () => {
  const plan = {
    url: 'http://127.0.0.1:8086',
    grpcPort: 8086,
    webhookPort: 8089,
    redirectUri: REDIRECT_URI,
    more: { tls: { mode: 'off' } },
  };

  it('is whole, and written anew at each start without locking the store that is there', async () => {
    const file = path.join(folder, 'my.platform.yaml');
    await writeServerConfig(file, platform, plan);
    const { settings } = loadSettings({ argv: [`--config=${file}`], env: {} });
    const { clientId, clientSecret } = platform.api.integration;
    expect(settings.admin).toMatchObject({
      ...{ enabled: true, baseUrl: platform.api.baseUrl, integration: { clientId, clientSecret, redirectUri: REDIRECT_URI } },
      store: { file: path.join(folder, 'my.platform.store'), keys: [expect.stringMatching(/^[0-9a-f]{64}$/u)] },
    });
    const another = await startPlatform({ port: 0, redirectUri: REDIRECT_URI });
    await writeServerConfig(file, another, plan);
    await another.close();
    const { settings: next } = loadSettings({ argv: [`--config=${file}`], env: {} });
    expect(next.admin.baseUrl).toBe(another.api.baseUrl);
    expect(next.admin.store.keys).toEqual(settings.admin.store.keys);
  });

  it('W-03 lets the server take calls over WebSocket as well, with an address of its own for their data sources', async () => {
    const file = path.join(folder, 'both.yaml');
    await writeServerConfig(file, platform, { ...plan, websocket: { port: 8088, url: 'ws://127.0.0.1:8088' } });
    const { settings } = loadSettings({ argv: [`--config=${file}`], env: {} });
    expect(settings.websocket).toMatchObject({ enabled: true, listen: 'own', host: '127.0.0.1', port: 8088 });
    const { url, websocketUrl, transports } = settings.admin.dataSources;
    expect({ url, websocketUrl, transports }).toEqual({
      url: plan.url,
      websocketUrl: 'ws://127.0.0.1:8088',
      transports: ['grpc', 'websocket'],
    });
    await writeServerConfig(file, platform, plan);
    const { settings: alone } = loadSettings({ argv: [`--config=${file}`], env: {} });
    expect([alone.websocket.enabled, alone.admin.dataSources.transports]).toEqual([false, ['grpc']]);
  });

  it('takes the place of nothing that somebody else has written', async () => {
    const file = path.join(folder, 'mine.yaml');
    writeFileSync(file, 'log: { level: debug }\n');
    await expect(writeServerConfig(file, platform, plan)).rejects.toMatchObject({ code: 'config_invalid' });
    expect(readFileSync(file, 'utf8')).toBe('log: { level: debug }\n');
    await expect(writeServerConfig(path.join(folder, 'none', 'x.yaml'), platform, plan)).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

describe('what is shown', () => {
  const entry: JournalEntry = {
    ...{ method: 'PUT', route: 'PUT /dataSources/:id', path: '/dataSources/1', status: 200, isAnswered: true, trackingId: 'T', atMs: 0 },
    asker: { kind: 'service_app', organizationId: ORG },
  };

  it('is one line for each request and delivery', () => {
    const line = eventLine(false, false);
    const atMs = new Date(2026, 10, 22, 3, 4, 5, 6).getTime();
    expect(line(requestEvent(entry), atMs)).toBe(`03:04:05.006  service app  200      PUT     /dataSources/1  ${ORG}`);
    expect(line(requestEvent({ ...entry, isAnswered: false }), atMs)).toContain('  lost  ');
    expect(line(requestEvent({ ...entry, isAnswered: false, status: 0, asker: undefined }), atMs)).toContain('somebody     none ');
    expect(line(requestEvent({ ...entry, path: '/\u001b[2J\u009b' }), atMs)).not.toMatch(/\p{Cc}/u);
    expect(line(keysEvent({ path: '/idb', status: 404 }), atMs)).toBe('03:04:05.006  somebody     404      GET     /idb');
    const delivery = { webhookId: 'w', event: 'authorized', organizationId: ORG, targetUrl: 'http://127.0.0.1:1/w', body: '{}' } as const;
    expect(line(deliveryEvent({ ...delivery, outcome: { kind: 'failed' } }), atMs)).toBe(
      `03:04:05.006  platform     failed   POST    http://127.0.0.1:1/w  authorized ${ORG}`,
    );
    expect(eventLine(false, true)(requestEvent(entry), atMs)).toContain('\u001b[');
  });

  it('is JSON for programs', () => {
    expect(JSON.parse(eventLine(true, true)(requestEvent(entry), 0))).toEqual({
      ...{ at: '1970-01-01T00:00:00.000Z', event: 'request', who: 'service app', method: 'PUT', path: '/dataSources/1', status: 200 },
      organizationId: ORG,
    });
  });
});

describe('a browser without a person', () => {
  const page = (changes: Readonly<Record<string, string>> = {}): string => {
    const { clientId, scopes } = platform.api.integration;
    const all = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      scope: scopes.join(' '),
      state: 'CANARY',
      ...changes,
    };
    return `${platform.api.authorizeUrl}?${new URLSearchParams(all).toString()}`;
  };

  it('says without the address why it came to no good end', async () => {
    const failure = async (url: string): Promise<string> => {
      const thrown: unknown = await agreeInBrowser(url, AbortSignal.timeout(60_000)).catch((error: unknown) => error);
      return thrown instanceof Error ? thrown.message : 'none';
    };
    expect(await failure(page({ client_id: 'C00' }))).toBe('the authorization page has no button to press (status 400)');
    platform.api.switches.consent = 'deny';
    expect(await failure(page())).toBe('the authorization page has no button to press (status 303)');
    platform.api.switches.consent = 'ask';
    platform.api.faults.add('POST /authorize', { kind: 'answer', status: 500 });
    expect(await failure(page())).toBe('the button leads nowhere (status 500)');
    platform.api.faults.add('GET /authorize', { kind: 'cut' });
    expect(await failure(page())).toMatch(/^the page of the login cannot be reached/u);
  });
});
