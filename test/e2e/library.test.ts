// What other programs import: the server inside of them, the platform that calls it, and its administration.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bot, go, say } from 'parley-voice';
import { openAdmin, OrgNotRegisteredError } from 'parley-voice/admin';
import { startPlatform, type Scenario, type TestPlatform } from 'parley-voice/platform';
import { createServer, type EndedCall, type Server, type ServerHooks, type ServerSettings } from 'parley-voice/server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agreeInBrowser } from '../../src/fake-platform/platform/browser.ts';
import { freePorts } from '../../src/cli/free-ports.ts';
import { register } from '../../docs/examples/library/administer.ts';
import { serveCalls } from '../../docs/examples/library/embedded.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';
import { until } from '../support/until.ts';

const ORGANIZATION = '5e1f7a52-4a0e-4c1b-9a3e-6f0d2c7b8a11';
const desk = bot<null>({
  id: 'desk',
  name: 'Desk',
  version: 1,
  session_start: () => go(null, say('Welcome.').listen()),
  dtmf_input: (_, { digits }) =>
    go(null, digits === '0' ? say('One moment.').transfer({ reason: 'asked' }) : say(`You pressed ${digits}.`).listen()),
  otherwise: () => go(null, say('Press a key.').listen()),
});

let platform: TestPlatform;
let redirectUri = '';
let closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  const [port = 0] = await freePorts(1);
  redirectUri = `http://127.0.0.1:${String(port)}/callback`;
  platform = await startPlatform({ redirectUri });
  closing = [];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  await platform.close();
});

const QUIET = {
  grpc: { host: '127.0.0.1', port: 0 },
  tls: { mode: 'off' },
  ops: { port: 0 },
  media: { reveal_prompt_text: true },
  synthesizer: { cache_folder: SPOKEN_PROMPTS },
  log: { level: 'silent' },
  shutdown: { grace_ms: 0 },
} as const satisfies ServerSettings;

async function served(settings: ServerSettings = {}, hooks: ServerHooks = { bots: [desk] }): Promise<Server> {
  const { trust } = platform;
  const server = await createServer({ ...QUIET, ...trust, ...settings }, hooks);
  closing.push(() => server.close());
  return server;
}

describe('a server inside of another program', () => {
  it('answers the calls of the platform over gRPC and over WebSocket, with bots that are given in code', async () => {
    const ended: EndedCall[] = [];
    const onCallEnded = (end: EndedCall): void => void ended.push(end);
    const { address } = await served({ websocket: { enabled: true, host: '127.0.0.1', port: 0 } }, { bots: [desk], onCallEnded });
    const scenario: Scenario = {
      welcome: { heard: 'Welcome.' },
      steps: [
        { press: '7', expect: { heard: 'You pressed 7.' } },
        { press: '0', expect: { ends: 'transferred' } },
      ],
      pace: 10,
    };
    for (const target of [address.grpc, address.websocket ?? '']) {
      const { ok, failures, outcome, conversationId } = await platform.call(target, scenario);
      expect([failures, ok, outcome]).toEqual([[], true, 'transferred']);
      await until('the call has ended', () => ended.some(({ call }) => call.conversationId === conversationId));
      expect(ended.at(-1)).toMatchObject({
        by: 'bot_transfer',
        call: { agentId: 'desk', organizationId: platform.issuer.claims.organizationId },
      });
    }
    expect((await fetch(`${address.operations}/health/ready`)).status).toBe(200);
  });

  it('says what of a scenario was not met, and what a scenario may be', async () => {
    const { address } = await served();
    const { ok, failures } = await platform.call(address.grpc, { steps: [{ press: '7', expect: { heard: 'pizza' } }], pace: 10 });
    expect([ok, failures]).toMatchObject([false, [{ place: 'step 1 (press 7)', expected: 'heard "pizza"' }]]);
    await expect(platform.call(address.grpc, { steps: [{ press: 'x' }] })).rejects.toThrow(
      new RangeError('steps[0].press: keys are 0 to 9, *, # and A to D'),
    );
    const refused = await platform.call(address.grpc, { pace: 10 }, { token: null });
    expect([refused.ok, refused.outcome]).toEqual([false, 'failed']);
  });

  it('names every wrong setting, and where it was given', async () => {
    const wrong = { ...QUIET, grpc: { port: 70_000 }, turn: {}, ops: { porto: 1 } } as unknown as ServerSettings;
    await expect(createServer(wrong, { bots: [desk] })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(
        /ops\.porto {3}\(the settings given to createServer\)[^]*did you mean ops\.port[^]* turn [^]*grpc\.port = 70000 {3}\(the settings/u,
      ) as unknown,
    });
    await expect(createServer('no such file.yaml')).rejects.toMatchObject({ code: 'config_invalid' });
  });

  it('reads a configuration file as `serve` does, and outlives a hook that throws', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'parley-library-'));
    closing.push(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'parley.yaml');
    await writeFile(file, JSON.stringify({ ...QUIET, ...platform.trust }));
    const onCallEnded = (): Promise<void> => Promise.reject(new Error('the author of this hook had a bad day'));
    const server = await createServer(file, { bots: [desk], onCallEnded });
    closing.push(() => server.close());
    for (const _ of [1, 2]) expect(await platform.call(server.address.grpc, { pace: 10 })).toMatchObject({ ok: true });
    const another = await serveCalls(file);
    closing.push(() => another.close());
    expect(await platform.call(another.address.grpc, { welcome: { heard: 'opening hours' }, pace: 10 })).toMatchObject({ ok: true });
  });

  it('is notified of organizations that authorize its app, and of those that withdraw it', async () => {
    const heard: string[] = [];
    const settings = await administered();
    const admin = await openAdmin(settings);
    await logIn(admin);
    await admin.close();
    await served(settings, {
      bots: [desk],
      onAuthorized: ({ organizationId }) => void heard.push(`authorized ${organizationId}`),
      onDeauthorized: ({ organizationId }) => void heard.push(`deauthorized ${organizationId}`),
    });
    platform.admin.authorize(ORGANIZATION);
    await until('the hook was told', () => heard.length === 1);
    platform.admin.deauthorize(ORGANIZATION);
    await until('the hook was told again', () => heard.length === 2);
    expect(heard).toEqual([`authorized ${ORGANIZATION}`, `deauthorized ${ORGANIZATION}`]);
  });
});

describe('the administration inside of another program', () => {
  const within = (): AbortSignal => AbortSignal.timeout(10_000);

  it('registers, changes and deletes what an organization has, once it has authorized the app', async () => {
    const { admin: section, platform: profile } = await administered();
    // Nothing of a server is needed.
    const settings = { ...(section !== undefined && { admin: section }), ...(profile !== undefined && { platform: profile }) };
    const admin = await openAdmin(settings);
    await logIn(admin);
    await expect(admin.organization(ORGANIZATION).dataSources.list(within())).rejects.toBeInstanceOf(OrgNotRegisteredError);
    await admin.close();
    expect(await register(settings, ORGANIZATION, 'https://127.0.0.1:8443')).toBeUndefined();
    platform.admin.authorize(ORGANIZATION);
    const made = await register(settings, ORGANIZATION, 'https://127.0.0.1:8443');
    const again = await openAdmin(settings);
    closing.push(() => again.close());
    const { dataSources } = again.organization(ORGANIZATION);
    const { audience = '', subject = '', url = '', schemaId = '', tokenLifetimeMinutes = 0, id = '' } = made ?? {};
    const update = { audience, subject, url, schemaId, tokenLifetimeMinutes, nonce: 'another nonce' };
    await dataSources.update(id, { ...update, status: 'disabled', errorMessage: 'closed' }, within());
    expect(await dataSources.get(id, within())).toMatchObject({ id, status: 'disabled' });
    await dataSources.delete(id, within());
    expect(await dataSources.list(within())).toEqual([]);
    expect(await again.webhooks?.list(within())).toEqual([]);
  });
});

/** Settings of a server that administers this platform. */
async function administered(): Promise<ServerSettings> {
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-library-'));
  closing.push(() => rm(folder, { recursive: true }));
  const [webhookPort = 0] = await freePorts(1);
  const { integration, serviceApp, baseUrl } = platform.admin;
  return {
    ...QUIET,
    ...platform.trust,
    admin: {
      enabled: true,
      base_url: baseUrl,
      store: { file: path.join(folder, 'store'), keys: ['ab'.repeat(32)] },
      integration: { client_id: integration.clientId, client_secret: integration.clientSecret, redirect_uri: redirectUri },
      service_app: { client_id: serviceApp.clientId, client_secret: serviceApp.clientSecret },
      data_sources: { url: 'https://127.0.0.1:8443', audience: 'bots', subject: 'test' },
      webhooks: { target_url: `http://127.0.0.1:${String(webhookPort)}/webhooks`, port: webhookPort },
    },
  };
}

async function logIn(admin: Awaited<ReturnType<typeof openAdmin>>): Promise<void> {
  const signal = AbortSignal.timeout(20_000);
  await admin.integration?.logIn({ show: (url) => agreeInBrowser(url, signal), limitMs: 20_000 }, signal);
}
