import { validateAuthResponse } from 'oauth4webapi';
import { describe, expect, it } from 'vitest';
import { TokenRequests, type CodeGrant } from '../../../../src/admin/oauth/token-request.ts';
import { adminServer, answer, cut, failureOf, json, keptLog, passPause, type AdminServer } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import type { Answering } from '../../../support/speech-service.ts';
import { never } from '../../../support/voice.ts';

const REPLY = {
  ...{ access_token: 'CANARY-access', expires_in: 1209600, refresh_token: 'CANARY-refresh', refresh_token_expires_in: 7776000 },
  token_type: 'Bearer',
};
const BEFORE = { accessToken: 'CANARY-old', expiresAtMs: 0, refreshToken: 'CANARY-old-refresh', refreshExpiresAtMs: 7 };

interface Surroundings {
  readonly server: AdminServer;
  readonly clock: FakeClock;
  readonly requests: TokenRequests;
  readonly grant: CodeGrant;
  readonly lines: string[];
}

async function open(...ways: readonly Answering[]): Promise<Surroundings> {
  const server = await adminServer(...ways);
  const clock = new FakeClock();
  const { log, lines } = keptLog();
  const credentials = { clientId: 'client-1', clientSecret: 'CANARY secret' };
  const requests = new TokenRequests({ address: server.address, credentials, clock, log, random: () => 0.5 });
  const parameters = new URLSearchParams({ code: 'CANARY-code', state: 'CANARY-state' });
  const callback = validateAuthResponse(requests.server, requests.client, parameters, 'CANARY-state');
  return {
    server,
    clock,
    requests,
    lines,
    grant: { callback, redirectUri: 'http://127.0.0.1:8765/callback', codeVerifier: 'CANARY-verifier' },
  };
}

const form = ({ received }: AdminServer): unknown[] =>
  received.map(({ method, path, body }) => [method, path, Object.fromEntries(new URLSearchParams(body.toString()))]);

describe('the token endpoint', () => {
  it('is sent a code with everything that binds it, and no token', async () => {
    const { requests, server, clock, grant } = await open(json(REPLY));
    expect(await requests.exchange(grant, never())).toEqual({
      ...{ accessToken: 'CANARY-access', refreshToken: 'CANARY-refresh' },
      ...{ expiresAtMs: clock.nowMs() + 1_209_600_000, refreshExpiresAtMs: clock.nowMs() + 7_776_000_000 },
      refreshDueMs: clock.nowMs() + 3_888_000_000,
      ...{ tokenType: 'bearer', expiresInSeconds: 1_209_600, obtainedAtMs: clock.nowMs() },
    });
    const client = { client_id: 'client-1', client_secret: 'CANARY secret' };
    const sent = {
      grant_type: 'authorization_code',
      code: 'CANARY-code',
      redirect_uri: grant.redirectUri,
      code_verifier: 'CANARY-verifier',
    };
    expect(form(server)).toEqual([['POST', '/v1/access_token', { ...client, ...sent }]]);
    const { headers } = await server.arrived(1);
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded;charset=UTF-8');
    expect(headers.authorization).toBeUndefined();
  });

  it('is sent a refresh token, and its reply may be without a new one', async () => {
    const { requests, server, clock } = await open(json({ ...REPLY, refresh_token: undefined, refresh_token_expires_in: undefined }));
    expect(await requests.refresh(BEFORE, never())).toEqual({
      ...BEFORE,
      accessToken: 'CANARY-access',
      expiresAtMs: clock.nowMs() + 1_209_600_000,
      ...{ tokenType: 'bearer', expiresInSeconds: 1_209_600, obtainedAtMs: clock.nowMs() },
    });
    const client = { client_id: 'client-1', client_secret: 'CANARY secret' };
    expect(form(server)).toEqual([
      ['POST', '/v1/access_token', { ...client, grant_type: 'refresh_token', refresh_token: 'CANARY-old-refresh' }],
    ]);
  });

  it.each([
    ['as OAuth says it', answer(400, { error: 'invalid_grant', error_description: 'dead, CANARY secret or not' })],
    ['in the words of the platform', answer(400, { message: 'the grant is not valid', trackingId: 'T_1' })],
    ['in its message, with another status', answer(401, { message: 'error: invalid_grant' })],
  ])('may take a grant no longer, %s: somebody must log in', async (_, way) => {
    const { requests, grant, lines } = await open(way);
    expect((await failureOf(requests.refresh(BEFORE, never()))).code).toBe('login_needed');
    expect((await failureOf(requests.exchange(grant, never()))).code).toBe('login_failed');
    expect(lines.join('')).not.toContain('CANARY');
  });

  it.each([
    ['the client', answer(401, { message: 'wrong CANARY secret', error: 'invalid_client' })],
    ['the client with the status of a wrong grant', answer(400, { error: 'invalid_client' })],
    ['the request', answer(400, { error: 'invalid_request' })],
  ])('may refuse %s, which no login mends', async (_, way) => {
    const { requests, server } = await open(way);
    expect((await failureOf(requests.refresh(BEFORE, never()))).code).toBe('platform_refused');
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['429', answer(429, ''), 250],
    ['503 that says when', answer(503, '', { 'retry-after': '1' }), 1250],
  ])('is asked again after %s', async (_, way, pauseMs) => {
    const { requests, server, clock } = await open(way, json(REPLY));
    const work = requests.refresh(BEFORE, never());
    await passPause(clock, pauseMs);
    expect((await work).accessToken).toBe('CANARY-access');
    expect(server.received).toHaveLength(2);
  });

  it.each([
    ['breaks off', cut()],
    ['answers 503 and does not say when', answer(503, '')],
  ])('is not asked again when it %s, because it may have turned the refresh token over', async (_, way) => {
    const { requests, server, clock } = await open(way);
    expect(await failureOf(requests.refresh(BEFORE, never()))).toMatchObject({ code: 'platform_unavailable', mayHaveHappened: true });
    expect([server.received.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it.each([
    ['without an access token', { ...REPLY, access_token: undefined }],
    ['without a type', { ...REPLY, token_type: undefined }],
    ['of a type that is no bearer token', { ...REPLY, token_type: 'mac' }],
    ['without a lifetime', { ...REPLY, expires_in: undefined }],
    ['with a lifetime that is none', { ...REPLY, expires_in: 'CANARY' }],
    ['that is a text', 'CANARY'],
    ['that is nothing', null],
  ])('may not reply with something %s', async (_, reply) => {
    const { requests, grant } = await open(json(reply));
    expect((await failureOf(requests.exchange(grant, never()))).code).toBe('platform_answer_invalid');
  });
});
