import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { login } from '../../../../src/admin/oauth/login.ts';
import { redirectAddress } from '../../../../src/admin/oauth/redirect-server.ts';
import { TokenRequests } from '../../../../src/admin/oauth/token-request.ts';
import type { OAuthTokens } from '../../../../src/admin/tokens.ts';
import { adminServer, answer, failureOf, hang, json, keptLog, type AdminServer } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { freePort } from '../../../support/free-port.ts';
import type { Answering } from '../../../support/speech-service.ts';
import { until } from '../../../support/until.ts';
import { never } from '../../../support/voice.ts';

const REPLY = { access_token: 'CANARY-a', expires_in: 60, refresh_token: 'CANARY-r', token_type: 'Bearer' };

interface Login {
  readonly server: AdminServer;
  readonly clock: FakeClock;
  readonly redirectUri: string;
  readonly work: Promise<OAuthTokens>;
  /** The address that somebody is shown. */
  readonly shown: URL;
  /** What a browser does: goes back with these parameters. */
  back(parameters: Readonly<Record<string, string>> | string): Promise<{ status: number; page: string; headers: Headers }>;
}

async function begin(
  way: Answering,
  { signal = never(), pkce }: { signal?: AbortSignal; pkce?: boolean | undefined } = {},
): Promise<Login> {
  const server = await adminServer(way);
  const clock = new FakeClock();
  const credentials = { clientId: 'client-1', clientSecret: 'CANARY-secret' };
  const requests = new TokenRequests({ address: server.address, credentials, clock, log: keptLog().log });
  const redirectUri = `http://127.0.0.1:${String(await freePort())}/callback`;
  const shown: string[] = [];
  const show = (url: string): void => void shown.push(url);
  const work = login({ requests, redirectUri, scopes: ['a:read', 'b:write'], clock, show, pkce, limitMs: 60_000 }, signal);
  work.catch(() => undefined);
  await until('the address is shown', () => shown.length > 0);
  const back = async (parameters: Readonly<Record<string, string>> | string) => {
    const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString();
    const response = await fetch(`${redirectUri}?${query}`);
    return { status: response.status, page: await response.text(), headers: response.headers };
  };
  return { server, clock, redirectUri, work, shown: new URL(shown[0] ?? ''), back };
}

const stateOf = ({ shown }: Login): string => shown.searchParams.get('state') ?? '';

describe('a login', () => {
  it('sends somebody to the platform, and makes tokens of the code that comes back', async () => {
    const started = await begin(json(REPLY));
    const { shown, server, work, redirectUri, clock } = started;
    expect(shown.href.startsWith(`${server.address.authorizeUrl}?`)).toBe(true);
    const { state, code_challenge: challenge, ...asked } = Object.fromEntries(shown.searchParams);
    expect(asked).toEqual({
      ...{ response_type: 'code', client_id: 'client-1', redirect_uri: redirectUri, scope: 'a:read b:write' },
      code_challenge_method: 'S256',
    });
    const { status, page, headers } = await started.back({ code: 'CANARY-code', state: state ?? '' });
    expect([status, page.includes('Logged in'), page.includes('CANARY')]).toEqual([200, true, false]);
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
    expect(await work).toMatchObject({ accessToken: 'CANARY-a', refreshToken: 'CANARY-r', expiresAtMs: clock.nowMs() + 60_000 });
    const sent = Object.fromEntries(new URLSearchParams((await server.arrived(1)).body.toString()));
    expect(sent).toMatchObject({ code: 'CANARY-code', redirect_uri: redirectUri });
    // PKCE: what was promised at the beginning is shown at the end.
    expect(createHash('sha256').update(String(sent['code_verifier'])).digest('base64url')).toBe(challenge);
    expect(clock.pendingTimers).toBe(0);
    await expectClosed(redirectUri);
  });

  it('does without PKCE on both ways where the platform does not take it', async () => {
    const started = await begin(json(REPLY), { pkce: false });
    expect([...started.shown.searchParams.keys()]).toEqual(['response_type', 'client_id', 'redirect_uri', 'scope', 'state']);
    await started.back({ code: 'CANARY-code', state: stateOf(started) });
    await started.work;
    const sent = new URLSearchParams((await started.server.arrived(1)).body.toString());
    expect([sent.get('code'), sent.has('code_verifier')]).toEqual(['CANARY-code', false]);
  });

  it('takes a pasted code for a code, also with a colon in it', async () => {
    const server = await adminServer(json(REPLY));
    const clock = new FakeClock();
    const credentials = { clientId: 'client-1', clientSecret: 'CANARY-secret' };
    const requests = new TokenRequests({ address: server.address, credentials, clock, log: keptLog().log });
    const paste = (isAgain: boolean): Promise<string> => Promise.resolve(isAgain ? '' : 'eu1:CANARY-code');
    const redirectUri = 'https://bots.example/callback';
    await login({ requests, redirectUri, scopes: ['a:read'], clock, show: () => undefined, paste }, never());
    expect(new URLSearchParams((await server.arrived(1)).body.toString()).get('code')).toBe('eu1:CANARY-code');
  });

  it.each([
    ['an empty line, and then the code', ['', 'CANARY-code'], 2, 'CANARY-a'],
    ['the end of the input', [], 1, 'nobody gave the address'],
    ['nothing but empty lines', Array.from({ length: 50 }, () => ''), 11, 'nobody gave the address'],
  ])('shows the address again after an empty line, and is given up at the end of the input: %s', async (_, lines, times, end) => {
    const { address } = await adminServer(json(REPLY));
    const clock = new FakeClock();
    const credentials = { clientId: 'client-1', clientSecret: 'CANARY-secret' };
    const requests = new TokenRequests({ address, credentials, clock, log: keptLog().log });
    const left = [...lines];
    const [shown, again]: [string[], boolean[]] = [[], []];
    const paste = (isAgain: boolean): Promise<string | undefined> => {
      again.push(isAgain);
      return Promise.resolve(left.shift());
    };
    const options = { requests, redirectUri: 'https://bots.example/callback', scopes: ['a:read'], clock, paste };
    const ended = login({ ...options, show: (url) => void shown.push(url) }, never());
    expect(await ended.then(({ accessToken }) => accessToken, String)).toContain(end);
    expect([shown.length, new Set(shown).size, again.includes(true)]).toEqual([times, 1, false]);
  });

  it('has another state and another challenge each time', async () => {
    const [one, other] = [await begin(json(REPLY)), await begin(json(REPLY))];
    for (const name of ['state', 'code_challenge']) expect(one.shown.searchParams.get(name)).not.toBe(other.shown.searchParams.get(name));
    for (const started of [one, other]) {
      await started.back({ code: 'c', state: stateOf(started) });
      await started.work;
    }
  });

  it.each([
    ['no state', { code: 'CANARY-forged' }],
    ['another state', { code: 'CANARY-forged', state: 'forged' }],
    ['an error and another state', { error: 'access_denied', state: 'forged' }],
    ['two states', 'code=CANARY-forged&state=STATE&state=STATE'],
  ])('is not ended by an answer with %s', async (_, parameters) => {
    const started = await begin(json(REPLY));
    const state = stateOf(started);
    const forged = typeof parameters === 'string' ? parameters.replaceAll('STATE', state) : parameters;
    const { status, page } = await started.back(forged);
    expect([status, page.includes('Not this login'), page.includes('CANARY')]).toEqual([400, true, false]);
    expect(started.server.received).toEqual([]);
    await started.back({ code: 'CANARY-code', state });
    expect((await started.work).accessToken).toBe('CANARY-a');
  });

  it('takes one answer, and no second one with the same state', async () => {
    let goOn: () => void = () => undefined;
    const started = await begin((response, received) => {
      goOn = () => {
        json(REPLY)(response, received);
      };
    });
    const first = started.back({ code: 'CANARY-1', state: stateOf(started) });
    await started.server.arrived(1);
    expect((await started.back({ code: 'CANARY-2', state: stateOf(started) })).status).toBe(400);
    goOn();
    expect((await first).status).toBe(200);
    await started.work;
    expect(started.server.received).toHaveLength(1);
  });

  it('fails with what the platform says, on the page as well, as text', async () => {
    const started = await begin(json(REPLY));
    const error = { error: 'access_denied', error_description: '<b>no & never</b>', state: stateOf(started) };
    const { status, page } = await started.back(error);
    expect([status, page.includes('access_denied: &lt;b&gt;no &amp; never&lt;/b&gt;')]).toEqual([400, true]);
    const failure = await failureOf(started.work);
    expect(failure).toMatchObject({ code: 'login_failed' });
    expect(failure.message).toContain('access_denied: <b>no & never</b>');
  });

  it.each([
    ['without a code', '', ''],
    ['with two codes', '&code=CANARY-1&code=CANARY-2', ''],
    ['from another server', '&code=CANARY-1&iss=https%3A%2F%2Felsewhere.example', ''],
    ['with a token instead of a code', '&token=CANARY-1', ''],
  ])('fails when the browser comes back %s', async (_, parameters) => {
    const started = await begin(json(REPLY));
    const { status, page } = await started.back(`state=${stateOf(started)}${parameters}`);
    expect([status, page.includes('CANARY')]).toEqual([400, false]);
    expect((await failureOf(started.work)).code).toBe('login_failed');
    expect(started.server.received).toEqual([]);
  });

  it('fails when the platform does not take the code', async () => {
    const started = await begin(answer(400, { error: 'invalid_grant', error_description: 'CANARY-code was used' }));
    const { status, page } = await started.back({ code: 'CANARY-code', state: stateOf(started) });
    expect([status, page.includes('login failed'), page.includes('CANARY')]).toEqual([400, true, false]);
    expect((await failureOf(started.work)).code).toBe('login_failed');
    await expectClosed(started.redirectUri);
  });

  it('answers nothing else', async () => {
    const started = await begin(json(REPLY));
    const origin = new URL(started.redirectUri).origin;
    expect((await fetch(`${origin}/favicon.ico`)).status).toBe(404);
    expect((await fetch(started.redirectUri, { method: 'POST', body: 'x' })).status).toBe(405);
    await started.back({ code: 'c', state: stateOf(started) });
    await started.work;
  });

  it('ends when nobody finishes it', async () => {
    const { work, clock, redirectUri } = await begin(json(REPLY));
    await clock.advanceAsync(60_000);
    const failure = await failureOf(work);
    expect([failure.code, failure.message]).toEqual(['login_failed', expect.stringContaining('within 60 seconds')]);
    expect(clock.pendingTimers).toBe(0);
    await expectClosed(redirectUri);
  });

  it('ends when it is given up, also in the middle of the exchange', async () => {
    const controller = new AbortController();
    const started = await begin(hang, { signal: controller.signal });
    const page = started.back({ code: 'CANARY-code', state: stateOf(started) });
    await started.server.arrived(1);
    controller.abort();
    expect((await failureOf(started.work)).code).toMatch(/login_failed|platform_unavailable/u);
    expect((await page).status).toBe(400);
    expect(started.clock.pendingTimers).toBe(0);
  });

  it('closes although a browser holds a connection with half a request', async () => {
    const started = await begin(json(REPLY));
    const { redirectUri, clock, work } = started;
    const { connect } = await import('node:net');
    const idle = connect(Number(new URL(redirectUri).port), '127.0.0.1');
    idle.on('error', () => undefined);
    await new Promise((resolve) => idle.once('connect', resolve));
    idle.write('GET / HTTP/1.1\r\n');
    await started.back({ code: 'c', state: stateOf(started) });
    await until('it is closing', () => clock.nextTimerInMs === 2000);
    await clock.advanceAsync(2000);
    await work;
    await expectClosed(redirectUri);
  });

  it('needs an address that is free', async () => {
    const other = createServer();
    const port = await listening(other);
    const requests = new TokenRequests({
      ...{ address: (await adminServer()).address, credentials: { clientId: 'c', clientSecret: 's' } },
      ...{ clock: new FakeClock(), log: keptLog().log },
    });
    const redirectUri = `http://127.0.0.1:${String(port)}/callback`;
    const work = login({ requests, redirectUri, scopes: [], clock: new FakeClock(), show: () => undefined }, never());
    const failure = await failureOf(work);
    expect([failure.code, failure.message]).toEqual(['login_failed', expect.stringContaining('something else listens there')]);
  });

  it('fails when its address cannot be shown, without quoting it', async () => {
    const clock = new FakeClock();
    const requests = new TokenRequests({
      ...{ address: (await adminServer()).address, credentials: { clientId: 'c', clientSecret: 's' } },
      ...{ clock, log: keptLog().log },
    });
    const redirectUri = `http://127.0.0.1:${String(await freePort())}/callback`;
    const show = (): Promise<void> => Promise.reject(new Error('CANARY'));
    expect((await failureOf(login({ requests, redirectUri, scopes: [], clock, show }, never()))).code).toBe('login_failed');
    expect(clock.pendingTimers).toBe(0);
    await expectClosed(redirectUri);
  });
});

describe('a redirect address', () => {
  it.each(['http://127.0.0.1:8765/callback', 'http://localhost:8765/', 'http://[::1]:8765/callback'])('may be %s', (address) => {
    expect(redirectAddress(address).href).toBe(address);
  });

  it.each([
    'https://user@bots.example/callback',
    'http://192.168.1.2:8765/callback',
    'http://127.0.0.1/callback',
    'http://user@127.0.0.1:8765/callback',
    'http://127.0.0.1:8765/callback?x=1',
    'callback',
  ])('may not be %s', (address) => {
    expect(() => redirectAddress(address)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

async function expectClosed(redirectUri: string): Promise<void> {
  await expect(fetch(redirectUri)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
