import { describe, expect, it } from 'vitest';
import { ApplicationTokens } from '../../../../src/admin/rest/application-token.ts';
import { RestClient } from '../../../../src/admin/rest/rest-client.ts';
import { adminServer, answer, countedTokens, failureOf, json, keptLog, type AdminServer } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import type { Answering } from '../../../support/speech-service.ts';
import { never } from '../../../support/voice.ts';

const SCHEME = 'example://';
const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const CLIENT_ID = 'C0a1b2c3d4e5f';
const encoded = (text: string): string => Buffer.from(SCHEME + text).toString('base64url');
const REPLY = { access_token: 'CANARY-a', expires_in: 60, refresh_token: 'CANARY-r', refresh_token_expires_in: 600, token_type: 'Bearer' };

async function open(clientId: string, ...ways: readonly Answering[]) {
  const server = await adminServer(...ways);
  const clock = new FakeClock();
  const rest = new RestClient({ address: server.address, tokens: countedTokens(), clock, log: keptLog().log });
  return { server, clock, apps: new ApplicationTokens({ rest, app: { clientId, clientSecret: 'CANARY-s' }, idScheme: SCHEME, clock }) };
}

const targets = ({ received }: AdminServer): unknown[] =>
  received.map(({ body }) => (JSON.parse(body.toString()) as { targetOrgId: unknown }).targetOrgId);

describe('the token of an app in an organization', () => {
  it.each([CLIENT_ID, encoded(`us/APPLICATION/${CLIENT_ID}`)])('is asked for at the encoded id of the app %s', async (clientId) => {
    const { apps, server, clock } = await open(clientId, json(REPLY));
    expect(await apps.obtain(ORG, never())).toEqual({
      ...{ accessToken: 'CANARY-a', refreshToken: 'CANARY-r', orgId: ORG, targetOrgId: ORG },
      ...{ expiresAtMs: clock.nowMs() + 60_000, refreshExpiresAtMs: clock.nowMs() + 600_000, refreshDueMs: clock.nowMs() + 300_000 },
      ...{ tokenType: 'Bearer', expiresInSeconds: 60, obtainedAtMs: clock.nowMs() },
    });
    const { method, path, body } = await server.arrived(1);
    expect([method, path]).toEqual(['POST', `/v1/applications/${encoded(`us/APPLICATION/${CLIENT_ID}`)}/token`]);
    expect(JSON.parse(body.toString())).toEqual({ clientId: CLIENT_ID, clientSecret: 'CANARY-s', targetOrgId: ORG });
  });

  it('is asked for with the id as it is spelt (U-14)', async () => {
    const spelt = encoded(`eu/ORGANIZATION/${ORG}`);
    const { apps, server } = await open(CLIENT_ID, json(REPLY));
    expect(await apps.obtain(spelt, never())).toMatchObject({ orgId: ORG, targetOrgId: spelt });
    expect(targets(server)).toEqual([spelt]);
  });

  it.each([
    [400, ORG, encoded(`us/ORGANIZATION/${ORG}`)],
    [404, encoded(`eu/ORGANIZATION/${ORG}`), ORG],
  ])('is asked for once with the other spelling after the status %i (U-14)', async (status, given, other) => {
    const { apps, server } = await open(CLIENT_ID, answer(status, ''), json(REPLY));
    expect(await apps.obtain(given, never())).toMatchObject({ orgId: ORG, targetOrgId: other });
    expect(targets(server)).toEqual([given, other]);
  });

  it('is not asked for a third time', async () => {
    const { apps, server } = await open(CLIENT_ID, answer(404, ''));
    expect((await failureOf(apps.obtain(ORG, never()))).details['status']).toBe(404);
    expect(server.received).toHaveLength(2);
  });

  it('is not asked for in another spelling after any other refusal', async () => {
    const { apps, server } = await open(CLIENT_ID, answer(403, { message: 'not with CANARY-s' }));
    expect((await failureOf(apps.obtain(ORG, never()))).details).toMatchObject({ status: 403, platformMessage: 'not with [hidden]' });
    expect(server.received).toHaveLength(1);
  });

  it('is not asked for what is no organization', async () => {
    const { apps, server } = await open(CLIENT_ID, json(REPLY));
    expect((await failureOf(apps.obtain('CANARY', never()))).code).toBe('bad_message');
    expect(server.received).toEqual([]);
  });

  it('is refused when it has not all parts', async () => {
    const { apps } = await open(CLIENT_ID, json({ ...REPLY, access_token: undefined }));
    expect((await failureOf(apps.obtain(ORG, never()))).code).toBe('platform_answer_invalid');
  });

  it('needs an app', () => {
    const rest = new RestClient({ ...{ tokens: countedTokens(), clock: new FakeClock(), log: keptLog().log }, address: ADDRESS });
    const make = (): unknown =>
      new ApplicationTokens({ rest, app: { clientId: 'CANARY', clientSecret: 's' }, idScheme: SCHEME, clock: new FakeClock() });
    expect(make).toThrow(expect.objectContaining({ code: 'bad_message' }));
    expect(make).not.toThrow(/CANARY/u);
  });
});

const ADDRESS = {
  ...{ baseUrl: 'https://api.example', authorizeUrl: 'https://api.example/a', tokenUrl: 'https://api.example/t' },
  ...{ trackingHeader: 'trackingid', allowLoopbackHttp: false },
};
