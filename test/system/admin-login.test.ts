// `parley admin login` against the fake platform: the browser, the tokens in the store, and everything that can go wrong.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../src/base/package-root.ts';
import { INTEGRATION_KEY } from '../../src/admin/oauth/integration-tokens.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { OTHER_FLAGS, runAdmin, type AdminEnd } from '../support/admin-command.ts';
import { adminSurroundings, type AdminSurroundings } from '../support/admin-surroundings.ts';
import { freePort } from '../support/free-port.ts';
import { ParleyProcess } from '../support/parley-process.ts';
import { until } from '../support/until.ts';

const SCOPES = loadProfile('fake').oauth?.integrationScopes ?? [];

interface Login extends AdminSurroundings {
  /** Everything that must not be shown. */
  readonly secrets: readonly string[];
}

/** Nobody has logged in yet, and the integration may come back to a port that is free. */
async function toLogIn(given?: string): Promise<Login> {
  const around = await adminSurroundings({ isLoggedIn: false });
  const redirectUri = given ?? `http://127.0.0.1:${String(await freePort())}/callback`;
  const { clientId, clientSecret } = around.api.apps.addIntegration({ redirectUris: [redirectUri] });
  around.api.switches.consent = 'auto';
  const own = { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri };
  const flags = [...around.flags, ...Object.entries(own).map(([name, value]) => `--admin.integration.${name}=${value}`)];
  return { ...around, flags, secrets: [clientSecret, around.key, around.api.serviceApp.clientSecret] };
}

/** The tokens as they are kept; undefined when there are none. */
async function keptTokens(around: AdminSurroundings): Promise<{ accessToken: string; refreshToken: string } | undefined> {
  const store = await around.openStore();
  const text = await store.get(INTEGRATION_KEY);
  await store.close();
  return text === undefined ? undefined : (JSON.parse(text) as { accessToken: string; refreshToken: string });
}

/** The address that was printed. */
function addressIn(text: string): string | undefined {
  return /^ {2}(http:\S+)$/mu.exec(text)?.[1];
}

/** Goes to the address as soon as it is printed, as somebody with a browser elsewhere does. */
function follower(): { readonly onErr: (text: string) => void; readonly pages: readonly string[] } {
  const pages: string[] = [];
  const onErr = (text: string): void => {
    const address = addressIn(text);
    if (address !== undefined) void fetch(address).then(async (page) => pages.push(await page.text()));
  };
  return { onErr, pages };
}

async function expectSilent({ out, err }: AdminEnd, around: Login): Promise<void> {
  const tokens = await keptTokens(around);
  for (const secret of [...around.secrets, tokens?.accessToken, tokens?.refreshToken]) {
    if (secret !== undefined) expect(out + err).not.toContain(secret);
  }
}

it('sends somebody to the platform, keeps the tokens, and says when they end', async () => {
  const around = await toLogIn();
  const { onErr, pages } = follower();
  const end = await runAdmin(['login', ...around.flags], { onErr });
  expect(end.code).toBe(0);
  expect(end.out.split('\n').map((line) => line.split(/ {2,}/u))).toEqual([
    ['logged in at', around.api.baseUrl],
    ['scopes asked for', SCOPES.join(' ')],
    ['access token', expect.stringMatching(/^until \S+Z \(in 1[34] days\)$/u)],
    ['refresh token', expect.stringMatching(/^until \S+Z \(in (?:89|90) days\)$/u)],
    ['kept in', around.storeFile],
    [''],
  ]);
  expect(end.err).toMatch(/^Log in at this address[^]*Waiting for 300 seconds; Ctrl-C gives it up\.\n$/u);
  expect((await keptTokens(around))?.accessToken).toEqual(expect.any(String));
  await until('the browser shows a page', () => pages.length === 1);
  expect(pages[0]).toContain('Logged in');
  await expectSilent(end, around);
});

it('does without PKCE where the profile says that the platform does not take it', async () => {
  const around = await toLogIn();
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-profile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const profile = parse(await readFile(path.join(packageRoot(), 'config/platforms/fake.yaml'), 'utf8')) as { oauth: object };
  const file = path.join(folder, 'without-pkce.yaml');
  await writeFile(file, stringify({ ...profile, oauth: { ...profile.oauth, pkce: false } }));
  const flags = [...around.flags, `--platform.profile=${file}`];
  const end = await runAdmin(['login', ...flags], follower());
  expect([end.code, addressIn(end.err)?.includes('code_challenge')]).toEqual([0, false]);
  const withIt = await runAdmin(['login', ...around.flags], follower());
  expect([withIt.code, addressIn(withIt.err)?.includes('code_challenge')]).toEqual([0, true]);
});

it('prints JSON, and the address on standard error only', async () => {
  const around = await toLogIn();
  const end = await runAdmin(['login', '--json', ...around.flags], follower());
  expect(JSON.parse(end.out)).toEqual({
    ...{ platform: around.api.baseUrl, scopes: SCOPES, storeFile: around.storeFile },
    accessTokenEnds: expect.stringMatching(/Z$/u) as string,
    refreshTokenEnds: expect.stringMatching(/Z$/u) as string,
  });
  expect(addressIn(end.err)).toContain(around.api.authorizeUrl);
  await expectSilent(end, around);
});

/** Where a browser ends that agrees, without going there. */
async function endOf(address: string | undefined): Promise<URL> {
  const { headers } = await fetch(address ?? '', { redirect: 'manual' });
  return new URL(headers.get('location') ?? '');
}

it.each([
  ['an https redirect address', 'https://bots.example/callback', []],
  ['one on this machine and --paste', undefined, ['--paste']],
])('takes the pasted return of a browser elsewhere, with %s, and asks again for another one', async (_, redirectUri, flags) => {
  const around = await toLogIn(redirectUri);
  let [shown, asked] = ['', 0];
  const person = {
    asksFor: async (): Promise<string> => {
      asked += 1;
      const end = await endOf(addressIn(shown));
      if (asked === 1) end.searchParams.set('state', 'of-another-login');
      return `${end.href}\n`;
    },
  };
  const end = await runAdmin(['login', ...flags, ...around.flags], { person, onErr: (text) => (shown += text) });
  expect([end.code, asked]).toEqual([0, 2]);
  expect(end.err).toContain('This does not belong to the login that is under way.');
  await expectSilent(end, around);
});

it('takes the pasted code alone, and fails where nobody gives anything', async () => {
  const around = await toLogIn('https://bots.example/callback');
  let shown = '';
  const asksFor = async (): Promise<string> => (await endOf(addressIn(shown))).searchParams.get('code') ?? '';
  const end = await runAdmin(['login', ...around.flags], { person: { asksFor }, onErr: (text) => (shown += text) });
  expect(end.code).toBe(0);
  await expectSilent(end, around);
  const nobody = await runAdmin(['login', ...around.flags]);
  expect(nobody).toMatchObject({ code: 1, out: '' });
  expect(nobody.err).toContain('error login_failed  nobody gave the address that the browser ended at');
});

it('takes the return of a browser that a proxy passes on from an https redirect address', async () => {
  const around = await toLogIn('https://bots.example/callback');
  const listen = `127.0.0.1:${String(await freePort())}`;
  const pages: string[] = [];
  const passOn = async (text: string): Promise<void> => {
    const { pathname, search } = await endOf(addressIn(text));
    pages.push(await (await fetch(`http://${listen}${pathname}${search}`)).text());
  };
  const onErr = (text: string): void => {
    if (addressIn(text) !== undefined) void passOn(text);
  };
  const end = await runAdmin(['login', `--listen=${listen}`, ...around.flags], { onErr });
  expect(end.code).toBe(0);
  await until('the browser has its page', () => pages.length === 1);
  expect(pages[0]).toContain('Logged in');
  await expectSilent(end, around);
  expect((await runAdmin(['login', '--listen=no port', ...around.flags])).code).toBe(2);
});

it('opens a browser where somebody is there, and goes on without one that cannot be opened', async () => {
  const around = await toLogIn();
  const opened: string[] = [];
  const openBrowser = async (url: string): Promise<void> => {
    opened.push(url);
    await fetch(url);
  };
  const opens = await runAdmin(['login', ...around.flags], { person: { isThere: true, openBrowser } });
  expect([opens.code, opened.length, opened[0]]).toEqual([0, 1, addressIn(opens.err)]);

  const broken = await runAdmin(['login', ...around.flags], { person: { isThere: true }, ...follower() });
  expect(broken.code).toBe(0);
  expect(broken.err).toContain('No browser could be opened here');

  const refuses = await runAdmin(['login', '--no-browser', ...around.flags], { person: { isThere: true, openBrowser }, ...follower() });
  expect([refuses.code, opened.length]).toEqual([0, 1]);
});

it('waits no longer than its limit, and stores nothing', async () => {
  const around = await toLogIn();
  const end = await runAdmin(['login', '--wait-s', '1', ...around.flags]);
  expect([end.code, end.out]).toEqual([1, '']);
  expect(end.err).toMatch(/error login_failed {2}.*nobody finished it within 1 seconds\nwhat to do {2}/u);
  expect(await keptTokens(around)).toBeUndefined();
  for (const wait of ['0', '3601', '1.5', '-1']) expect((await runAdmin(['login', `--wait-s=${wait}`, ...around.flags])).code).toBe(2);
});

it('says what the platform says when it does not agree', async () => {
  const around = await toLogIn();
  around.api.switches.consent = 'deny';
  const end = await runAdmin(['login', ...around.flags], follower());
  expect(end.code).toBe(1);
  expect(end.err).toContain('error login_failed  the platform did not agree to the login: access_denied');
  await expectSilent(end, around);
});

it('does not begin while a server holds the store, and says what to do', { timeout: 180_000 }, async () => {
  const around = await toLogIn();
  const store = await around.openStore();
  try {
    const end = await runAdmin(['login', ...around.flags]);
    expect([end.code, end.out, addressIn(end.err)]).toEqual([1, '', undefined]);
    expect(end.err).toMatch(/holds the sealed store: stop it, log in, and start it again/u);
  } finally {
    await store.close();
  }
});

it.each([
  ['oauth_refresh', { 'oauth.client_id': 'C1', 'oauth.client_secret': 'CANARY-s', 'oauth.refresh_token': 'CANARY-r' }],
  ['static_token', { 'static_token.access_token': 'CANARY-t' }],
])('says what stands in for it with admin.login %s', async (login, settings) => {
  const around = await toLogIn();
  const own = { login, organizations: '["ce861fba-6e2f-49f9-9a84-b354008fac9e"]', 'webhooks.target_url': '', ...settings };
  const end = await runAdmin(['login', ...around.flags, ...Object.entries(own).map(([name, value]) => `--admin.${name}=${value}`)]);
  expect([end.code, end.out]).toEqual([2, '']);
  expect(end.err).toMatch(new RegExp(`nobody logs in with admin\\.login ${login}: .*stands in for it`, 'u'));
  expect(end.err).not.toContain('CANARY');
});

it('ends with 130 on Ctrl-C, as a process of its own, and gives the store free', async () => {
  const around = await toLogIn();
  const command = new ParleyProcess(['admin', 'login', ...around.flags, ...OTHER_FLAGS]);
  onTestFinished(() => command.kill());
  await command.said('the address is printed', () => addressIn(command.stderr) !== undefined);
  command.signal('SIGINT');
  expect(await command.ended()).toEqual({ code: 130, signal: null });
  expect(command.stdout).toBe('');
  expect(command.stderr).toMatch(/interrupted\n$/u);
  expect(await keptTokens(around)).toBeUndefined();
});
