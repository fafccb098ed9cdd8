import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OTHER_ORG, ORG, RunningApi } from './running-api.ts';

let running: RunningApi;
beforeEach(async () => {
  running = await RunningApi.start();
});
afterEach(async () => {
  await running.close();
});

describe('the token of a service app', () => {
  it('is a pair that acts for the organization', async () => {
    running.api.authorize(ORG);
    const { status, json } = await running.askServiceToken();
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(['access_token', 'expires_in', 'refresh_token', 'refresh_token_expires_in', 'token_type']);
    const me = await running.ask('GET /people/me', { token: String(json['access_token']) });
    expect(running.api.ids.decode('ORGANIZATION', String(me.json['orgId']))).toBe(ORG);
  });

  it('H-02 takes the organization in every form that was seen', async () => {
    running.api.authorize(ORG);
    const forms = [ORG, Buffer.from(ORG).toString('base64'), running.api.ids.encode('ORGANIZATION', ORG)];
    for (const targetOrgId of forms) expect((await running.askServiceToken({ targetOrgId })).status, targetOrgId).toBe(200);
    running.api.switches.targetOrgForm = 'encoded';
    expect((await running.askServiceToken({ targetOrgId: ORG })).status).toBe(400);
    expect((await running.askServiceToken({ targetOrgId: forms[2] })).status).toBe(200);
    running.api.switches.targetOrgForm = 'uuid';
    expect((await running.askServiceToken({ targetOrgId: ORG })).status).toBe(200);
    expect((await running.askServiceToken({ targetOrgId: forms[2] })).status).toBe(400);
  });

  it('is refused with 403 for an organization that has not authorized the app', async () => {
    expect((await running.askServiceToken()).status).toBe(403);
    running.api.authorize(ORG);
    expect((await running.askServiceToken({ targetOrgId: OTHER_ORG })).status).toBe(403);
    const another = running.api.apps.addServiceApp();
    expect((await running.askServiceToken({}, another)).status).toBe(403);
  });

  it('H-26 is refused for a while after the authorization when a switch says so', async () => {
    running.api.switches.propagationMs = 5000;
    running.api.authorize(ORG);
    expect((await running.askServiceToken()).status).toBe(403);
    running.clock.advance(4999);
    expect((await running.askServiceToken()).status).toBe(403);
    running.clock.advance(1);
    expect((await running.askServiceToken()).status).toBe(200);
  });

  it('stops working when the organization takes its authorization back, and its refresh token too', async () => {
    running.api.authorize(ORG);
    running.api.authorize(OTHER_ORG);
    const { json } = await running.askServiceToken();
    const other = await running.askServiceToken({ targetOrgId: OTHER_ORG });
    expect(running.api.deauthorize(ORG)).toBe(true);
    expect((await running.ask('GET /dataSources', { token: String(json['access_token']) })).status).toBe(401);
    expect((await running.askServiceToken()).status).toBe(403);
    const { clientId, clientSecret } = running.api.serviceApp;
    const refreshed = await running.ask(`POST ${running.api.tokenUrl}`, {
      form: {
        grant_type: 'refresh_token',
        client_id: clientId,
        client_secret: clientSecret,
        refresh_token: String(json['refresh_token']),
      },
    });
    expect(refreshed.status).toBe(400);
    expect((await running.ask('GET /dataSources', { token: String(other.json['access_token']) })).status).toBe(200);
    expect(running.api.deauthorize(ORG)).toBe(false);
  });

  it('is one of a new machine account after a second authorization', async () => {
    const first = running.api.authorize(ORG);
    const { json } = await running.askServiceToken();
    expect(running.api.authorize(ORG).machineAccountId).not.toBe(first.machineAccountId);
    expect((await running.ask('GET /dataSources', { token: String(json['access_token']) })).status).toBe(401);
    expect((await running.askServiceToken()).status).toBe(200);
  });

  it('is refused for what is wrong with the request', async () => {
    running.api.authorize(ORG);
    expect((await running.askServiceToken({ clientSecret: 'no' })).status).toBe(401);
    expect((await running.askServiceToken({ clientId: 'C00' })).status).toBe(401);
    expect((await running.askServiceToken({ targetOrgId: 'nobody' })).status).toBe(400);
    expect((await running.askServiceToken({ targetOrgId: running.api.ids.encode('PEOPLE', ORG) })).status).toBe(400);
    expect((await running.askServiceToken({ targetOrgId: undefined })).status).toBe(400);
    expect((await running.askServiceToken({ more: 1 })).status).toBe(400);
  });

  it.each([
    ['the plain client id', (api: RunningApi['api']) => api.serviceApp.clientId],
    ['the id of an app that nobody has', (api: RunningApi['api']) => api.ids.encode('APPLICATION', 'C00')],
    ['the id of an integration', (api: RunningApi['api']) => api.ids.encode('APPLICATION', api.integration.clientId)],
    ['an id of another type (H-03)', (api: RunningApi['api']) => api.ids.encode('WEBHOOK', ORG)],
  ])('is refused with 404 for %s', async (_what, idOf) => {
    const { access_token: token } = running.api.logIn();
    const { clientId, clientSecret } = running.api.serviceApp;
    const json = { clientId, clientSecret, targetOrgId: ORG };
    expect((await running.ask(`POST /applications/${idOf(running.api)}/token`, { token, json })).status).toBe(404);
  });

  it('is refused to integrations of another developer, to ones without the scope and to service apps', async () => {
    running.api.authorize(ORG);
    const { apps, ids, serviceApp } = running.api;
    const path = `POST /applications/${ids.encode('APPLICATION', serviceApp.clientId)}/token`;
    const json = { clientId: serviceApp.clientId, clientSecret: serviceApp.clientSecret, targetOrgId: ORG };
    const foreign = apps.addIntegration({ developer: { organizationId: OTHER_ORG, personId: OTHER_ORG } });
    const poor = apps.addIntegration({ scopes: running.api.integration.scopes.slice(1) });
    for (const app of [foreign, poor]) {
      expect((await running.ask(path, { token: running.api.logIn(app).access_token, json })).status).toBe(403);
    }
    expect((await running.ask(path, { token: await running.serviceToken(), json })).status).toBe(403);
    expect((await running.ask(path, { json })).status).toBe(401);
  });
});
