// The whole administration against the fake platform, over sockets, under a clock of the test.
import { createHmac, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AccessSettings } from '../../../src/admin/access.ts';
import { Administration, type AdministrationOptions } from '../../../src/admin/administration.ts';
import { INTEGRATION_KEY } from '../../../src/admin/oauth/integration-tokens.ts';
import { readTokenReply } from '../../../src/admin/tokens.ts';
import { TrustedDataSources } from '../../../src/auth/data-sources.ts';
import { NonceBook } from '../../../src/auth/nonces.ts';
import { linkAbort } from '../../../src/base/abort.ts';
import { failureOf, keptLog, MemorySecrets } from '../../support/admin-server.ts';
import { until } from '../../support/until.ts';
import { never } from '../../support/voice.ts';
import { ORG, OTHER_ORG, profile, RunningApi } from '../fake-platform/platform/running-api.ts';

const MINUTE = 60_000;
const WANTED = { transport: 'grpc', url: 'http://127.0.0.1:50051', audience: 'aud', subject: 'sub', tokenLifetimeMinutes: 60 } as const;

interface Given extends Partial<Pick<AdministrationOptions, 'failsStart' | 'organizations' | 'pinned' | 'webhooks'>> {
  readonly running?: RunningApi;
  readonly store?: MemorySecrets;
  readonly access?: AccessSettings;
  readonly isLoggedIn?: boolean;
}

/** A port that the webhooks of one test are delivered to, also after a restart. */
let port = 0;
beforeAll(async () => {
  const { createServer } = await import('node:http');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
});

async function open(given: Given = {}) {
  const running = given.running ?? (await RunningApi.start());
  if (given.running === undefined) onTestFinished(() => running.close());
  const { api, clock } = running;
  const store = given.store ?? new MemorySecrets();
  const logIn = async (): Promise<void> => {
    await store.set(INTEGRATION_KEY, JSON.stringify(readTokenReply({ ...api.logIn() }, clock.nowMs())));
  };
  if (given.isLoggedIn !== false && given.store === undefined) await logIn();
  const trust = { sources: new TrustedDataSources(), nonces: new NonceBook({ clock }) };
  const told: string[] = [];
  const logins: (string | undefined)[] = [];
  const { log, lines } = keptLog();
  const integration = { ...api.integration, redirectUri: 'http://127.0.0.1:8765/callback' };
  const administration = new Administration({
    bufferSeconds: 300,
    hooks: { hooks: [], limitMs: 1000 },
    ...{ profile, baseUrl: api.baseUrl, store, trust, clock, log, failsStart: true, organizations: [], pinned: [] },
    access: { type: 'service_app', integration, serviceApp: api.serviceApp },
    webhooks: {
      targetUrl: `http://127.0.0.1:${String(port)}/deliveries`,
      ...{ host: '127.0.0.1', port, path: '/deliveries', unverifiedTimeoutMs: 10_000, maxUnverifiedPerAddress: 50 },
    },
    wanted: [{ ...WANTED, schemaId: profile.schemas.grpc }],
    times: { leadMs: 10 * MINUTE, retryMs: MINUTE, checkMs: 5 * MINUTE },
    observer: {
      dataSourceChanged: ({ transition }) => told.push(transition),
      delivered: (outcome) => told.push(outcome),
      registered: ({ event, outcome }) => told.push(`${event} ${outcome}`),
      loginChecked: (error) => logins.push(error?.code),
      eventFailed: (_, event, { code }) => told.push(`${event} ${code}`),
      ...{ unsaved: () => undefined, authorizationChanged: () => undefined, hookFailed: () => undefined },
    },
    ...given,
  });
  const close = async (): Promise<void> => {
    await administration.close();
    // The platform's own wait for the answer is by the same clock.
    await api.deliveries.settled();
    expect(clock.pendingTimers, 'timers').toBe(0);
  };
  onTestFinished(close);
  const served = (): readonly string[] =>
    administration.states.filter(({ isServed }) => isServed).map(({ wanted }) => wanted.organizationId);
  return { running, api, clock, store, trust, told, logins, log, lines, administration, served, close, logIn };
}

/** An administration that served an organization before it was closed and made anew: not started yet. */
async function restarted(given: (dataSourceId: string) => Given = () => ({})) {
  const first = await open();
  await first.administration.start(never());
  first.api.authorize(ORG);
  await until('it is served', () => first.served().includes(ORG));
  await first.close();
  const { running, store } = first;
  return { ...(await open({ running, store, ...given(first.api.dataSources(ORG)[0]?.id ?? '') })), store };
}

describe('the administration', () => {
  it('an organization authorizes, is served, takes it back, and is not served any more', async () => {
    const { api, administration, served, told, store } = await open();
    await administration.start(never());
    expect([served(), told]).toEqual([[], ['authorized created', 'deauthorized created']]);
    api.authorize(ORG);
    await until('it is served', () => served().includes(ORG));
    expect(api.dataSources(ORG)).toMatchObject([{ audience: 'aud', applicationId: api.serviceApp.clientId, status: 'active' }]);
    api.deauthorize(ORG);
    await until('it is forgotten', () => told.includes('forgotten'));
    await until('its tokens are erased', () => ![...store.values.keys()].some((key) => /^(?:organizations|data-sources)\//u.test(key)));
    expect(served()).toEqual([]);
  });

  it('L-01 known organizations are served when the start is over, after a restart without a change at the platform', async () => {
    const first = await open();
    await first.administration.start(never());
    first.api.authorize(ORG);
    await until('it is served', () => first.served().includes(ORG));
    await first.close();
    const { running, store, api } = first;
    const second = await open({ running, store });
    await second.administration.start(never());
    expect([second.served(), second.told]).toEqual([[ORG], ['authorized kept', 'deauthorized kept', 'adopted']]);
    expect([api.journal.count('PUT /dataSources/:id'), api.journal.count('POST /dataSources')]).toEqual([0, 1]);
  });

  it('H-25 organizations of the settings are served although no event named them; one that has not authorized fails nothing', async () => {
    const { api, administration, served, lines } = await open({ organizations: [ORG, OTHER_ORG], webhooks: undefined });
    api.authorize(ORG);
    await administration.start(never());
    expect(served()).toEqual([ORG]);
    expect(lines.join('')).toContain('org_not_registered');
  });

  it('H-23 an organization of the settings that has taken its authorization back does not come back by a restart', async () => {
    const first = await open({ organizations: [ORG] });
    first.api.authorize(ORG);
    await first.administration.start(never());
    expect(first.served()).toEqual([ORG]);
    first.api.deauthorize(ORG);
    await until('it is forgotten', () => first.told.includes('forgotten'));
    await first.close();
    const { running, store, api, clock } = first;
    const asked = api.journal.count('POST /applications/:id/token');
    const second = await open({ running, store, organizations: [ORG] });
    await second.administration.start(never());
    expect([second.administration.states, api.journal.count('POST /applications/:id/token')]).toEqual([[], asked]);
    expect(second.lines.join('')).toContain('organization_left');
    // Authorized later than the authorization that was taken back.
    await clock.advanceAsync(MINUTE);
    api.authorize(ORG);
    await until('it is served again', () => second.served().includes(ORG));
  });

  it('H-25 a webhook that the platform has given up is active again after the next look', async () => {
    const { api, administration, clock, told } = await open();
    await administration.start(never());
    api.deactivateWebhook(api.webhooks()[0]?.id ?? '');
    await clock.advanceAsync(5 * MINUTE);
    await until('it is active', () => told.includes('authorized reactivated'));
  });

  it('R-11 the webhooks are not looked at again before the time that the platform named', async () => {
    const { api, administration, clock } = await open({ failsStart: false });
    api.faults.add('GET /webhooks', { kind: 'answer', status: 429, retryAfterSeconds: 600 }, 2);
    const looks = (): number => api.journal.count('GET /webhooks');
    await administration.start(never());
    await until('the look has failed', () => looks() === 1 && clock.nextTimerInMs === 10 * MINUTE);
    await clock.advanceAsync(10 * MINUTE - 1);
    expect(looks()).toBe(1);
    await clock.advanceAsync(1);
    await until('it is looked again', () => looks() === 2);
  });

  it('a login that nobody uses stays alive without webhooks, and a dead one is reported', async () => {
    const running = await RunningApi.start({ switches: { accessTokenSeconds: 3600, refreshTokenSeconds: 18_000 } });
    onTestFinished(() => running.close());
    const { administration, api, clock, store, logins } = await open({ running, webhooks: undefined });
    await administration.start(never());
    // Refresh tokens live for five hours, and longer by use.
    for (let hour = 0; hour < 7; hour += 1) {
      const before = store.values.get(INTEGRATION_KEY);
      for (let look = 0; look < 11; look += 1) await clock.advanceAsync(5 * MINUTE);
      await until('it is refreshed', () => store.values.get(INTEGRATION_KEY) !== before);
      await until('the look is over', () => clock.nextTimerInMs === 5 * MINUTE);
    }
    expect(new Set(logins)).toEqual(new Set([undefined]));
    api.revokeTokens(api.integration.clientId);
    for (let look = 0; look < 11; look += 1) await clock.advanceAsync(5 * MINUTE);
    await until('it is told', () => logins.at(-1) === 'login_needed');
  });

  it('a first look that fails is an error of the start', async () => {
    const { administration } = await open({ isLoggedIn: false });
    expect((await failureOf(administration.start(never()))).code).toBe('login_needed');
  });

  it('or is repeated until it does not fail, as the settings say', async () => {
    const { administration, told, clock, logIn, api, served } = await open({ isLoggedIn: false, failsStart: false });
    await administration.start(never());
    await until('the first look fails', () => told.includes('deauthorized failed'));
    expect(told).toEqual(['authorized failed', 'deauthorized failed']);
    await logIn();
    await clock.advanceAsync(MINUTE);
    await until('they are registered', () => told.includes('deauthorized created'));
    api.authorize(ORG);
    await until('it is served', () => served().includes(ORG));
  });

  it('L-15 an outage of the platform ends no start after which calls can come in, and is over for us when it is over', async () => {
    const { administration, api, clock, served, told } = await restarted();
    api.faults.add('any', { kind: 'answer', status: 503, retryAfterSeconds: 600 }, Infinity);
    await administration.start(never());
    expect([served(), told]).toEqual([[ORG], ['authorized failed', 'deauthorized failed', 'failed']]);
    api.faults.clear();
    for (let minute = 0; minute < 12; minute += 1) await clock.advanceAsync(MINUTE);
    await until('all is well', () => told.includes('adopted') && told.includes('deauthorized kept'));
  });

  it.each(['login_needed', 'webhooks alone'])('L-15 neither does %s', async (trouble) => {
    const { administration, api, served, told } = await restarted();
    if (trouble === 'login_needed') {
      for (const { clientId } of [api.integration, api.serviceApp]) api.revokeTokens(clientId);
    } else api.faults.add('GET /webhooks', { kind: 'answer', status: 403 }, Infinity);
    await administration.start(never());
    expect([served(), told[0]]).toEqual([[ORG], 'authorized failed']);
  });

  it('a platform that does not answer at all keeps calls waiting for a short time only, or for none', async () => {
    const { administration, api, clock, served, close, running, store } = await restarted();
    api.faults.add('any', { kind: 'hang' }, Infinity);
    const starting = administration.start(never());
    await until('it is asked', () => api.journal.count('GET /webhooks') > 1);
    expect(served()).toEqual([ORG]);
    await until('it is waited for', () => clock.nextTimerInMs === 5000);
    await clock.advanceAsync(15_000);
    await starting;
    await close();
    const careless = await open({ running, store, failsStart: false });
    await careless.administration.start(never());
    expect([careless.served(), careless.told]).toEqual([[ORG], []]);
  });

  it('an outage ends a start when the tokens that were kept have ended, or none were', async () => {
    const { administration, api, clock } = await restarted();
    await clock.advanceAsync(61 * MINUTE);
    api.faults.add('any', { kind: 'cut' }, Infinity);
    const failing = failureOf(administration.start(never()));
    const isOver = failing.then(() => true);
    for (let isDone = false; !isDone;) {
      await clock.advanceAsync(1000);
      isDone = await Promise.race([isOver, Promise.resolve(false)]);
    }
    expect((await failing).code).toBe('platform_unavailable');
  });

  it('what only a person can mend ends the start although calls could come in', async () => {
    const pinned = [{ organizationId: ORG, transport: 'grpc', pinnedId: '' }] as const;
    const { administration, api } = await restarted((id) => ({ pinned: [{ ...pinned[0], pinnedId: id }] }));
    api.faults.add('GET /dataSources/:id', { kind: 'answer', status: 404 }, Infinity);
    expect((await failureOf(administration.start(never()))).code).toBe('data_source_unclear');
  });

  it.each([
    ['403 of one organization', { kind: 'answer', status: 403 }],
    ['record of one organization that is another one', { kind: 'answer', status: 404 }],
  ] as const)('a %s ends no start while another organization is served', async (_, fault) => {
    const first = await open();
    await first.administration.start(never());
    for (const organization of [ORG, OTHER_ORG]) first.api.authorize(organization);
    await until('both are served', () => first.served().length === 2);
    await first.close();
    const { running, store, api } = first;
    const pinned = [ORG, OTHER_ORG].map((organizationId) => ({
      ...{ organizationId, transport: 'grpc' as const },
      pinnedId: api.dataSources(organizationId)[0]?.id ?? '',
    }));
    const second = await open({ running, store, pinned });
    api.faults.add('GET /dataSources/:id', fault, 1);
    await second.administration.start(never());
    expect([new Set(second.served()), second.told.filter((each) => each === 'failed')]).toEqual([new Set([ORG, OTHER_ORG]), ['failed']]);
  });

  it('neither when none was served before: one of two data sources that fails to be registered ends no start', async () => {
    const { api, administration, served, told } = await open({ organizations: [ORG, OTHER_ORG], webhooks: undefined });
    for (const organization of [ORG, OTHER_ORG]) api.authorize(organization);
    api.faults.add('POST /dataSources', { kind: 'answer', status: 403 }, 1);
    await administration.start(never());
    expect([served().length, told.sort()]).toEqual([1, ['created', 'failed']]);
  });

  it('a start that is given up ends at once', async () => {
    const { administration, api } = await restarted();
    api.faults.add('any', { kind: 'hang' }, Infinity);
    const stop = linkAbort();
    const failing = failureOf(administration.start(stop.signal));
    await until('the platform is asked', () => api.journal.count('GET /webhooks') > 1);
    stop.abort('shutdown');
    expect((await failing).code).toBe('shutting_down');
  });

  it('L-02 a pinned data source that is not there is not replaced', async () => {
    const pinned = [{ organizationId: ORG, transport: 'grpc', pinnedId: randomUUID() }] as const;
    const { api, administration } = await open({ organizations: [ORG], pinned, webhooks: undefined });
    api.authorize(ORG);
    expect((await failureOf(administration.start(never()))).code).toBe('data_source_unclear');
    expect(api.dataSources(ORG)).toEqual([]);
  });

  it('a delivery that nobody of ours signed changes nothing', async () => {
    const { api, administration, told } = await open();
    await administration.start(never());
    const body = JSON.stringify({ data: { authorizerOrgId: ORG } });
    const signature = createHmac('sha1', 'a guess').update(body).digest('hex');
    const headers = { [profile.webhook?.sha1SignatureHeader ?? '']: signature };
    const answer = await fetch(api.webhooks()[0]?.targetUrl ?? '', { method: 'POST', body, headers });
    expect([answer.status, told.at(-1)]).toEqual([401, 'unsigned']);
    expect(administration.states).toEqual([]);
  });

  it('a single organization lives on a refresh token of its own, and begins anew with another one (7.1)', async () => {
    const running = await RunningApi.start();
    onTestFinished(() => running.close());
    running.api.authorize(ORG);
    const access = async (): Promise<AccessSettings> => {
      const { json } = await running.askServiceToken();
      const refreshToken = String(json['refresh_token']);
      return { type: 'oauth_refresh', client: running.api.serviceApp, refreshToken, organization: ORG };
    };
    const first = await open({ running, access: await access(), organizations: [ORG], webhooks: undefined });
    await first.administration.start(never());
    expect(first.served()).toEqual([ORG]);
    await first.close();
    const { store } = first;
    const again = await open({ running, store, access: await access(), organizations: [ORG], webhooks: undefined });
    await again.administration.start(never());
    expect([again.served(), again.told]).toEqual([[ORG], ['adopted']]);
  });

  it('a static token serves as long as the platform takes it', async () => {
    const running = await RunningApi.start();
    onTestFinished(() => running.close());
    const access = { type: 'static_token', accessToken: await running.serviceToken() } as const;
    const { administration, served, api, clock, told } = await open({ running, access, organizations: [ORG], webhooks: undefined });
    await administration.start(never());
    expect(served()).toEqual([ORG]);
    api.revokeTokens(api.serviceApp.clientId);
    await clock.advanceAsync(5 * MINUTE);
    await until('the next look fails', () => told.includes('failed'));
    expect(administration.states).toMatchObject([{ isServed: true, error: { code: 'authorization_needed' } }]);
  });

  it('begins no renewal of tokens once it is to stop, and uses those that are good', async () => {
    const running = await RunningApi.start({ switches: { accessTokenSeconds: 600 } });
    onTestFinished(() => running.close());
    const { api, administration, served, clock, told } = await open({ running });
    await administration.start(never());
    api.authorize(ORG);
    await until('it is served', () => served().includes(ORG));
    const renewals = (): number => api.journal.count('POST /access_token') + api.journal.count('POST /applications/:id/token');
    const [before, looks] = [renewals(), api.journal.count('GET /dataSources/:id')];
    administration.rest();
    // Less than 300 seconds are left of the tokens then.
    await clock.advanceAsync(5 * MINUTE + 1000);
    await until('it is looked at with the token of before', () => api.journal.count('GET /dataSources/:id') > looks);
    expect([renewals(), told.includes('failed')]).toEqual([before, false]);
  });

  it('L-10 asks for no token again once it is to stop, also when the platform has named the time for it', async () => {
    const running = await RunningApi.start({ switches: { accessTokenSeconds: 600 } });
    onTestFinished(() => running.close());
    const { api, administration, served, clock } = await open({ running });
    await administration.start(never());
    api.authorize(ORG);
    await until('it is served', () => served().includes(ORG));
    api.faults.add('POST /access_token', { kind: 'answer', status: 429, retryAfterSeconds: 20 }, Infinity);
    const asked = (): number => api.journal.count('POST /access_token');
    const looks = (): number => api.journal.count('GET /dataSources/:id');
    const [before, looked] = [asked(), looks()];
    await clock.advanceAsync(5 * MINUTE + 1000);
    await until('tokens are asked for', () => asked() === before + 2);
    administration.rest();
    // With the tokens that there are, and long before they may be asked for again.
    await until('the work goes on', () => looks() > looked);
    for (let second = 0; second < 30; second += 1) await clock.advanceAsync(1000);
    expect(asked()).toBe(before + 2);
  });

  it('R-13 no log line holds a token, a secret or a nonce', async () => {
    const { api, administration, served, lines, store } = await open();
    await administration.start(never());
    api.authorize(ORG);
    await until('it is served', () => served().includes(ORG));
    const [record] = api.dataSources(ORG);
    const secrets = [record?.nonce, record?.jwsToken, api.serviceApp.clientSecret, ...api.webhooks().map(({ secret }) => secret)];
    const kept = [...store.values.values()].join('');
    expect(kept).toContain(record?.nonce);
    for (const secret of secrets) expect(lines.join('')).not.toContain(secret);
    expect(lines.length).toBeGreaterThan(3);
  });
});
