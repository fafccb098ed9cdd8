// A day of three organizations in less than a minute: tokens of all kinds end, also those for a refresh, and whatever happens
// on a day happens. Calls come in all the time, and none is refused.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Day, LEAD_MINUTES, MINUTE_MS, ROUND_MINUTES, type DayTransport } from '../renewal/day.ts';
import { addedResources } from '../support/running-server.ts';
import { until } from '../support/until.ts';

const DAY_MINUTES = 24 * 60 + 40;
/** For some hours refresh tokens end before the access token that came with them. */
const [SHORT_FROM, SHORT_UNTIL] = [16 * 60, 22 * 60];
const SHORT_SECONDS = 80 * 60;

/** Somebody points data sources of ours to another address, with the tokens of the app and nonces that nobody here knows. */
async function redirectManually(day: Day, organizationId: string): Promise<void> {
  const { api } = day;
  const send = async (method: string, path: string, bearer: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const answer = await fetch(api.baseUrl + path, { method, headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    return answer.json();
  };
  const { clientId, clientSecret } = api.serviceApp;
  const app = { clientId, clientSecret, targetOrgId: organizationId };
  const pair = await send('POST', `/applications/${api.ids.encode('APPLICATION', clientId)}/token`, api.logIn().access_token, app);
  for (const transport of day.transports) {
    const [source] = day.sources(transport, organizationId);
    if (source === undefined) throw new Error('there is no data source');
    const { audience, subject, schemaId, tokenLifetimeMinutes } = source;
    const url = transport.url.replace(/\d+$/u, '50052');
    const body = { audience, subject, schemaId, tokenLifetimeMinutes, nonce: randomUUID(), url };
    transport.tokens.disturbed(organizationId);
    await send('PUT', `/dataSources/${source.id}`, (pair as { access_token: string }).access_token, body);
  }
}

/** What happens on the day, by the minute. */
function happeningsOf(day: Day): Readonly<Record<number, () => void | Promise<void>>> {
  const { api, organizations, transports, clock } = day;
  const [first, second, third] = organizations;
  const { refreshTokenSeconds } = api.switches;
  const lapsed = (): readonly number[] => transports.map(({ tokens }) => tokens.lapsed);
  let lapsedAtNoon: readonly number[] = [];
  /** Deliveries are no requests of ours: the time stands still until they had their effect. */
  const happened = (what: string, condition: () => boolean): Promise<void> => clock.hold(() => until(what, condition));
  return {
    /** An operator of the platform switches some off. */
    [3 * 60]: () => {
      for (const transport of transports) {
        api.disableDataSource(day.sources(transport, second)[0]?.id ?? '', 'too many failed calls');
        transport.tokens.disturbed(second);
      }
    },
    [4 * 60]: () => {
      for (const one of transports) expect(day.sources(one, second)).toMatchObject([{ status: 'active', errorMessage: '' }]);
    },
    [5 * 60]: () => redirectManually(day, first),
    [6 * 60]: () => {
      for (const one of transports) expect(day.sources(one, first)).toMatchObject([{ url: one.url, status: 'active' }]);
    },
    /** An administrator takes the authorization back, and gives it again an hour later. */
    [7 * 60]: async () => {
      const known = transports.map((transport) => ({ transport, tokens: transport.tokens.of(third) }));
      for (const { tokens } of transports) tokens.ended(third);
      api.switches.onDeauthorization = 'delete';
      api.deauthorize(third);
      const forgotten = () => day.log.filter((line) => line['transition'] === 'forgotten').length;
      await happened('its data sources are forgotten', () => forgotten() === transports.length);
      for (const { transport, tokens } of known) {
        expect(tokens.length).toBeGreaterThan(0);
        expect(await day.refusals(transport, tokens)).toBe(tokens.length);
      }
    },
    [8 * 60]: async () => {
      api.authorize(third);
      await happened('it is registered', () => transports.every(({ tokens }) => tokens.of(third).length === 1));
    },
    /** Nobody answers for an hour: longer than tokens that are due can wait. */
    [10 * 60]: () => {
      api.faults.add('any', { kind: 'answer', status: 503 }, Infinity);
    },
    [10 * 60 + 40]: () => {
      api.faults.clear();
      api.faults.add('any', { kind: 'cut' }, Infinity);
    },
    [11 * 60]: () => {
      api.faults.clear();
    },
    [12 * 60]: () => {
      lapsedAtNoon = lapsed();
    },
    [13 * 60]: async () => {
      const puts = api.journal.count('PUT /dataSources/:id');
      await day.leave();
      await day.serve();
      expect(api.journal.count('PUT /dataSources/:id')).toBe(puts);
      await day.callWithAll();
    },
    /** All tokens of an organization are revoked, also the one for a refresh. */
    [15 * 60]: () => {
      expect(api.revokeTokens(api.serviceApp.clientId, 'both', first)).toBeGreaterThan(0);
    },
    [SHORT_FROM]: () => {
      for (const organizationId of organizations) expect(api.tokenAccount(api.serviceApp.clientId, organizationId).endedRefresh).toBe(0);
      api.switches.refreshTokenSeconds = SHORT_SECONDS;
    },
    [SHORT_UNTIL]: () => {
      api.switches.refreshTokenSeconds = refreshTokenSeconds;
    },
    [DAY_MINUTES - ROUND_MINUTES]: () => {
      // Only the outage has cost a token of a data source: neither what was revoked nor what ended did.
      expect(lapsed()).toEqual(lapsedAtNoon);
    },
  };
}

/** No call was lost, and there was one renewal for each that was due. */
function expectNothingLost({ organizations }: Day, { callers, tokens }: DayTransport): void {
  expect(callers).toMatchObject({ refused: 0, broken: 0, described: [] });
  // About one for each 68 to 70 minutes: none twice, and none missing but for the outage.
  const { length } = organizations;
  expect(tokens.doubles).toBe(0);
  expect(tokens.rotations).toBeGreaterThanOrEqual(length * 18);
  expect(tokens.rotations).toBeLessThanOrEqual(length * 21 + 2);
  expect(tokens.lapsed).toBeLessThanOrEqual(length);
  expect(callers.calls).toBeGreaterThan(250);
}

/** Tokens that have ended are refused. */
async function expectRefusalOfEnded(day: Day, transport: DayTransport): Promise<void> {
  const isLongOver = ({ endsAtMs }: { readonly endsAtMs: number }): boolean => day.clock.nowMs() - endsAtMs > MINUTE_MS;
  const ended = day.signed(transport).filter((token) => transport.tokens.hasEnded(token) && isLongOver(token));
  expect(ended.length).toBeGreaterThan(50);
  expect(await day.refusals(transport, ended.slice(-5))).toBe(5);
}

/** What the platform's book says of the tokens that requests were made with: they ended, and that was no surprise. */
function expectTokensRenewed({ api, organizations }: Day): void {
  const [first, , third] = organizations;
  for (const organizationId of organizations) {
    const { issued, refreshed, endedAccess, endedRefresh } = api.tokenAccount(api.serviceApp.clientId, organizationId);
    // Each lives for two hours and is renewed at the first look of the last five minutes or after them: never sent when over.
    expect(endedAccess).toBe(0);
    expect(refreshed).toBeGreaterThanOrEqual(6);
    // A refresh token that ended before its access token was over costs one request, and another pair is asked for.
    expect(endedRefresh).toBeGreaterThanOrEqual(1);
    expect(refreshed + endedRefresh).toBeGreaterThanOrEqual(9);
    expect(refreshed + endedRefresh).toBeLessThanOrEqual(13);
    // Another one was authorized anew or revoked, or had its tokens taken by hand.
    const more = organizationId === first ? 2 : organizationId === third ? 1 : 0;
    expect(issued).toBe(1 + endedRefresh + more);
  }
  // Nobody but a person could get another pair: its refresh token is used before it ends. One login is that by hand.
  const { clientId, developer } = api.integration;
  const login = api.tokenAccount(clientId, developer.organizationId);
  expect(login).toMatchObject({ issued: 2, endedAccess: 0, endedRefresh: 0 });
  expect(login.refreshed).toBeGreaterThan(10);
}

/** What a running server says of itself after the day. */
async function expectHealth(day: Day): Promise<void> {
  const now = await day.metrics();
  for (const { name } of day.transports) {
    expect(now.get(`parley_data_sources{transport="${name}",served="yes"}`)).toBe(day.organizations.length);
    expect(now.get(`parley_data_sources_alarming{transport="${name}"}`)).toBe(0);
    expect(now.get(`parley_data_source_token_expiry_seconds{transport="${name}"}`)).toBeGreaterThan((LEAD_MINUTES - 1) * 60);
  }
}

/** What the servers of the day counted and logged. */
function expectAccount({ counted, log }: Day, { name, tokens }: DayTransport): void {
  const count = (transition: string): number =>
    counted.get(`parley_data_source_transitions_total{transport="${name}",transition="${transition}"}`) ?? 0;
  expect(count('created')).toBe(4);
  expect(count('renewed') + count('repaired')).toBe(tokens.rotations);
  expect([count('repaired'), count('forgotten'), count('adopted')]).toEqual([2, 1, 3]);
  // Only the outage is worth an alarm.
  const errors = log.filter((line) => line['level'] === 'error' && (line['transport'] ?? name) === name);
  expect(errors.filter((line) => line['transition'] !== 'overdue')).toEqual([]);
  expect(errors.length).toBe(count('overdue'));
}

it('a day: no call is lost, tokens are renewed once when they are due, and everything that happened is repaired', async () => {
  const before = process.getActiveResourcesInfo();
  const day = new Day();
  await day.begin();
  const happenings = happeningsOf(day);
  for (let minute = 0; minute < DAY_MINUTES; minute += ROUND_MINUTES) {
    await happenings[minute]?.();
    await day.round();
  }
  const sourcesOf = (transport: DayTransport) => day.organizations.map((organizationId) => day.sources(transport, organizationId).length);
  for (const transport of day.transports) {
    expectNothingLost(day, transport);
    expect(sourcesOf(transport)).toEqual([1, 1, 1]);
    await expectRefusalOfEnded(day, transport);
  }
  expectTokensRenewed(day);
  await expectHealth(day);
  await day.end();
  for (const transport of day.transports) expectAccount(day, transport);
  expect(day.clock.pendingTimers).toBe(0);
  await until(
    () => `nothing is left: ${JSON.stringify(addedResources(before, process.getActiveResourcesInfo()))}`,
    () => addedResources(before, process.getActiveResourcesInfo()).length === 0,
  );
}, 400_000);
