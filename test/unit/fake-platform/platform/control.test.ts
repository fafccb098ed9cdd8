import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { JournalEntry } from '../../../../src/fake-platform/platform/journal.ts';
import type { Delivery } from '../../../../src/fake-platform/platform/deliveries.ts';
import { CONTROL } from '../../../../src/fake-platform/platform/control-wire.ts';
import { startIssuer } from '../../../../src/fake-platform/platform/issuer.ts';
import { claimsOf, ORG, OTHER_ORG, REGISTRATION, RunningApi, profile, type Reply } from './running-api.ts';

const KEY = randomBytes(32).toString('hex');
const MINUTE = 60_000;

let running: RunningApi;
let seen: (JournalEntry | Delivery)[];

beforeEach(async () => {
  seen = [];
  const observer = {
    requested: (entry: JournalEntry) => void seen.push(entry),
    delivered: (delivery: Delivery) => void seen.push(delivery),
  };
  running = await RunningApi.start({ controlKey: KEY, observer });
});
afterEach(async () => {
  await running.close();
});

function control(name: string, json: unknown = {}, token: string | null = KEY): Promise<Reply> {
  return running.ask(`POST ${running.api.origin}/_control/${name}`, { json, ...(token === null ? {} : { token }) });
}

/** A data source that the service app of an organization has registered; gives back the token for further requests. */
async function registered(organizationId = ORG, nonce = 'CANARY-nonce'): Promise<string> {
  const token = await running.serviceToken(organizationId);
  const { status } = await running.ask('POST /dataSources', { token, json: { ...REGISTRATION, nonce } });
  expect(status).toBe(200);
  return token;
}

describe('the control of the fake platform', () => {
  it.each(Object.keys(CONTROL))('%s is for who has the key, and for nobody else', async (name) => {
    for (const token of [null, 'another', KEY.slice(1), running.api.logIn().access_token]) {
      expect((await control(name, {}, token)).status).toBe(401);
    }
    expect(running.api.journal.entries.map(({ asker }) => asker)).toEqual([undefined, undefined, undefined, undefined]);
    expect((await control(name, { unknown: 1 })).status).toBe(400);
    expect(running.api.journal.entries.at(-1)?.asker).toEqual({ kind: 'control', organizationId: undefined });
  });

  it('is not there without a key', async () => {
    const closed = await RunningApi.start();
    const answer = await closed.ask(`POST ${closed.api.origin}/_control/status`, { token: KEY, json: {} });
    await closed.close();
    expect(answer.status).toBe(404);
  });

  it('shows how everything is, without a token, nonce or secret', async () => {
    await registered();
    const { access_token: token } = running.api.logIn();
    const [resource, targetUrl] = [profile.webhook?.appResource, 'https://hooks.example/webhooks'];
    await running.ask('POST /webhooks', { token, json: { name: 'n', targetUrl, resource, event: 'authorized', secret: 'CANARY-secret' } });
    await control('break', { kind: '429', route: 'GET /webhooks', times: 2 });
    await control('break', { kind: 'timeout' });
    const { status, json, text } = await control('status');
    expect(status).toBe(200);
    expect(text).not.toContain('CANARY');
    expect(text).not.toContain('header.claims.signature');
    expect(json).toEqual({
      organizations: [{ organizationId: ORG, authorizedAt: new Date(running.clock.nowMs()).toISOString() }],
      dataSources: [
        {
          ...{ id: running.api.dataSources(ORG)[0]?.id, organizationId: ORG, transport: 'grpc', url: REGISTRATION.url },
          ...{ status: 'active', errorMessage: '', tokenExpiryTime: new Date(running.clock.nowMs() + 60 * MINUTE).toISOString() },
          updatedAt: new Date(running.clock.nowMs()).toISOString(),
        },
      ],
      webhooks: [{ id: running.api.webhooks()[0]?.id, event: 'authorized', targetUrl, status: 'active' }],
      faults: [
        { kind: '429', route: 'GET /webhooks', left: 2 },
        { kind: 'timeout', route: 'any', left: 1 },
      ],
      skewMs: 0,
    });
    expect((await control('mend')).json).toEqual({ faults: 2 });
    expect((await control('status')).json).toMatchObject({ faults: [], skewMs: 0 });
  });

  it('authorizes and deauthorizes an organization in any spelling (H-02)', async () => {
    const encoded = running.api.ids.encode('ORGANIZATION', ORG);
    expect((await control('authorize', { organizationId: encoded })).json).toEqual({ organizationId: ORG, listeners: 0 });
    expect(running.api.authorizations()).toMatchObject([{ organizationId: ORG }]);
    expect((await control('deauthorize', { organizationId: ORG })).json).toEqual({ organizationId: ORG, listeners: 0 });
    expect(running.api.authorizations()).toEqual([]);
    expect((await control('deauthorize', { organizationId: ORG })).status).toBe(404);
    expect((await control('authorize', { organizationId: 'nobody' })).status).toBe(400);
  });

  it('gives the token that callers present now, and says why there is none', async () => {
    const refused = async (): Promise<unknown> => (await control('token', { organizationId: ORG })).json['message'];
    expect(await refused()).toMatch(/has no data source/u);
    const token = await registered();
    await registered(OTHER_ORG);
    const [first] = running.api.dataSources(ORG);
    expect((await control('token', { organizationId: ORG })).json).toEqual({
      ...{ organizationId: ORG, dataSourceId: first?.id, tokenExpiryTime: first?.tokenExpiryTime, token: 'header.claims.signature' },
    });
    // J-03
    running.clock.advance(60 * MINUTE);
    expect(await refused()).toMatch(/has ended/u);
    await running.ask(`PUT /dataSources/${first?.id ?? ''}`, { token, json: { ...REGISTRATION, nonce: 'another' } });
    expect((await control('token', { organizationId: ORG })).status).toBe(200);
    expect((await control('break', { kind: 'data-source', organizationId: ORG, errorMessage: 'too old' })).json).toEqual({ count: 1 });
    expect(await refused()).toMatch(/is disabled/u);
    expect(running.api.dataSources(OTHER_ORG)).toMatchObject([{ status: 'active' }]);
  });

  it('gives the token for gRPC calls, or for those of the transport that is named, whatever was registered after it', async () => {
    const token = await registered();
    const [grpc] = running.api.dataSources(ORG);
    const named = (transport: string): Promise<Reply> => control('token', { organizationId: ORG, transport });
    expect((await named('websocket')).json['message']).toMatch(/has no websocket data source/u);
    const json = { ...REGISTRATION, schemaId: profile.schemas.websocket, nonce: 'of-the-socket', url: 'ws://127.0.0.1:8088' };
    expect((await running.ask('POST /dataSources', { token, json })).status).toBe(200);
    const socket = running.api.dataSources(ORG)[1];
    expect((await control('token', { organizationId: ORG })).json).toMatchObject({ dataSourceId: grpc?.id });
    expect((await named('grpc')).json).toMatchObject({ dataSourceId: grpc?.id });
    expect((await named('websocket')).json).toMatchObject({ dataSourceId: socket?.id });
    expect((await named('post')).status).toBe(400);
    expect((await running.ask(`DELETE /dataSources/${grpc?.id ?? ''}`, { token })).status).toBe(204);
    expect((await named('grpc')).json['message']).toMatch(/has no grpc data source/u);
    expect((await control('token', { organizationId: ORG })).json).toMatchObject({ dataSourceId: socket?.id });
  });

  it('J-2E forges a token like the one for calls over the transport that is named', async () => {
    const issuer = await startIssuer({ profile });
    onTestFinished(() => issuer.close());
    const forging = await RunningApi.start({ controlKey: KEY, issuer });
    onTestFinished(() => forging.close());
    const token = await forging.serviceToken();
    const ofSocket = { schemaId: profile.schemas.websocket, url: 'ws://127.0.0.1:8088' };
    for (const own of [{}, ofSocket]) await forging.ask('POST /dataSources', { token, json: { ...REGISTRATION, ...own } });
    const forged = async (more: object): Promise<unknown> => {
      const json = { organizationId: ORG, claims: { aud: 'others' }, ...more };
      const answer = await forging.ask(`POST ${forging.api.origin}/_control/forge`, { token: KEY, json });
      return claimsOf(answer.json['token']);
    };
    const claims = (schemaId: string) => ({ aud: 'others', [profile.jws.claims.schema]: schemaId });
    expect(await forged({})).toMatchObject(claims(profile.schemas.grpc));
    expect(await forged({ transport: 'websocket' })).toMatchObject(claims(profile.schemas.websocket));
  });

  it.each([
    [{ kind: '500' }, { status: 500, retryAfter: null }],
    [
      { kind: '429', retryAfterSeconds: 7 },
      { status: 429, retryAfter: '7' },
    ],
  ])('lets the next request meet %j, and the one after it nothing', async (order, { status, retryAfter }) => {
    await control('break', { ...order, route: 'GET /people/me' });
    const { access_token: token } = running.api.logIn();
    expect((await running.ask('GET /webhooks', { token })).status).toBe(200);
    const met = await running.ask('GET /people/me', { token });
    expect([met.status, met.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect((await running.ask('GET /people/me', { token })).status).toBe(200);
  });

  it('takes only so many faults at once', async () => {
    for (let count = 0; count < 100; count += 1) running.api.faults.add('any', { kind: 'cut' });
    const refused = await control('break', { kind: '500' });
    expect([refused.status, refused.json['message']]).toEqual([409, 'at most 100 faults can wait']);
  });

  it('carries a request out and loses its answer (R-12), but never that of a command', async () => {
    const token = await running.serviceToken();
    await control('break', { kind: 'lost-answer' });
    expect((await control('status')).status).toBe(200);
    await expect(running.ask('POST /dataSources', { token, json: REGISTRATION })).rejects.toThrow();
    expect(running.api.dataSources(ORG)).toHaveLength(1);
    expect(seen.at(-1)).toMatchObject({ status: 200, isAnswered: false, asker: { kind: 'service_app', organizationId: ORG } });
  });

  it('makes the clock wrong, and right again', async () => {
    await control('break', { kind: 'clock-skew', seconds: -90 });
    const date = (await running.ask('GET /nothing')).headers.get('date') ?? '';
    expect(Date.parse(date)).toBe(Math.floor(running.clock.nowMs() / 1000) * 1000 - 90_000);
    expect((await control('mend')).json).toEqual({ faults: 0 });
    expect(running.api.switches.skewMs).toBe(0);
  });

  it('ends the tokens of one organization or of everybody', async () => {
    const [one, other] = [await running.serviceToken(), await running.serviceToken(OTHER_ORG)];
    const { access_token: own } = running.api.logIn();
    const statuses = async (): Promise<readonly number[]> =>
      Promise.all([one, other, own].map(async (token) => (await running.ask('GET /people/me', { token })).status));
    expect((await control('break', { kind: 'refresh-tokens', organizationId: ORG })).json).toEqual({ count: 2 });
    expect(await statuses()).toEqual([401, 200, 200]);
    await control('break', { kind: 'refresh-tokens' });
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  it('notifies its observer of requests, with who asked, and of deliveries with their end', async () => {
    const { access_token: token } = running.api.logIn();
    const targetUrl = `${running.api.origin}/nobody-takes-it`;
    const json = { name: 'n', targetUrl, resource: profile.webhook?.appResource, event: 'authorized' };
    await running.ask('POST /webhooks', { token, json });
    expect((await control('authorize', { organizationId: ORG })).json).toMatchObject({ listeners: 1 });
    await running.api.deliveries.settled();
    running.api.switches.delivery.copies = 0;
    await control('authorize', { organizationId: ORG });
    expect(seen.map((one) => ('asker' in one ? [one.path, one.asker?.kind] : [one.targetUrl, one.outcome]))).toEqual([
      ['/webhooks', 'integration'],
      ['/_control/authorize', 'control'],
      ['/nobody-takes-it', undefined],
      [targetUrl, { kind: 'answered', status: 404 }],
      [targetUrl, { kind: 'dropped' }],
      ['/_control/authorize', 'control'],
    ]);
  });
});
