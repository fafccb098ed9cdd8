// The whole room against the fake platform, over sockets: what each side has made of the contract on its own must fit.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { IntegrationTokens } from '../../../src/admin/oauth/integration-tokens.ts';
import { login } from '../../../src/admin/oauth/login.ts';
import { TokenRequests } from '../../../src/admin/oauth/token-request.ts';
import { Organizations, organizationsWithTokens, OrgNotRegisteredError, tokensKey } from '../../../src/admin/organizations.ts';
import { platformAddress } from '../../../src/admin/platform-address.ts';
import { encodeId } from '../../../src/admin/platform-id.ts';
import { ApplicationTokens } from '../../../src/admin/rest/application-token.ts';
import { DataSources } from '../../../src/admin/rest/data-sources.ts';
import { RestClient } from '../../../src/admin/rest/rest-client.ts';
import { Schemas } from '../../../src/admin/rest/schemas.ts';
import { Webhooks } from '../../../src/admin/rest/webhooks.ts';
import { oauthTokens } from '../../../src/admin/tokens.ts';
import { loadProfile } from '../../../src/contract/profile.ts';
import { startAdminApi } from '../../../src/fake-platform/platform/admin-api.ts';
import type { InitialSwitches } from '../../../src/fake-platform/platform/switches.ts';
import { startIssuer, type Issuer } from '../../../src/fake-platform/platform/issuer.ts';
import { failureOf, keptLog, MemorySecrets } from '../../support/admin-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { never } from '../../support/voice.ts';

const profile = loadProfile('fake');
const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const CREATE = {
  ...{ audience: 'aud', subject: 'sub', nonce: 'nonce-1', schemaId: profile.schemas.grpc, url: 'https://bots.example/v1' },
  tokenLifetimeMinutes: 60,
};

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer({ profile });
});
afterAll(async () => {
  await issuer.close();
});

async function open(switches: InitialSwitches = {}) {
  const clock = new FakeClock();
  const redirectUri = `http://127.0.0.1:${String(await freePort())}/callback`;
  const api = await startAdminApi({
    ...{ profile, issuer, clock, switches: { consent: 'auto', ...switches } },
    integration: { redirectUris: [redirectUri] },
    serviceApp: { domains: ['bots.example'] },
  });
  onTestFinished(() => api.close());
  const { log, lines } = keptLog();
  const store = new MemorySecrets();
  // Pauses of no length: time stands still.
  const options = { address: platformAddress(profile, api.baseUrl), clock, log, random: () => 0 };
  const idScheme = profile.ids?.urnScheme ?? '';
  const requests = new TokenRequests({ ...options, credentials: api.integration });
  const integration = new IntegrationTokens({ bufferSeconds: 60, store, requests, clock, log });
  const rest = new RestClient({ ...options, tokens: integration });
  const organizations = new Organizations({
    bufferSeconds: 60,
    ...{ store, clock, log, idScheme },
    applications: new ApplicationTokens({ rest, app: api.serviceApp, idScheme, clock }),
    requests: new TokenRequests({ ...options, credentials: api.serviceApp }),
  });
  const logIn = async (): Promise<void> => {
    const scopes = profile.oauth?.integrationScopes ?? [];
    // A browser that agrees to everything.
    const show = (url: string): void => void fetch(url).catch(() => undefined);
    await integration.save(await login({ requests, redirectUri, scopes, clock, show }, never()));
  };
  const orgRest = new RestClient({ ...options, tokens: organizations.tokensOf(encodeId(ORG, 'ORGANIZATION', idScheme)) });
  const dataSources = new DataSources(orgRest, profile.jws.claims);
  return {
    api,
    clock,
    lines,
    store,
    integration,
    organizations,
    logIn,
    dataSources,
    orgRest,
    webhooks: new Webhooks(rest),
    schemas: new Schemas(rest),
  };
}

async function ready(switches: InitialSwitches = {}) {
  const all = await open(switches);
  await all.logIn();
  all.api.authorize(ORG);
  return all;
}

describe('with the fake platform', () => {
  it('somebody logs in, an organization authorizes, and a data source lives its life', async () => {
    const { dataSources, api, clock } = await ready();
    const created = await dataSources.create(CREATE, never());
    expect(created).toMatchObject({ ...CREATE, status: 'active', orgId: ORG, applicationId: api.serviceApp.clientId });
    expect(created.tokenExpiresAtMs).toBe(clock.nowMs() + 3_600_000);
    expect(await dataSources.list(never())).toMatchObject([{ id: created.id, url: CREATE.url }]);
    const renewed = await dataSources.update(created.id, { ...CREATE, nonce: 'nonce-2', status: 'active' }, never());
    expect([renewed.nonce, renewed.jwsToken === created.jwsToken]).toEqual(['nonce-2', false]);
    expect(await dataSources.get(created.id, never())).toEqual(renewed);
    const disabled = await dataSources.update(created.id, { ...CREATE, status: 'disabled', errorMessage: 'maintenance' }, never());
    expect(disabled).toMatchObject({ status: 'disabled', errorMessage: 'maintenance' });
    await dataSources.delete(created.id, never());
    expect(await failureOf(dataSources.get(created.id, never()))).toMatchObject({ code: 'platform_refused', details: { status: 404 } });
    expect(api.dataSources(ORG)).toEqual([]);
  });

  it.each<[string, InitialSwitches]>([
    ['the schema in a list', { drift: { schemaIdAsArray: true } }],
    ['the lifetime as text, under its older name', { drift: { lifetimeAsText: true, oldLifetimeName: true } }],
    [
      'the token under its other name, without nonce and expiry',
      { drift: { jwtToken: true, withoutNonce: true, withoutExpiryTime: true } },
    ],
    ['sparse items in a bare list', { drift: { sparseItems: 'with_id', bareList: true } }],
    ['the status in capitals', { drift: { upperCaseStatus: true } }],
    ['another good status, and a list without the slash', { drift: { created201: true, listPath: 'bare' } }],
    ['a list with the slash only', { drift: { listPath: 'slash' } }],
  ])('records are the same whatever their form: %s (R-05)', async (_, switches) => {
    const { dataSources, clock } = await ready(switches);
    const { id } = await dataSources.create(CREATE, never());
    const expected = { ...CREATE, id, tokenExpiresAtMs: clock.nowMs() + 3_600_000, orgId: ORG };
    expect(await dataSources.get(id, never())).toMatchObject({ ...expected, status: 'active' });
    expect(await dataSources.list(never())).toMatchObject([expected]);
  });

  it('items without an id are an error (L-06)', async () => {
    const { dataSources } = await ready({ drift: { sparseItems: 'without_id' } });
    await dataSources.create(CREATE, never());
    expect((await failureOf(dataSources.list(never()))).code).toBe('platform_answer_invalid');
  });

  it('a registration whose answer is lost is made once, and said to be uncertain (R-12)', async () => {
    const { dataSources, api } = await ready();
    api.faults.add('POST /dataSources', { kind: 'lost_answer' });
    expect(await failureOf(dataSources.create(CREATE, never()))).toMatchObject({ code: 'platform_unavailable', mayHaveHappened: true });
    expect(await dataSources.list(never())).toHaveLength(1);
  });

  it('a registration that is answered 503 without a time to come back is made once, and said to be uncertain (R-12)', async () => {
    const { dataSources, api } = await ready();
    api.faults.add('POST /dataSources', { kind: 'refused_after_all', status: 503 });
    expect(await failureOf(dataSources.create(CREATE, never()))).toMatchObject({ status: 503, mayHaveHappened: true });
    expect([(await dataSources.list(never())).length, api.journal.count('POST /dataSources')]).toEqual([1, 1]);
  });

  it('a removal whose answer is lost is a removal', async () => {
    const { dataSources, api, clock } = await ready();
    const { id } = await dataSources.create(CREATE, never());
    api.faults.add('DELETE /dataSources/:id', { kind: 'lost_answer' });
    await moving(clock, dataSources.delete(id, never()));
    expect(api.dataSources(ORG)).toEqual([]);
  });

  it('a platform in trouble is asked again', async () => {
    const { dataSources, api, clock } = await ready();
    api.faults.add('GET /dataSources', { kind: 'answer', status: 503, retryAfterSeconds: 2 });
    api.faults.add('GET /dataSources', { kind: 'cut' });
    expect(await moving(clock, dataSources.list(never()))).toEqual([]);
  });

  it.each<[string, InitialSwitches]>([
    ['any form', {}],
    ['encoded ids only', { targetOrgForm: 'encoded' }],
    ['plain ids only', { targetOrgForm: 'uuid' }],
  ])('an organization is found by a platform that takes %s (U-14)', async (_, switches) => {
    const { organizations } = await ready(switches);
    for (const spelling of [ORG, encodeId(ORG, 'ORGANIZATION', profile.ids?.urnScheme ?? '')]) {
      await organizations.forget(ORG);
      expect(await organizations.tokensOf(spelling).current(never())).toMatch(/./u);
    }
  });

  it.each(['rotate', 'keep', 'omit'] as const)(
    'tokens are refreshed again and again when refresh tokens are told: %s',
    async (refreshTokens) => {
      const { dataSources, clock, api } = await ready({ refreshTokens, accessTokenSeconds: 3600 });
      for (let round = 0; round < 3; round += 1) {
        expect(await dataSources.list(never())).toEqual([]);
        clock.advance(3_600_000);
      }
      api.revokeTokens(api.serviceApp.clientId, 'access');
      expect(await dataSources.list(never())).toEqual([]);
      api.revokeTokens(api.serviceApp.clientId, 'both');
      expect(await dataSources.list(never())).toEqual([]);
    },
  );

  it('tokens of an organization without a refresh token are asked for anew through the integration', async () => {
    const { dataSources, clock, api, store } = await ready({ accessTokenSeconds: 3600 });
    api.switches.refreshTokens = 'none';
    for (let round = 1; round <= 3; round += 1) {
      expect(await dataSources.list(never())).toEqual([]);
      expect(api.journal.count('POST /applications/:id/token')).toBe(round);
      clock.advance(3_600_000);
    }
    expect(JSON.parse(store.values.get(tokensKey(ORG)) ?? '')).toMatchObject({ tokenType: 'Bearer', expiresInSeconds: 3600 });
  });

  it('a login without a refresh token serves until its token ends, and then asks for another one', async () => {
    const { webhooks, clock, logIn } = await open({ refreshTokens: 'none', accessTokenSeconds: 3600 });
    await logIn();
    expect(await webhooks.list(never())).toEqual([]);
    clock.advance(3_600_000);
    expect((await failureOf(webhooks.list(never()))).code).toBe('login_needed');
  });

  it.each([true, false])('a dead refresh token of the integration asks for a login (words of OAuth: %s)', async (oauthErrors) => {
    const { api, webhooks, logIn } = await ready({ oauthErrors });
    expect(await webhooks.list(never())).toEqual([]);
    api.revokeTokens(api.integration.clientId);
    expect((await failureOf(webhooks.list(never()))).code).toBe('login_needed');
    await logIn();
    expect(await webhooks.list(never())).toEqual([]);
  });

  it('a login that is refused says why', async () => {
    const { logIn } = await open({ consent: 'deny' });
    const failure = await failureOf(logIn());
    expect(failure.code).toBe('login_failed');
    expect(failure.message).toContain('access_denied');
  });

  it('an organization that has not authorized, or has taken it back, is not registered', async () => {
    const { api, dataSources, logIn, store } = await open();
    await logIn();
    expect(await failureOf(dataSources.list(never()))).toBeInstanceOf(OrgNotRegisteredError);
    api.authorize(ORG);
    expect(await dataSources.list(never())).toEqual([]);
    api.deauthorize(ORG);
    expect(await failureOf(dataSources.list(never()))).toBeInstanceOf(OrgNotRegisteredError);
    // Authorized anew, it has another pair.
    api.authorize(ORG);
    expect(await dataSources.list(never())).toEqual([]);
    expect(await organizationsWithTokens(store)).toEqual([ORG]);
  });

  it('webhooks are registered, found, changed and removed; schemas are listed', async () => {
    const { api, webhooks, schemas } = await ready();
    const target = { name: 'n', targetUrl: 'https://bots.example/hook' };
    const resource = profile.webhook?.appResource ?? '';
    const created = await webhooks.create({ ...target, resource, event: 'authorized', secret: 's-1' }, never());
    expect(await webhooks.list(never())).toMatchObject([{ id: created.id, event: 'authorized', status: 'active' }]);
    await webhooks.update(created.id, { ...target, name: 'other', status: 'active' }, never());
    expect(await webhooks.list(never())).toMatchObject([{ id: created.id, name: 'other' }]);
    for (let count = 0; count < 120; count += 1) {
      await webhooks.create({ ...target, name: String(count), resource, event: 'authorized' }, never());
    }
    expect(await webhooks.list(never())).toHaveLength(121);
    await webhooks.delete(created.id, never());
    expect(api.webhooks()).toHaveLength(120);
    expect((await schemas.list(never())).map(({ id }) => id)).toContain(profile.schemas.grpc);
  });

  it('no log line holds a token, a secret or a nonce (R-13)', async () => {
    const { api, dataSources, lines, store } = await ready();
    const { jwsToken = '' } = await dataSources.create({ ...CREATE, nonce: 'nonce-canary' }, never());
    await failureOf(dataSources.create({ ...CREATE, nonce: 'nonce-canary', url: 'https://elsewhere.example' }, never()));
    const kept = [...store.values.values()].flatMap((text) => {
      const { accessToken, refreshToken } = oauthTokens.parse(JSON.parse(text));
      return [accessToken, refreshToken];
    });
    expect(kept).toHaveLength(4);
    for (const secret of ['nonce-canary', jwsToken, ...kept, api.integration.clientSecret, api.serviceApp.clientSecret]) {
      expect(lines.join('')).not.toContain(secret);
    }
    expect(lines.join('')).toContain('platformTrackingId');
  });
});

/** Lets the pauses of `work` pass until it is over; they are shorter than any limit of time. */
async function moving<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = { isOver: false };
  const settled = work.finally(() => {
    state.isOver = true;
  });
  await until('the work is over', async () => {
    if ((clock.nextTimerInMs ?? Infinity) <= 3000) await clock.advanceAsync(clock.nextTimerInMs ?? 0);
    return state.isOver;
  });
  return settled;
}
