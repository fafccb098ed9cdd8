import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startIssuer, type Issuer } from '../../../../src/fake-platform/platform/issuer.ts';
import { claimsOf, descriptions, ORG, OTHER_ORG, profile, REGISTRATION, RunningApi, type Reply } from './running-api.ts';

/** Of a data source for calls over WebSocket. */
const OF_SOCKET = { schemaId: profile.schemas.websocket };

let issuer: Issuer;
let running: RunningApi;
let token = '';
beforeAll(async () => {
  issuer = await startIssuer({ profile });
});
afterAll(async () => {
  await issuer.close();
});
beforeEach(async () => {
  running = await RunningApi.start({ issuer, serviceApp: { domains: ['127.0.0.1', 'bots.example'] } });
  token = await running.serviceToken();
});
afterEach(async () => {
  await running.close();
});

const register = (changes: Readonly<Record<string, unknown>> = {}): Promise<Reply> =>
  running.ask('POST /dataSources', { token, json: { ...REGISTRATION, ...changes } });

async function registered(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { json, text } = await register(changes);
  if (typeof json['id'] !== 'string') throw new Error(`not registered: ${text}`);
  return json['id'];
}

const update = (id: string, changes: Readonly<Record<string, unknown>> = {}): Promise<Reply> =>
  running.ask(`PUT /dataSources/${id}`, { token, json: { ...REGISTRATION, nonce: 'nonce-2', ...changes } });

function items({ json }: Reply): readonly Readonly<Record<string, unknown>>[] {
  return json['items'] as readonly Readonly<Record<string, unknown>>[];
}

describe('a registration', () => {
  it('is answered with the whole record and a token that the published key verifies', async () => {
    const { status, json } = await register({ tokenLifetimeMinutes: 1440 });
    expect(status).toBe(200);
    const now = new Date(running.clock.nowMs());
    const expiry = new Date(running.clock.nowMs() + 86_400_000);
    const [record] = running.api.dataSources(ORG);
    expect(json).toEqual({
      ...REGISTRATION,
      tokenLifetimeMinutes: 1440,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/u) as string,
      status: 'active',
      applicationId: running.api.serviceApp.clientId,
      orgId: ORG,
      createdAt: now.toISOString(),
      updatedAt: now.toISOString(),
      createdBy: record?.createdBy,
      jwsToken: record?.jwsToken,
      tokenExpiryTime: expiry.toISOString(),
    });
    const { payload } = await jwtVerify(String(json['jwsToken']), createRemoteJWKSet(new URL(issuer.keySetUrl)), { currentDate: now });
    expect(payload).toEqual({
      iss: issuer.issuer,
      aud: REGISTRATION.audience,
      sub: REGISTRATION.subject,
      jti: REGISTRATION.nonce,
      iat: now.getTime() / 1000,
      exp: expiry.getTime() / 1000,
      [profile.jws.claims.url]: REGISTRATION.url,
      [profile.jws.claims.schema]: REGISTRATION.schemaId,
      [profile.jws.claims.org]: ORG,
    });
  });

  it.each(Object.keys(REGISTRATION))('R-01 needs %s', async (field) => {
    const refused = await register({ [field]: undefined });
    expect(refused.status).toBe(400);
    expect(descriptions(refused)).toEqual([expect.stringMatching(new RegExp(`^${field}: `, 'u'))]);
  });

  it.each([
    ['J-01 a lifetime of 0', { tokenLifetimeMinutes: 0 }],
    ['J-01 a lifetime of 1441', { tokenLifetimeMinutes: 1441 }],
    ['J-01 a lifetime of half minutes', { tokenLifetimeMinutes: 1.5 }],
    ['R-05 a lifetime as text', { tokenLifetimeMinutes: '60' }],
    ['R-05 the schema as an array', { schemaId: [REGISTRATION.schemaId] }],
    ['a schema that there is not', { schemaId: ORG }],
    ['an empty nonce', { nonce: '' }],
    ['a member that there is not', { tokenLifeMinutes: 60 }],
    ['a status, which only an update has', { status: 'active' }],
    ['R-06 a host outside of the domains', { url: 'https://bots.example.org' }],
    ['R-06 a host that only ends like a domain', { url: 'https://evilbots.example' }],
    ['an address without TLS', { url: 'http://bots.example' }],
    ['another scheme', { url: 'ftp://bots.example' }],
    ['an address with a user', { url: 'https://me@bots.example' }],
    ['no address', { url: 'bots.example' }],
    ['W-03 an address of WebSocket with the schema of gRPC', { url: 'wss://bots.example' }],
    ['W-03 an address of gRPC with the schema of WebSocket', { ...OF_SOCKET, url: 'https://bots.example' }],
    ['W-03 an address of WebSocket with a path', { ...OF_SOCKET, url: 'wss://bots.example/v1/va' }],
    ['W-03 an address of WebSocket with a slash at its end', { ...OF_SOCKET, url: 'wss://bots.example/' }],
    ['W-03 an address of WebSocket with a user', { ...OF_SOCKET, url: 'wss://me@bots.example' }],
    ['W-03 an address of WebSocket without TLS, but on this machine', { ...OF_SOCKET, url: 'ws://bots.example' }],
    ['R-06 an address of WebSocket outside of the domains', { ...OF_SOCKET, url: 'wss://bots.example.org' }],
  ])('is refused for %s, and nothing is registered', async (_what, changes) => {
    expect((await register(changes)).status).toBe(400);
    expect(running.api.dataSources(ORG)).toEqual([]);
  });

  it.each([
    ['https://bots.example', {}],
    ['https://a.b.bots.example:8443', {}],
    ['http://127.0.0.1:1', {}],
    ['wss://bots.example', OF_SOCKET],
    ['wss://a.b.bots.example:8443', OF_SOCKET],
    ['ws://127.0.0.1:1', OF_SOCKET],
  ])('R-06 W-03 may have the address %s with the schema of its transport', async (url, schema) => {
    const { status, json } = await register({ ...schema, url, tokenLifetimeMinutes: 1 });
    expect(status).toBe(200);
    expect(claimsOf(json['jwsToken'])[profile.jws.claims.url]).toBe(url);
  });

  it('W-03 says what is wrong with the form of an address', async () => {
    const said = async (changes: Readonly<Record<string, unknown>>) => descriptions(await register(changes));
    expect(await said({ ...OF_SOCKET, url: 'wss://bots.example/v1/va' })).toEqual(['url: must be wss://host or wss://host:port alone']);
    expect(await said({ url: 'wss://bots.example' })).toEqual(['url: must be https']);
  });

  it('R-12 is not idempotent: the same one twice is two', async () => {
    expect(await registered()).not.toBe(await registered());
    expect(running.api.dataSources(ORG)).toHaveLength(2);
  });
});

describe('an update', () => {
  it('J-02 brings a fresh token for a fresh nonce, and the old one is kept for those who present it still (J-05)', async () => {
    const id = await registered();
    const [before] = running.api.dataSources(ORG);
    running.clock.advance(30_000);
    const { status, json } = await update(id, { tokenLifetimeMinutes: 10, audience: 'others' });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      id,
      nonce: 'nonce-2',
      audience: 'others',
      createdAt: before?.createdAt,
      updatedAt: new Date(running.clock.nowMs()).toISOString(),
      tokenExpiryTime: new Date(running.clock.nowMs() + 600_000).toISOString(),
    });
    expect(claimsOf(json['jwsToken'])).toMatchObject({ jti: 'nonce-2', aud: 'others', exp: running.clock.nowMs() / 1000 + 600 });
    expect(running.api.dataSources(ORG)[0]?.previousJwsToken).toBe(before?.jwsToken);
    expect(json).not.toHaveProperty('previousJwsToken');
  });

  it('R-04 brings no fresh token for the same nonce', async () => {
    const id = await registered();
    const before = running.api.dataSources(ORG)[0]?.jwsToken;
    running.clock.advance(30_000);
    expect((await update(id, { nonce: REGISTRATION.nonce })).json['jwsToken']).toBe(before);
  });

  it('R-02 needs the whole body, of which schema, status and message may be left out', async () => {
    const id = await registered();
    expect((await update(id, { schemaId: undefined })).status).toBe(200);
    for (const field of ['audience', 'subject', 'nonce', 'url', 'tokenLifetimeMinutes']) {
      expect((await update(id, { [field]: undefined })).status, field).toBe(400);
    }
    running.api.switches.updates = 'partial';
    const { status, json } = await running.ask(`PUT /dataSources/${id}`, { token, json: { nonce: 'nonce-3' } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...REGISTRATION, nonce: 'nonce-3' });
  });

  it('R-02 may leave the schema as it was', async () => {
    const id = await registered();
    const other = profile.schemas.websocket;
    running.api.switches.schemaChanges = 'ignored';
    expect((await update(id, { schemaId: other })).json).toMatchObject({ schemaId: REGISTRATION.schemaId, nonce: 'nonce-2' });
    running.api.switches.schemaChanges = 'taken';
    // W-03: the address of one transport does not do for the other.
    expect((await update(id, { schemaId: other })).status).toBe(400);
    expect((await update(id, { schemaId: other, url: 'wss://bots.example' })).json).toMatchObject({ schemaId: other });
  });

  it('R-03 disables only with a message, and needs none to make active again', async () => {
    const id = await registered();
    const refused = await update(id, { status: 'disabled' });
    expect(refused.status).toBe(400);
    expect(descriptions(refused)).toEqual(['errorMessage: is needed to disable a data source']);
    const disabled = await update(id, { status: 'disabled', errorMessage: 'back at nine' });
    expect(disabled.json).toMatchObject({ status: 'disabled', errorMessage: 'back at nine' });
    expect((await update(id, { status: 'disabled' })).json).toMatchObject({ status: 'disabled', errorMessage: 'back at nine' });
    const active = await update(id, { status: 'active' });
    expect(active.json['status']).toBe('active');
    expect(active.json).not.toHaveProperty('errorMessage');
    expect((await update(id, { status: 'error' })).status).toBe(400);
  });

  it('is held to the same rules as a registration', async () => {
    const id = await registered();
    expect((await update(id, { url: 'https://elsewhere.example' })).status).toBe(400);
    expect((await update(id, { tokenLifetimeMinutes: 1441 })).status).toBe(400);
    expect((await update(id, { schemaId: ORG })).status).toBe(400);
    expect((await update(id, { more: 1 })).status).toBe(400);
    expect(running.api.dataSources(ORG)[0]?.nonce).toBe(REGISTRATION.nonce);
  });

  it('learns that the platform has disabled the data source', async () => {
    const id = await registered();
    expect(running.api.disableDataSource(id, 'unreachable')).toBe(true);
    expect(running.api.disableDataSource(ORG, 'unreachable')).toBe(false);
    const { json } = await running.ask(`GET /dataSources/${id}`, { token });
    expect(json).toMatchObject({ status: 'disabled', errorMessage: 'unreachable' });
  });
});

describe('reading and deleting', () => {
  it('lists with a slash and without, oldest first, also after an update', async () => {
    const ids = [await registered(), await registered(), await registered()];
    await update(ids[0] ?? '');
    for (const path of ['/dataSources', '/dataSources/']) {
      expect(items(await running.ask(`GET ${path}`, { token })).map(({ id }) => id)).toEqual(ids);
    }
    running.api.switches.drift.listPath = 'slash';
    expect((await running.ask('GET /dataSources', { token })).status).toBe(404);
    expect((await running.ask('GET /dataSources/', { token })).status).toBe(200);
  });

  it('shows and changes what is of the token’s organization only', async () => {
    const id = await registered();
    const foreign = await running.serviceToken(OTHER_ORG);
    expect(items(await running.ask('GET /dataSources', { token: foreign }))).toEqual([]);
    for (const method of ['GET', 'DELETE'])
      expect((await running.ask(`${method} /dataSources/${id}`, { token: foreign })).status).toBe(404);
    const put = await running.ask(`PUT /dataSources/${id}`, { token: foreign, json: REGISTRATION });
    expect(put.status).toBe(404);
    expect(running.api.dataSources(ORG)).toHaveLength(1);
  });

  it('L-11 shows, but does not let change, what another app of the organization has registered', async () => {
    const id = await registered();
    const other = await running.serviceToken(ORG, running.api.apps.addServiceApp());
    expect((await running.ask(`GET /dataSources/${id}`, { token: other })).json['applicationId']).toBe(running.api.serviceApp.clientId);
    expect((await running.ask(`PUT /dataSources/${id}`, { token: other, json: REGISTRATION })).status).toBe(403);
    expect((await running.ask(`DELETE /dataSources/${id}`, { token: other })).status).toBe(403);
  });

  it('deletes with 204 and nothing more', async () => {
    const id = await registered();
    const gone = await running.ask(`DELETE /dataSources/${id}`, { token });
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await running.ask(`DELETE /dataSources/${id}`, { token })).status).toBe(404);
    expect((await running.ask(`GET /dataSources/${id}`, { token })).status).toBe(404);
  });

  it('asks for the scopes of reading and writing', async () => {
    const id = await registered();
    const [read = '', write = ''] = profile.oauth?.serviceAppScopes ?? [];
    const reader = await running.serviceToken(ORG, running.api.apps.addServiceApp({ scopes: [read] }));
    const writer = await running.serviceToken(ORG, running.api.apps.addServiceApp({ scopes: [write] }));
    expect((await running.ask('GET /dataSources', { token: reader })).status).toBe(200);
    expect((await running.ask('POST /dataSources', { token: reader, json: REGISTRATION })).status).toBe(403);
    expect((await running.ask(`DELETE /dataSources/${id}`, { token: reader })).status).toBe(403);
    const refused = await running.ask(`GET /dataSources/${id}`, { token: writer });
    expect(refused.status).toBe(403);
    expect(descriptions(refused)).toEqual([`the scope ${read} is needed`]);
    expect((await running.ask('GET /dataSources', { token: running.api.logIn().access_token })).status).toBe(403);
  });

  it('can lose the data sources of an organization that takes its authorization back', async () => {
    await registered();
    running.api.deauthorize(ORG);
    expect(running.api.dataSources(ORG)).toHaveLength(1);
    running.api.authorize(ORG);
    running.api.switches.onDeauthorization = 'delete';
    running.api.deauthorize(ORG);
    expect(running.api.dataSources(ORG)).toEqual([]);
  });
});

describe('drift of the records (R-05)', () => {
  it('R-05 can write schema, lifetime, token and status in older ways, and leave things out', async () => {
    Object.assign(running.api.switches.drift, {
      schemaIdAsArray: true,
      lifetimeAsText: true,
      oldLifetimeName: true,
      jwtToken: true,
      withoutExpiryTime: true,
      withoutNonce: true,
      upperCaseStatus: true,
      created201: true,
    });
    const { status, json } = await register();
    expect(status).toBe(201);
    expect(json).toMatchObject({ schemaId: [REGISTRATION.schemaId], tokenLifeMinutes: '60', status: 'ACTIVE' });
    for (const absent of ['tokenLifetimeMinutes', 'jwsToken', 'tokenExpiryTime', 'nonce']) expect(json).not.toHaveProperty(absent);
    expect(claimsOf(json['jwtToken'])['jti']).toBe(REGISTRATION.nonce);
  });

  it('R-05 can list as a bare array, and with only the few fields of the example', async () => {
    const id = await registered();
    const few = ['DataSource', 'applicationId', 'createdAt', 'createdBy', 'jwsToken', 'orgId'];
    const { drift } = running.api.switches;
    drift.sparseItems = 'without_id';
    expect(Object.keys(items(await running.ask('GET /dataSources', { token }))[0] ?? {}).sort()).toEqual(few);
    drift.sparseItems = 'with_id';
    drift.bareList = true;
    const { text } = await running.ask('GET /dataSources', { token });
    const list = JSON.parse(text) as readonly object[];
    expect(list).toEqual([expect.objectContaining({ id, DataSource: '' })]);
    expect(Object.keys(list[0] ?? {}).sort()).toEqual([...few, 'id'].sort());
  });

  it('writes the times of records and tokens by a clock that is wrong when a switch says so', async () => {
    running.api.switches.skewMs = -120_000;
    const { json, headers } = await register();
    const wrongMs = running.clock.nowMs() - 120_000;
    expect(json['createdAt']).toBe(new Date(wrongMs).toISOString());
    expect(claimsOf(json['jwsToken'])).toMatchObject({ iat: wrongMs / 1000, exp: wrongMs / 1000 + 3600 });
    expect(headers.get('date')).toBe(new Date(wrongMs).toUTCString());
  });
});

describe('schemas', () => {
  it('are those of the profile, for any valid token', async () => {
    for (const any of [token, running.api.logIn(running.api.apps.addIntegration({ scopes: [] })).access_token]) {
      const list = await running.ask('GET /dataSources/schemas', { token: any });
      expect(items(list).map(({ id, protocol, appType }) => [id, protocol, appType])).toEqual([
        [profile.schemas.grpc, 'gRPC', 'serviceApp'],
        [profile.schemas.websocket, 'web-socket', 'serviceApp'],
      ]);
      const one = await running.ask(`GET /dataSources/schemas/${profile.schemas.websocket}`, { token: any });
      expect(one.json).toEqual(items(list)[1]);
    }
    expect((await running.ask(`GET /dataSources/schemas/${ORG}`, { token })).status).toBe(404);
    expect((await running.ask('GET /dataSources/schemas')).status).toBe(401);
  });
});
