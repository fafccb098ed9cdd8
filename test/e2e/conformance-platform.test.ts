// `parley conformance --platform`: the signer is a running fake platform, asked over its control surface as a user's command
// asks it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createApp, type App } from '../../src/app/app.ts';
import { loadSettings } from '../../src/app/config/load-settings.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { conformanceCommand } from '../../src/fake-platform/cli/conformance.ts';
import { keepControlKey, newControlKey } from '../../src/fake-platform/cli/platform/control-key.ts';
import { startPlatform, type FakePlatform } from '../../src/fake-platform/cli/platform/start-platform.ts';
import { loadProfile } from '../../src/fake-platform/platform/profile.ts';
import type { Transport } from '../../src/fake-platform/lines/target.ts';
import { startReferenceServer } from '../fixtures/broken-servers/reference-server.ts';
import { tokenRules } from '../support/conformance.ts';
import { serverFlags, WITH_TEST_BOTS } from '../support/server-flags.ts';
import { WITH_SOCKETS } from '../support/socket-peer.ts';

const ORG = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';

const SOURCE = { audience: 'a', subject: 's', nonce: 'CANARY-nonce-of-it', url: 'http://127.0.0.1:8086' };
const SOCKET_SOURCE = { audience: 'wa', subject: 'ws', nonce: 'CANARY-nonce-of-socket', url: 'ws://127.0.0.1:8088' };
const SOURCES = { grpc: SOURCE, websocket: SOCKET_SOURCE } as const;
const { schemas } = loadProfile('fake');
const WAV = path.join(import.meta.dirname, '../fixtures/speech/yes.wav');

let folder = '';
let platform: FakePlatform;
let port = 0;
let forgetKey: () => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'parley-platform-'));
  vi.stubEnv('TMPDIR', folder);
  const controlKey = newControlKey();
  platform = await startPlatform({ port: 0, redirectUri: 'http://127.0.0.1:8765/callback', controlKey });
  port = Number(new URL(platform.api.origin).port);
  forgetKey = await keepControlKey(port, controlKey);
  await register();
});
afterEach(async () => {
  await forgetKey();
  await platform.close();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Registers the data sources of the organization, one for each transport, as a server does. */
async function register(): Promise<void> {
  const { api } = platform;
  api.authorize(ORG);
  const { clientId, clientSecret } = api.serviceApp;
  const post = async (at: string, token: string, body: object): Promise<{ readonly access_token?: string }> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(api.baseUrl + at, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return (await response.json()) as { readonly access_token?: string };
  };
  const application = `/applications/${api.ids.encode('APPLICATION', clientId)}/token`;
  const { access_token: token = '' } = await post(application, api.logIn().access_token, { clientId, clientSecret, targetOrgId: ORG });
  await post('/dataSources', token, { ...SOURCE, tokenLifetimeMinutes: 60, schemaId: schemas.grpc });
  await post('/dataSources', token, { ...SOCKET_SOURCE, tokenLifetimeMinutes: 60, schemaId: schemas.websocket });
}

/** Runs the command with the platform; its report as it is written for programs. */
async function examined(target: string, ...words: readonly string[]): Promise<{ readonly code: number | undefined; readonly out: string }> {
  const out: string[] = [];
  let code: number | undefined;
  const command = conformanceCommand({
    ...{ clock: systemClock, isColoured: false, print: (line) => out.push(line), complain: () => undefined },
    openVoice: () => Promise.reject(new Error('no voice is wanted')),
    setExitCode: (value) => (code = value),
    onInterrupt: () => () => undefined,
  });
  const all = [target, '--org', ORG, '--wav', WAV, '--platform', `http://127.0.0.1:${String(port)}`, '--json', ...words];
  await command.parseAsync(all, { from: 'user' });
  return { code, out: out.join('\n') };
}

/** Starts our server with the data source of a transport; it is closed behind the test. */
async function startServer(transport: Transport): Promise<App> {
  const source = { id: 'ds', organization_id: ORG, transport, schema_id: schemas[transport], ...SOURCES[transport] };
  const argv = [...serverFlags(platform.issuer, undefined, [source]), ...WITH_TEST_BOTS, '--shutdown.grace_ms=0'];
  const { settings } = loadSettings({
    argv: transport === 'grpc' ? argv : [...argv, ...WITH_SOCKETS],
    env: {},
    cwd: packageRoot(),
  });
  const app = await createApp({ settings, log: createLogger({ level: 'silent' }) });
  onTestFinished(() => app.close());
  return app;
}

it('has our server shown tokens that only a signer can make', async () => {
  const { ready } = await startServer('grpc');
  const checks = ['good-token-accepted', 'expired-refused', 'audience-demanded', 'organization-demanded'];
  const { code, out } = await examined(`grpc://127.0.0.1:${String(ready.port)}`, '--bearer', ...checks.flatMap((id) => ['--check', id]));
  expect(JSON.parse(out)).toMatchObject({ ok: true, passed: checks.length, failed: 0, notApplicable: 0, undecided: 0 });
  expect(code).toBe(0);
  for (const secret of [SOURCE.nonce, 'eyJ']) expect(out).not.toContain(secret);
});

it('shows a server of sockets the token of their own data source, and others that are made of it', async () => {
  const { ready } = await startServer('websocket');
  const checks = ['good-token-accepted', 'expired-refused', 'audience-demanded'];
  const target = `ws://127.0.0.1:${String(ready.websocket?.port)}`;
  const { code, out } = await examined(target, ...checks.flatMap((id) => ['--check', id]));
  expect(JSON.parse(out)).toMatchObject({ ok: true, passed: checks.length, failed: 0, notApplicable: 0, undecided: 0 });
  expect(code).toBe(0);
  for (const secret of [SOCKET_SOURCE.nonce, 'eyJ']) expect(out).not.toContain(secret);
});

it('makes the platform use a new key, and counts its requests', async () => {
  const { issuer } = platform;
  const rules = { ...tokenRules(issuer), ...SOURCE, organizationId: ORG };
  const server = await startReferenceServer({ tokens: rules, breach: 'refreshes_unbounded' });
  onTestFinished(() => {
    server.close();
  });
  const { code, out } = await examined(server.target, '--check', 'new-key-learned', '--check', 'key-requests-bounded');
  expect(JSON.parse(out)).toMatchObject({ passed: 1, failed: 1, brokenRules: ['J-25'] });
  expect(code).toBe(1);
});
