// The console over HTTP: what stands before it, what it answers, and what it writes down about visitors.
import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import type { CallView } from '../../../src/dialog/call-view.ts';
import type { CallSearch } from '../../../src/dialog/call-view.ts';
import type { ConsoleSettings } from '../../../src/ops/console-access.ts';
import { startOpsServer } from '../../../src/ops/http-server.ts';
import { Readiness } from '../../../src/ops/readiness.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const VIEW = 'v'.repeat(32);
const LISTEN = 'l'.repeat(32);
const TOKENS = { viewToken: VIEW, listenToken: LISTEN };
const NOTHING = { viewToken: undefined, listenToken: undefined, proxyKey: undefined, proxyHeader: 'x-parley-user', guardsMetrics: false };
const SHOWN: CallView = {
  ...{ form: 1, turns: [], events: [], sound: {} },
  call: { conversationId: 'conv', organizationId: 'org', agentId: 'echo', startedAtMs: 0, durationMs: 1 },
};
const OVERVIEW = {
  ...{ nowMs: 1, servers: [], silent: [], traffic: [], slotMs: 1, latency: { count: 0 }, refused: [], dataSources: [], services: [] },
};

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

async function start(settings: Partial<ConsoleSettings> = {}, host = '127.0.0.1') {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const asked: CallSearch[] = [];
  const roles: string[] = [];
  const clock = new FakeClock();
  const server = await startOpsServer({
    ...{ host, port: 0, hostNames: ['ops.example'], serviceName: 'voice', readiness: new Readiness(), clock },
    console: { ...NOTHING, ...settings },
    metrics: { contentType: 'text/plain', text: () => Promise.resolve('parley_up 1\n') },
    calls: { recent: () => ({ calls: [], refused: [] }), find: (id) => (id === 'conv' ? { conversationId: id } : undefined) },
    shows: {
      source: {
        organizations: () => Promise.resolve({ hours: 24, organizations: [], silent: [] }),
        overview: () => Promise.resolve(OVERVIEW),
        search: (query) => {
          asked.push(query);
          return Promise.resolve({ calls: [], silent: [] });
        },
        call: (id, role) => {
          roles.push(role);
          return Promise.resolve(id === 'conv' ? SHOWN : undefined);
        },
        sound: (id, side) => Promise.resolve(id === 'conv' ? Buffer.from(`sound of ${side}`) : id === 'busy' ? id : undefined),
      },
      file: (name) => Promise.resolve(name === 'licenses.txt' ? undefined : `content of ${name}`),
    },
    log: createLogger({ level: 'info', destination }),
  });
  onTestFinished(() => server.close());
  const get = async (path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Answered> => {
    const response = await fetch(`http://127.0.0.1:${String(server.port)}${path}`, { redirect: 'manual', ...init, headers });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };
  const signIn = (token: unknown): Promise<Answered> =>
    get('/api/session', { 'content-type': 'application/json' }, { method: 'POST', body: JSON.stringify({ token }) });
  const audit = () => lines.filter(({ event }) => event === 'console_audit');
  return { server, clock, lines, asked, roles, get, signIn, audit };
}

const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });
const GUARDED = ['/calls', '/calls/conv', '/api/visitor', '/api/overview', '/api/calls', '/api/calls/conv', '/api/calls/conv/sound/bot'];

describe('the page', () => {
  it('is served with a strict policy, in no frame, from no cache', async () => {
    const { get } = await start();
    const page = await get('/console/');
    expect([page.status, page.body]).toEqual([200, 'content of operations.html']);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]),
    );
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src [^;]*unsafe-inline/u);
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect((await get('/console/operations.js')).headers.get('content-type')).toContain('text/javascript');
  });

  it('is found without its slash, and has no other files', async () => {
    const { get } = await start();
    const moved = await get('/console');
    expect([moved.status, moved.headers.get('location')]).toEqual([308, 'console/']);
    for (const path of ['/console/licenses.txt', '/console/call.html', '/console/..%2fpackage.json', '/console/operations.css/x']) {
      expect((await get(path)).status, path).toBe(404);
    }
  });

  it('is shown by expected host names only, like its API', async () => {
    const { server } = await start();
    const statusOf = (path: string, host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port: server.port, path, headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.on('error', reject);
        asked.end();
      });
    for (const path of ['/console/', '/api/overview', '/api/calls/conv']) {
      expect(await statusOf(path, 'rebound.example'), path).toBe(421);
      expect(await statusOf(path, 'ops.example'), path).toBe(200);
    }
  });
});

describe('a server that other machines can reach', () => {
  it('shows no page and no calls without a way to sign in, and says what to do', async () => {
    const { get, signIn, lines } = await start({}, '0.0.0.0');
    for (const path of [...GUARDED, '/console/', '/console/operations.js']) {
      const { status, body } = await get(path, bearer(VIEW));
      expect([path, status]).toEqual([path, 403]);
      expect(body).toContain('ops.console.view_token');
    }
    expect((await signIn(VIEW)).status).toBe(403);
    for (const path of ['/health/live', '/metrics']) expect((await get(path)).status, path).toBe(200);
    expect(lines.find(({ event }) => event === 'ops_exposed')).toMatchObject({ console: 'closed' });
  });

  it('answers 401 without a token, and shows everything with one', async () => {
    const { get } = await start(TOKENS, '0.0.0.0');
    for (const path of GUARDED) {
      const refused = await get(path);
      expect([path, refused.status, refused.headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer realm="parley"']);
      expect(refused.body).not.toContain('conv');
      expect((await get(path, bearer(LISTEN))).status, path).toBe(200);
    }
    // It asks for the token.
    expect((await get('/console/')).status).toBe(200);
  });

  it('shows its metrics to everybody unless they are guarded, too', async () => {
    const { get } = await start({ ...TOKENS, guardsMetrics: true });
    expect((await get('/metrics')).status).toBe(401);
    expect((await get('/metrics', bearer(VIEW))).status).toBe(200);
    expect((await get('/health/ready')).status).toBe(503);
  });

  it('answers 429 after too many failures', async () => {
    const { get, signIn } = await start(TOKENS);
    for (let failure = 0; failure < 10; failure += 1) expect((await signIn('no')).status).toBe(401);
    const limited = await get('/api/overview', bearer('no'));
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
  });
});

describe('a browser', () => {
  it('signs in for a cookie, and out again', async () => {
    const { get, signIn } = await start(TOKENS);
    const signedIn = await signIn(LISTEN);
    expect(signedIn.status).toBe(204);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(JSON.parse((await get('/api/visitor', { cookie })).body)).toEqual({ name: 'listen token', role: 'listen', hasSession: true });
    const signedOut = await get('/api/session', { cookie }, { method: 'DELETE' });
    expect(signedOut.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await get('/api/visitor', { cookie })).status).toBe(401);
  });

  it.each([
    ['https', '__Host-parley_console'],
    ['https, http', '__Host-parley_console'],
    ['http, https', 'parley_console'],
  ])('that speaks %s gets the cookie %s, and comes in with it', async (proto, name) => {
    const { get } = await start(TOKENS);
    const signedIn = await get(
      '/api/session',
      { 'content-type': 'application/json', 'x-forwarded-proto': proto },
      { method: 'POST', body: JSON.stringify({ token: VIEW }) },
    );
    const set = signedIn.headers.get('set-cookie') ?? '';
    expect([set.split('=')[0], set.endsWith('; Secure')]).toEqual([name, name.startsWith('__')]);
    expect((await get('/api/visitor', { cookie: set.split(';')[0] ?? '' })).status).toBe(200);
  });

  it.each([[7], [undefined], [['a']], [{ a: 1 }]])('does not sign in with %j', async (token) => {
    const { signIn } = await start(TOKENS);
    expect((await signIn(token)).status).toBe(400);
  });

  it('does not sign in with a form of another site', async () => {
    const { get } = await start(TOKENS);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await get('/api/session', form, { method: 'POST', body: `token=${VIEW}` })).status).toBe(415);
    const plain = { 'content-type': 'text/plain' };
    expect((await get('/api/session', plain, { method: 'POST', body: JSON.stringify({ token: VIEW }) })).status).toBe(400);
  });
});

describe('the API', () => {
  it('searches by what was asked for, and refuses what it does not know', async () => {
    const { get, asked } = await start();
    const query = 'organizationId=o&conversationId=c&trackingId=t&end=open&fromMs=1&untilMs=2';
    expect((await get(`/api/calls?${query}`)).status).toBe(200);
    expect(asked).toEqual([{ organizationId: 'o', conversationId: 'c', trackingId: 't', end: 'open', fromMs: 1, untilMs: 2 }]);
    for (const wrong of ['organisationId=o', 'end=a&end=b', 'fromMs=x', 'fromMs=-1', `end=${'x'.repeat(201)}`]) {
      expect((await get(`/api/calls?${wrong}`)).status, wrong).toBe(400);
    }
  });

  it('tells the source in which role a call is opened', async () => {
    const { get, roles } = await start(TOKENS);
    await get('/api/calls/conv', bearer(VIEW));
    await get('/api/calls/conv', bearer(LISTEN));
    expect(roles).toEqual(['view', 'listen']);
  });

  it('lets the role listen alone hear a call, whole or in part', async () => {
    const { get } = await start(TOKENS);
    const path = '/api/calls/conv/sound/bot';
    expect((await get(path, bearer(VIEW))).status).toBe(403);
    expect(await get(path, bearer(LISTEN))).toMatchObject({ status: 200, body: 'sound of bot' });
    const part = await get(path, { ...bearer(LISTEN), range: 'bytes=6-' });
    expect([part.status, part.body, part.headers.get('content-range')]).toEqual([206, 'of bot', 'bytes 6-11/12']);
    expect((await get(path, { ...bearer(LISTEN), range: 'bytes=12-' })).status).toBe(416);
    expect((await get('/api/calls/conv/sound/both', bearer(LISTEN))).status).toBe(404);
    expect((await get('/api/calls/other/sound/bot', bearer(LISTEN))).status).toBe(404);
    expect((await get('/api/calls/busy/sound/bot', bearer(LISTEN))).status).toBe(503);
  });

  it('lets nobody listen on loopback without a token', async () => {
    const { get } = await start();
    expect((await get('/api/calls/conv/sound/bot')).status).toBe(403);
  });
});

describe('the audit', () => {
  it('has a line for whoever opens a call, listens or signs in, and for whoever is refused', async () => {
    const { get, signIn, audit } = await start(TOKENS);
    await signIn('no');
    await signIn(LISTEN);
    await get('/calls/conv', bearer(VIEW));
    await get('/api/calls/conv', bearer(LISTEN));
    await get('/api/calls/gone', bearer(LISTEN));
    await get('/api/calls/conv/sound/bot', bearer(VIEW));
    await get('/api/calls/conv/sound/bot', bearer(LISTEN));
    const facts = audit().map(({ what, who, role, conversationId, outcome }) => [what, who, role, conversationId, outcome]);
    expect(facts).toEqual([
      ['signed_in', 'unknown', undefined, undefined, 'refused'],
      ['signed_in', 'listen token', 'listen', undefined, 'shown'],
      ['call_opened', 'view token', 'view', 'conv', 'shown'],
      ['call_opened', 'listen token', 'listen', 'conv', 'shown'],
      ['call_opened', 'listen token', 'listen', undefined, 'not_found'],
      ['sound_heard', 'view token', 'view', undefined, 'refused'],
      ['sound_heard', 'listen token', 'listen', 'conv', 'shown'],
    ]);
    expect(audit().every(({ from }) => from === '127.0.0.1')).toBe(true);
  });

  it('has one line for a page that shows the same call for a while, and another one later', async () => {
    const { get, audit, clock } = await start(TOKENS);
    for (let poll = 0; poll < 3; poll += 1) await get('/api/calls/conv', bearer(VIEW));
    expect(audit()).toHaveLength(1);
    clock.advance(600_000);
    await get('/api/calls/conv', bearer(VIEW));
    expect(audit()).toHaveLength(2);
  });

  it('has lines for wrong secrets, whichever way they come, with their number', async () => {
    const { get, signIn, audit } = await start({ ...TOKENS, proxyKey: 'ab'.repeat(32) });
    await get('/api/overview');
    expect(audit()).toEqual([]);
    for (let count = 0; count < 4; count += 1) {
      await get('/api/overview', bearer('no'));
      await get('/api/overview', { 'x-parley-user': 'no' });
      await signIn('no');
    }
    expect(audit().map(({ what, outcome, from, times }) => [what, outcome, from, times])).toEqual([
      ['signed_in', 'refused', '127.0.0.1', undefined],
      ['signed_in', 'refused', '127.0.0.1', 10],
    ]);
  });

  it('repeats no token and nothing that is no id', async () => {
    const { get, signIn, lines } = await start(TOKENS);
    await signIn('CANARY-token');
    await get('/api/calls/CANARY%0A%22id', bearer(VIEW));
    expect(JSON.stringify(lines)).not.toMatch(/CANARY|vvvv|llll/u);
  });
});
