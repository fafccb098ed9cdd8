import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ORG, profile, RunningApi, type Reply } from './running-api.ts';

const SCOPE = profile.oauth?.integrationScopes.join(' ') ?? '';
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

let running: RunningApi;
beforeEach(async () => {
  running = await RunningApi.start();
});
afterEach(async () => {
  await running.close();
});

/** Opens the authorization page; a parameter that is undefined is left out. */
function openPage(changes: Readonly<Record<string, string | undefined>> = {}): Promise<Reply> {
  const { clientId, redirectUris } = running.api.integration;
  const all = { response_type: 'code', client_id: clientId, redirect_uri: redirectUris[0], scope: SCOPE, state: 'st&te', ...changes };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.set(name, value);
  return running.ask(`GET ${running.api.authorizeUrl}?${query.toString()}`);
}

/** What the redirect brings back. */
function broughtBack({ headers }: Reply): URLSearchParams {
  return new URL(headers.get('location') ?? 'none:').searchParams;
}

async function codeFor(changes: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
  return broughtBack(await openPage({ auto: '', ...changes })).get('code') ?? '';
}

function exchange(code: string, changes: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const { clientId, clientSecret, redirectUris } = running.api.integration;
  return running.ask(`POST ${running.api.tokenUrl}`, {
    form: {
      grant_type: 'authorization_code',
      client_id: clientId,
      client_secret: clientSecret,
      code,
      redirect_uri: redirectUris[0] ?? '',
      ...changes,
    },
  });
}

describe('the authorization page', () => {
  it('has one button for people, which brings a code and the state back to the client', async () => {
    const page = await openPage();
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text.match(/<button>/gu)).toHaveLength(1);
    for (const scope of SCOPE.split(' ')) expect(page.text).toContain(`<li>${scope}</li>`);
    const action = /action="(?<action>[^"]+)"/u.exec(page.text)?.groups?.['action'] ?? '';
    const consent = /value="(?<consent>[^"]+)"/u.exec(page.text)?.groups?.['consent'] ?? '';
    const pressed = await running.ask(`POST ${running.api.origin}${action}`, { form: { consent } });
    expect(pressed.status).toBe(303);
    expect(pressed.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:8765\/callback\?/u);
    expect(broughtBack(pressed).get('state')).toBe('st&te');
    expect((await exchange(broughtBack(pressed).get('code') ?? '')).status).toBe(200);
    expect((await running.ask(`POST ${running.api.origin}${action}`, { form: { consent } })).status).toBe(400);
  });

  it('consents at once with `auto` in the address, or when the switch says so', async () => {
    expect(broughtBack(await openPage({ auto: '' })).get('code')).toMatch(/^[\w-]{43}$/u);
    running.api.switches.consent = 'auto';
    expect(broughtBack(await openPage()).get('code')).toMatch(/^[\w-]{43}$/u);
    running.api.switches.consent = 'deny';
    expect(Object.fromEntries(broughtBack(await openPage()))).toMatchObject({ error: 'access_denied', state: 'st&te' });
  });

  it.each([
    ['an unknown client', { client_id: 'C00' }],
    ['no client', { client_id: undefined }],
    ['a foreign redirect address', { redirect_uri: 'http://127.0.0.1:8765/callback/' }],
    ['no redirect address', { redirect_uri: undefined }],
  ])('refuses %s on the page itself, and sends nobody anywhere', async (_what, changes) => {
    const page = await openPage({ auto: '', ...changes });
    expect(page.status).toBe(400);
    expect(page.headers.get('location')).toBeNull();
  });

  it.each([
    ['invalid_scope', { scope: undefined }],
    ['invalid_scope', { scope: `${SCOPE} another` }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_request', { code_challenge: CHALLENGE }],
    ['invalid_request', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }],
    ['invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }],
  ])('sends %s back to the client with its state for %j', async (error, changes) => {
    const page = await openPage({ auto: '', ...changes });
    expect(page.status).toBe(303);
    expect(Object.fromEntries(broughtBack(page))).toMatchObject({ error, state: 'st&te' });
    expect(broughtBack(page).has('code')).toBe(false);
  });

  it('keeps only so many people waiting', async () => {
    const pages = [];
    for (let count = 0; count < 101; count += 1) pages.push(await openPage());
    const press = (page: Reply | undefined): Promise<Reply> =>
      running.ask(`POST ${running.api.authorizeUrl}`, { form: { consent: /value="([^"]+)"/u.exec(page?.text ?? '')?.[1] ?? '' } });
    expect((await press(pages[0])).status).toBe(400);
    expect((await press(pages[1])).status).toBe(303);
  });
});

describe('a code', () => {
  it('becomes a pair with the fields of the contract', async () => {
    const { status, json, headers } = await exchange(await codeFor());
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toEqual({
      access_token: expect.stringMatching(/^[\w-]{64}_us_[0-9a-f-]{36}$/u) as string,
      expires_in: 14 * 86_400,
      refresh_token: expect.stringMatching(/^[\w-]{64}_us_[0-9a-f-]{36}$/u) as string,
      refresh_token_expires_in: 7_776_000,
      token_type: 'Bearer',
    });
    const me = await running.ask('GET /people/me', { token: String(json['access_token']) });
    expect(running.api.ids.decode('ORGANIZATION', String(me.json['orgId']))).toBe(running.api.integration.developer.organizationId);
  });

  it('is good once', async () => {
    const code = await codeFor();
    expect((await exchange(code)).status).toBe(200);
    expect((await exchange(code)).status).toBe(400);
  });

  it('has a short life', async () => {
    const [early, late] = [await codeFor(), await codeFor()];
    running.clock.advance(299_999);
    expect((await exchange(early)).status).toBe(200);
    running.clock.advance(1);
    expect((await exchange(late)).status).toBe(400);
  });

  it('is bound to the redirect address and to the client', async () => {
    expect((await exchange(await codeFor(), { redirect_uri: 'http://127.0.0.1:1/' })).status).toBe(400);
    const other = running.api.apps.addIntegration();
    const stolen = await exchange(await codeFor(), { client_id: other.clientId, client_secret: other.clientSecret });
    expect(stolen.status).toBe(400);
  });

  it('is bound to the verifier when a challenge came with it', async () => {
    const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
    expect((await exchange(await codeFor(challenge), { code_verifier: VERIFIER })).status).toBe(200);
    expect((await exchange(await codeFor(challenge), { code_verifier: 'w'.repeat(43) })).status).toBe(400);
    expect((await exchange(await codeFor(challenge))).status).toBe(400);
    expect((await exchange(await codeFor(), { code_verifier: VERIFIER })).status).toBe(400);
  });

  it('gives no more than what was consented to', async () => {
    const [scope = ''] = SCOPE.split(' ');
    const { json } = await exchange(await codeFor({ scope }));
    expect((await running.ask('GET /webhooks', { token: String(json['access_token']) })).status).toBe(403);
  });
});

describe('the token endpoint', () => {
  const refresh = (refreshToken: unknown, changes: Readonly<Record<string, string>> = {}): Promise<Reply> => {
    const { clientId, clientSecret } = running.api.integration;
    const form = { grant_type: 'refresh_token', client_id: clientId, client_secret: clientSecret, refresh_token: String(refreshToken) };
    return running.ask(`POST ${running.api.tokenUrl}`, { form: { ...form, ...changes } });
  };

  it('rotates refresh tokens: a new one each time, the old one is revoked', async () => {
    const first = running.api.logIn();
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.json['refresh_token']).not.toBe(first.refresh_token);
    expect((await refresh(first.refresh_token)).status).toBe(400);
    expect((await refresh(second.json['refresh_token'])).status).toBe(200);
    expect((await running.ask('GET /people/me', { token: first.access_token })).status).toBe(200);
  });

  it('keeps an account of tokens for each app and organization: which were taken, and which came after their end', async () => {
    const { api, clock } = running;
    const { clientId, developer } = api.integration;
    const account = () => api.tokenAccount(clientId, developer.organizationId);
    const look = (token: string): Promise<Reply> => running.ask('GET /people/me', { token });
    expect(account()).toEqual({ issued: 0, refreshed: 0, endedAccess: 0, endedRefresh: 0 });
    Object.assign(api.switches, { accessTokenSeconds: 60, refreshTokenSeconds: 30 });
    const first = api.logIn();
    expect((await refresh(first.refresh_token)).status).toBe(200);
    // Used up and unknown tokens have not ended.
    await refresh(first.refresh_token);
    await look('unknown');
    expect(account()).toEqual({ issued: 1, refreshed: 1, endedAccess: 0, endedRefresh: 0 });
    const second = api.logIn();
    clock.advance(30_000);
    for (let tries = 0; tries < 2; tries += 1) expect((await refresh(second.refresh_token)).status).toBe(400);
    expect((await look(second.access_token)).status).toBe(200);
    clock.advance(30_000);
    for (let tries = 0; tries < 2; tries += 1) expect((await look(second.access_token)).status).toBe(401);
    expect(account()).toEqual({ issued: 2, refreshed: 1, endedAccess: 1, endedRefresh: 1 });
    await running.serviceToken();
    expect(api.tokenAccount(api.serviceApp.clientId, ORG)).toEqual({ issued: 1, refreshed: 0, endedAccess: 0, endedRefresh: 0 });
  });

  it('can keep the refresh token, with or without saying so, and renews it by use', async () => {
    const { refresh_token: token } = running.api.logIn();
    running.api.switches.refreshTokens = 'keep';
    expect((await refresh(token)).json['refresh_token']).toBe(token);
    running.clock.advance(89 * 86_400_000);
    running.api.switches.refreshTokens = 'omit';
    expect(Object.keys((await refresh(token)).json).sort()).toEqual(['access_token', 'expires_in', 'token_type']);
    running.clock.advance(89 * 86_400_000);
    expect((await refresh(token)).status).toBe(200);
    running.clock.advance(90 * 86_400_000);
    expect((await refresh(token)).status).toBe(400);
  });

  it('ends access tokens when their time is over, and says when that will be', async () => {
    running.api.switches.accessTokenSeconds = 60;
    const { access_token: token } = running.api.logIn();
    expect((await running.ask('GET /authorizations/tokenExpiry', { token })).json).toEqual({ exp: running.clock.nowMs() + 60_000 });
    running.clock.advance(60_000);
    expect((await running.ask('GET /authorizations/tokenExpiry', { token })).status).toBe(401);
  });

  it('knows revoked tokens no more', async () => {
    const { access_token: token, refresh_token: refreshToken } = running.api.logIn();
    const { clientId } = running.api.integration;
    expect(running.api.revokeTokens(clientId, 'refresh')).toBe(1);
    expect((await refresh(refreshToken)).status).toBe(400);
    expect((await running.ask('GET /people/me', { token })).status).toBe(200);
    expect(running.api.revokeTokens(clientId)).toBe(1);
    expect((await running.ask('GET /people/me', { token })).status).toBe(401);
  });

  it('refreshes pairs of service apps with the credentials of the service app, and with no others', async () => {
    const { clientId, clientSecret } = running.api.serviceApp;
    running.api.authorize('0f148aa0-1111-4222-8333-444455556666');
    const pair = await running.askServiceToken();
    expect((await refresh(pair.json['refresh_token'])).status).toBe(400);
    expect((await refresh(pair.json['refresh_token'], { client_id: clientId, client_secret: clientSecret })).status).toBe(200);
  });

  it.each([
    ['401 wrong secret', { client_secret: 'no' }, 401, 'invalid_client'],
    ['401 unknown client', { client_id: 'C00' }, 401, 'invalid_client'],
    ['400 unknown grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['400 unknown refresh token', { refresh_token: 'no' }, 400, 'invalid_grant'],
    ['400 empty refresh token', { refresh_token: '' }, 400, 'invalid_request'],
    ['400 unknown parameter', { resource: 'x' }, 400, 'invalid_request'],
  ])('refuses in the words of the platform, and of OAuth when switched on: %s', async (_what, changes, status, error) => {
    const refused = await refresh(running.api.logIn().refresh_token, changes);
    expect(refused.status).toBe(status);
    expect(Object.keys(refused.json).sort()).toEqual(['errors', 'message', 'trackingId']);
    running.api.switches.oauthErrors = true;
    const asOAuth = await refresh(running.api.logIn().refresh_token, changes);
    expect(asOAuth.json).toMatchObject({ error, error_description: refused.json['message'] });
  });

  it('takes nothing but a form, in which every name comes once', async () => {
    const url = `POST ${running.api.tokenUrl}`;
    expect((await running.ask(url, { json: { grant_type: 'refresh_token' } })).status).toBe(415);
    expect((await running.ask(url)).status).toBe(415);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const twice = await running.ask(url, { headers, body: 'grant_type=refresh_token&grant_type=password' });
    expect(twice.status).toBe(400);
    expect(twice.json['message']).toBe('a parameter comes twice');
  });
});
