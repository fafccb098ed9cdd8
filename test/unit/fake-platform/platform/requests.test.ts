// What holds for every request to the administration side, whatever it asks for.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAdminApi } from '../../../../src/fake-platform/platform/admin-api.ts';
import { flushMicrotasks } from '../../../support/fake-clock.ts';
import { until } from '../../../support/until.ts';
import { descriptions, ORG, profile, REGISTRATION, RunningApi } from './running-api.ts';

let running: RunningApi;
beforeEach(async () => {
  running = await RunningApi.start();
});
afterEach(async () => {
  await running.close();
});

describe('a refusal', () => {
  it('has message, errors and a tracking id, which is in the header and in the journal, too', async () => {
    const { status, headers, json } = await running.ask('GET /dataSources');
    expect(status).toBe(401);
    expect(json).toEqual({
      message: 'the access token is missing or not valid',
      trackingId: expect.stringMatching(/^ROUTER_[0-9A-F-]{36}$/u) as string,
      errors: [{ description: 'the access token is missing or not valid' }],
    });
    expect(headers.get('trackingid')).toBe(json['trackingId']);
    expect(running.api.journal.entries).toEqual([
      {
        method: 'GET',
        route: 'GET /dataSources',
        path: '/dataSources',
        status: 401,
        isAnswered: true,
        trackingId: json['trackingId'],
        atMs: running.clock.nowMs(),
      },
    ]);
  });

  it.each([
    ['404 for a path that there is not', 'GET /nothing', {}, 404],
    ['404 for a path in another case (U-13)', 'GET /datasources', {}, 404],
    ['404 outside of the base', 'GET /../nothing', {}, 404],
    ['405 for a method that the path does not have', 'PATCH /dataSources', {}, 405],
    ['405 whatever the body', 'PUT /dataSources', { body: 'x', headers: { 'content-type': 'text/plain' } }, 405],
    ['415 for another media type', 'POST /dataSources', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    ['415 for a form where JSON belongs', 'POST /dataSources', { form: { a: 'b' } }, 415],
    ['415 without a media type', 'POST /dataSources', {}, 415],
    ['400 for bad JSON', 'POST /dataSources', { body: '{', headers: { 'content-type': 'application/json' } }, 400],
    ['400 for no object', 'POST /dataSources', { json: [] }, 400],
    ['413 for a long body', 'POST /dataSources', { json: { audience: 'x'.repeat(70_000) } }, 413],
  ])('is %s', async (_what, question, more, status) => {
    const token = await running.serviceToken();
    const refused = await running.ask(question, { token, ...more });
    expect(refused.status).toBe(status);
    expect(Object.keys(refused.json).sort()).toEqual(['errors', 'message', 'trackingId']);
    expect(refused.headers.get('trackingid')).toBe(refused.json['trackingId']);
  });

  it('names the methods that there are', async () => {
    expect((await running.ask('PATCH /dataSources')).headers.get('allow')).toBe('GET, POST');
  });

  it.each(['', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer no'])('is 401 for the authorization %j', async (authorization) => {
    expect((await running.ask('GET /people/me', { headers: { authorization } })).status).toBe(401);
  });

  it('R-13 quotes nothing of what was sent', async () => {
    const token = await running.serviceToken();
    const refused = await running.ask('POST /dataSources', {
      token,
      json: { ...REGISTRATION, nonce: 'n0nce', status: 's3cret', url: 'h0st' },
    });
    expect(refused.status).toBe(400);
    expect(refused.text).not.toMatch(/n0nce|s3cret|h0st/u);
  });
});

describe('the rate limit', () => {
  it('R-11 refuses a client that asks too often within a minute, and says when to come again', async () => {
    const { access_token: token } = running.api.logIn();
    running.api.switches.requestsPerMinute = 3;
    for (let count = 0; count < 3; count += 1) {
      expect((await running.ask('GET /people/me', { token })).status).toBe(200);
      running.clock.advance(10_000);
    }
    const refused = await running.ask('GET /people/me', { token });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('30');
    const other = running.api.logIn(running.api.apps.addIntegration()).access_token;
    expect((await running.ask('GET /people/me', { token: other })).status).toBe(200);
    running.clock.advance(29_999);
    expect((await running.ask('GET /people/me', { token })).headers.get('retry-after')).toBe('1');
    running.clock.advance(1);
    expect((await running.ask('GET /people/me', { token })).status).toBe(200);
    expect((await running.ask('GET /people/me', { token })).status).toBe(429);
  });

  it('is 300 by default, counts clients at the token endpoint by what they call themselves, and can be off', async () => {
    expect(running.api.switches.requestsPerMinute).toBe(300);
    running.api.switches.requestsPerMinute = 1;
    const ask = async (clientId: string): Promise<number> =>
      (await running.ask(`POST ${running.api.tokenUrl}`, { form: { client_id: clientId } })).status;
    expect([await ask('a'), await ask('a'), await ask('b')]).toEqual([400, 429, 400]);
    running.api.switches.requestsPerMinute = 0;
    expect([await ask('a'), await ask('a'), await ask('a')]).toEqual([400, 400, 400]);
  });
});

describe('ordered faults', () => {
  const register = (token: string): ReturnType<RunningApi['ask']> => running.ask('POST /dataSources', { token, json: REGISTRATION });

  it('R-11 answer with another status for so many requests of one route, and then no more', async () => {
    const token = await running.serviceToken();
    running.api.faults.add('POST /dataSources', { kind: 'answer', status: 503, retryAfterSeconds: 7 }, 2);
    running.api.faults.add('any', { kind: 'answer', status: 423, message: 'locked' });
    const first = await register(token);
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '7']);
    expect((await register(token)).status).toBe(503);
    const any = await register(token);
    expect([any.status, any.json['message']]).toEqual([423, 'locked']);
    expect((await register(token)).status).toBe(200);
    expect(running.api.dataSources(ORG)).toHaveLength(1);
    expect(running.api.journal.count('POST /dataSources')).toBe(4);
  });

  it('leave other routes alone, and can be forgotten', async () => {
    const token = await running.serviceToken();
    running.api.faults.add('POST /dataSources', { kind: 'answer', status: 500 }, Infinity);
    expect((await running.ask('GET /dataSources', { token })).status).toBe(200);
    for (let count = 0; count < 3; count += 1) expect((await register(token)).status).toBe(500);
    running.api.faults.clear();
    expect((await register(token)).status).toBe(200);
    for (let count = 0; count < 100; count += 1) running.api.faults.add('any', { kind: 'cut' });
    expect(() => {
      running.api.faults.add('any', { kind: 'cut' });
    }).toThrow(RangeError);
  });

  it('R-12 lose the answer after the change was made', async () => {
    const token = await running.serviceToken();
    running.api.faults.add('POST /dataSources', { kind: 'lost_answer' });
    await expect(register(token)).rejects.toThrow();
    expect(running.api.dataSources(ORG)).toHaveLength(1);
    expect(running.api.journal.entries.at(-1)).toMatchObject({ route: 'POST /dataSources', status: 200, isAnswered: false });
  });

  it('R-12 answer with another status after the change was made', async () => {
    const token = await running.serviceToken();
    running.api.faults.add('POST /dataSources', { kind: 'refused_after_all', status: 503 });
    const { status, headers, json } = await register(token);
    expect([status, headers.get('retry-after'), json['message']]).toEqual([503, null, 'ordered by a test']);
    expect(running.api.dataSources(ORG)).toHaveLength(1);
    expect(running.api.journal.entries.at(-1)).toMatchObject({ status: 503, isAnswered: true });
  });

  it('lose the answer of a refusal, too', async () => {
    running.api.faults.add('POST /dataSources', { kind: 'lost_answer' });
    await expect(register('no token')).rejects.toThrow();
    expect(running.api.journal.entries.at(-1)).toMatchObject({ status: 401, isAnswered: false });
  });

  it('R-12 cut the connection before anything was done', async () => {
    const token = await running.serviceToken();
    running.api.faults.add('POST /dataSources', { kind: 'cut' });
    await expect(register(token)).rejects.toThrow();
    expect(running.api.dataSources(ORG)).toEqual([]);
    expect(running.api.journal.entries.at(-1)).toMatchObject({ status: 0, isAnswered: false });
  });

  it('hang until the platform closes', async () => {
    const token = await running.serviceToken();
    running.api.faults.add('POST /dataSources', { kind: 'hang' });
    let isOver = false;
    const hanging = register(token).then(
      () => 'answered',
      () => {
        isOver = true;
        return 'broken';
      },
    );
    await until('the request has come', () => running.api.journal.count('POST /dataSources') === 1);
    await flushMicrotasks();
    expect(isOver).toBe(false);
    await running.close();
    expect(await hanging).toBe('broken');
  });

  it('hang until the client gives up', async () => {
    running.api.faults.add('GET /people/me', { kind: 'hang' });
    const signal = new AbortController();
    const hanging = fetch(`${running.api.baseUrl}/people/me`, { signal: signal.signal });
    await until('the request has come', () => running.api.journal.count('GET /people/me') === 1);
    signal.abort();
    await expect(hanging).rejects.toThrow();
    expect((await running.ask('GET /people/me')).status).toBe(401);
  });
});

describe('the journal', () => {
  it('R-13 holds neither query nor body nor header, and only so many requests', async () => {
    const { access_token: token } = running.api.logIn();
    await running.ask('GET /people/me?secret=s3cret', { token });
    await running.ask(`GET /${'x'.repeat(500)}`, { token });
    expect(JSON.stringify(running.api.journal.entries)).not.toMatch(/s3cret/u);
    expect(JSON.stringify(running.api.journal.entries)).not.toContain(token);
    expect(running.api.journal.entries.map(({ route, path }) => [route, path.length])).toEqual([
      ['GET /people/me', 10],
      [undefined, 200],
    ]);
    running.api.switches.requestsPerMinute = 0;
    const [entry] = running.api.journal.entries;
    if (entry === undefined) throw new Error('the journal is empty');
    for (let count = 0; count < 1000; count += 1) running.api.journal.add({ ...entry, path: '/filler' });
    expect(running.api.journal.entries).toHaveLength(1000);
    expect(new Set(running.api.journal.entries.map(({ path }) => path))).toEqual(new Set(['/filler']));
    running.api.journal.clear();
    expect(running.api.journal.entries).toEqual([]);
  });
});

describe('the administration side', () => {
  it('is reached on this machine only, below the path of the profile', () => {
    expect(running.api.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/u);
    expect(running.api.authorizeUrl).toBe(`${running.api.baseUrl}/authorize`);
    expect(running.api.tokenUrl).toBe(`${running.api.baseUrl}/access_token`);
  });

  it('does not start on a port that is taken, nor with a profile that lacks its names', async () => {
    const issuer = { issueToken: () => Promise.resolve('') };
    const port = Number(new URL(running.api.origin).port);
    await expect(startAdminApi({ profile, issuer, port })).rejects.toMatchObject({ code: 'listen_failed' });
    const { webhook: _webhook, ...without } = profile;
    await expect(startAdminApi({ profile: without, issuer })).rejects.toMatchObject({ code: 'profile_invalid' });
    const oauth = { integrationScopes: [], serviceAppScopes: profile.oauth?.serviceAppScopes ?? [] };
    await expect(startAdminApi({ profile: { ...profile, oauth }, issuer })).rejects.toThrow('no scope that ends in applications_token');
  });

  it('R-06 registers no app with a domain that is not bare', () => {
    for (const domain of ['https://a.example', 'a.example:443', 'a.example/x', '*.a.example', '']) {
      expect(() => running.api.apps.addServiceApp({ domains: [domain] }), domain).toThrow(RangeError);
    }
  });

  it('answers a request that it cannot read, and goes on', async () => {
    const socket = connect(Number(new URL(running.api.origin).port), '127.0.0.1');
    socket.write('GET /v1/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close');
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 .*"trackingId":"ROUTER_/su);
    expect(descriptions(await running.ask('GET /people/me'))).toHaveLength(1);
  });
});
