// A day of three organizations in less than a minute: tokens of all kinds end many times, and whatever happens on a day
// happens. Calls come in all the time, with every token that the platform presents. Real sockets, a real token check, a real
// store; only the time is not real.
import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { Callers } from '../renewal/callers.ts';
import { PresentedTokens, type PresentedToken } from '../renewal/presented-tokens.ts';
import { startServed } from '../renewal/served.ts';
import { DrivenClock } from '../support/driven-clock.ts';
import { openSurroundings, type OpenSurroundings, type SignedToken } from '../support/open-surroundings.ts';
import { PlatformClient } from '../support/platform-client.ts';
import { addedResources, type LogLine } from '../support/running-server.ts';
import { until } from '../support/until.ts';
import { event } from '../support/wire-audio.ts';

const MINUTE = 60_000;
const [LIFETIME_MINUTES, LEAD_MINUTES] = [90, 20];
const DAY_MINUTES = 24 * 60 + 40;
/** Between two rounds of calls. */
const ROUND_MINUTES = 20;
/** Tokens of the integration and of organizations end every two hours; a refresh makes the refresh token before worthless. */
const SWITCHES = { accessTokenSeconds: 7200, refreshTokenSeconds: 18_000, refreshTokens: 'rotate' } as const;
const OURS = 'http://127.0.0.1:50051';
const FLAGS = [
  `--admin.data_sources.token_lifetime_minutes=${String(LIFETIME_MINUTES)}`,
  `--admin.data_sources.renewal_lead_minutes=${String(LEAD_MINUTES)}`,
  '--admin.data_sources.retry_interval_s=120',
  '--admin.data_sources.check_interval_s=1800',
];

/** The day, with what is there all the time. */
class Day {
  readonly clock = new DrivenClock();
  readonly organizations = [randomUUID(), randomUUID(), randomUUID()] as const;
  readonly tokens = new PresentedTokens({ clock: this.clock, skewMs: () => 0, earliestMs: 1.1 * LEAD_MINUTES * MINUTE });
  readonly callers = new Callers({ tokens: this.tokens, clock: this.clock, random: () => 0 });
  readonly log: LogLine[] = [];
  /** Every token that was signed for us. */
  readonly signed: PresentedToken[] = [];
  /** Requests to the platform by route. */
  readonly requests = new Map<string, number>();
  /** What the servers of the day have counted, by the name of a metric with its labels. */
  readonly counted = new Map<string, number>();
  #around: OpenSurroundings | undefined;
  #app: App | undefined;

  async begin(): Promise<void> {
    this.#around = await openSurroundings({ clock: this.clock, url: OURS, switches: SWITCHES, onSigned: (signed) => this.#sign(signed) });
    this.clock.drive({ stepMs: 250, leapMs: 30_000 });
    for (const organizationId of this.organizations) this.around.api.authorize(organizationId);
    await this.serve();
  }

  async serve(): Promise<void> {
    const write = (line: string): void => void this.log.push(JSON.parse(line) as LogLine);
    // They are known although nobody was there to be told of them (H-25).
    const { organizations, clock } = this;
    this.#app = await startServed(this.around, { clock, organizations, flags: FLAGS, write });
    this.callers.connect(this.target);
  }

  /** The server ends; what it counted is kept. */
  async leave(): Promise<void> {
    const { app } = this;
    for (const [name, value] of await metricsOf(app)) this.counted.set(name, (this.counted.get(name) ?? 0) + value);
    this.callers.disconnect();
    await app.close();
  }

  async end(): Promise<void> {
    await this.leave();
    await this.clock.stop();
    await this.around.close();
  }

  /** Calls with every token that the platform presents, while the time stands still. */
  async round(): Promise<void> {
    await this.clock.passed(ROUND_MINUTES * MINUTE);
    for (const organizationId of this.organizations) await this.clock.hold(() => this.callers.callWithAll(organizationId));
    this.tokens.look();
    const { journal } = this.around.api;
    for (const { route = 'none' } of journal.entries) this.requests.set(route, (this.requests.get(route) ?? 0) + 1);
    journal.clear();
  }

  /** How a call with any token begins. */
  readonly codeOf = async ({ organizationId, token }: PresentedToken): Promise<status> => {
    const client = new PlatformClient({ target: this.target, authorization: token, organizationId });
    const { ending } = await client.call().turn(event('SESSION_START'));
    client.close();
    return ending.code;
  };

  get app(): App {
    if (this.#app === undefined) throw new Error('no server has been started');
    return this.#app;
  }

  get around(): OpenSurroundings {
    if (this.#around === undefined) throw new Error('the day has not begun');
    return this.#around;
  }

  get target(): string {
    return `localhost:${String(this.app.ready.port)}`;
  }

  async #sign(signed: SignedToken): Promise<void> {
    // Data sources with another address get their calls elsewhere.
    if (signed.claims.url !== OURS) return;
    const presented = this.tokens.signed(signed);
    this.signed.push(presented);
    if (this.callers.isConnected) await this.clock.hold(() => this.callers.place(presented));
  }
}

async function metricsOf({ ready }: App): Promise<readonly (readonly [string, number])[]> {
  const answer = await fetch(`http://127.0.0.1:${String(ready.opsPort)}/metrics`);
  const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('parley_'));
  return lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))] as const);
}

/** Somebody points a data source of ours to another address, with the tokens of the app and a nonce that nobody here knows. */
async function redirectByHand({ around: { api }, organizations, tokens }: Day): Promise<void> {
  const [organizationId] = organizations;
  const [source] = api.dataSources(organizationId);
  if (source === undefined) throw new Error('there is no data source');
  const send = async (method: string, path: string, bearer: string, body: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const answer = await fetch(api.baseUrl + path, { method, headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(200);
    return answer.json();
  };
  const { clientId, clientSecret } = api.serviceApp;
  const app = { clientId, clientSecret, targetOrgId: organizationId };
  const pair = await send('POST', `/applications/${api.ids.encode('APPLICATION', clientId)}/token`, api.logIn().access_token, app);
  const { audience, subject, schemaId, tokenLifetimeMinutes } = source;
  const body = { audience, subject, schemaId, tokenLifetimeMinutes, nonce: randomUUID(), url: 'http://127.0.0.1:50052' };
  tokens.disturbed(organizationId);
  await send('PUT', `/dataSources/${source.id}`, (pair as { access_token: string }).access_token, body);
}

/** What happens on the day, by the minute. */
function happeningsOf(day: Day): Readonly<Record<number, () => void | Promise<void>>> {
  const { around, organizations, tokens, callers, clock } = day;
  const { api } = around;
  const [first, second, third] = organizations;
  const sources = (organizationId: string) => api.dataSources(organizationId);
  /** Deliveries are no requests of ours: the time stands still until they had their effect. */
  const happened = (what: string, condition: () => boolean): Promise<void> => clock.hold(() => until(what, condition));
  return {
    /** An operator of the platform switches one off. */
    [3 * 60]: () => {
      api.disableDataSource(sources(second)[0]?.id ?? '', 'too many failed calls');
      tokens.disturbed(second);
    },
    [4 * 60]: () => {
      expect(sources(second)).toMatchObject([{ status: 'active', errorMessage: '' }]);
    },
    [5 * 60]: () => redirectByHand(day),
    [6 * 60]: () => {
      expect(sources(first)).toMatchObject([{ url: OURS, status: 'active' }]);
    },
    /** An administrator takes the authorization back, and gives it again an hour later. */
    [7 * 60]: async () => {
      const known = tokens.of(third);
      expect(known.length).toBeGreaterThan(0);
      tokens.ended(third);
      api.switches.onDeauthorization = 'delete';
      api.deauthorize(third);
      await happened('its data source is forgotten', () => day.log.some((line) => line['transition'] === 'forgotten'));
      for (const token of known) expect(await clock.hold(() => day.codeOf(token))).toBe(status.UNAUTHENTICATED);
    },
    [8 * 60]: async () => {
      api.authorize(third);
      await happened('it is registered', () => tokens.of(third).length === 1);
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
    [13 * 60]: async () => {
      const puts = api.journal.count('PUT /dataSources/:id');
      await day.leave();
      await day.serve();
      expect(api.journal.count('PUT /dataSources/:id')).toBe(puts);
      for (const organizationId of organizations) await clock.hold(() => callers.callWithAll(organizationId));
    },
    /** All tokens of an organization are revoked, also the one for a refresh. */
    [15 * 60]: () => {
      expect(api.revokeTokens(api.serviceApp.clientId, 'both', first)).toBeGreaterThan(0);
    },
  };
}

/** No call was lost, and there was one renewal for each that was due. */
function expectNothingLost({ callers, tokens, organizations, around }: Day): void {
  expect(callers).toMatchObject({ refused: 0, broken: 0, described: [] });
  expect(callers.calls).toBeGreaterThan(600);
  expect(organizations.map((organizationId) => around.api.dataSources(organizationId).length)).toEqual([1, 1, 1]);
  // About one for each 68 to 70 minutes: none twice, and none missing but for the outage.
  expect(tokens.doubles).toBe(0);
  expect(tokens.rotations).toBeGreaterThanOrEqual(3 * 18);
  expect(tokens.rotations).toBeLessThanOrEqual(3 * 21 + 2);
  expect(tokens.lapsed).toBeLessThanOrEqual(3);
}

/** Tokens that have ended are refused. */
async function expectRefusalOfEnded({ signed, tokens, clock, codeOf }: Day): Promise<void> {
  const ended = signed.filter((token) => tokens.hasEnded(token) && clock.nowMs() - token.endsAtMs > MINUTE);
  expect(ended.length).toBeGreaterThan(50);
  for (const token of ended.slice(-5)) expect(await clock.hold(() => codeOf(token))).toBe(status.UNAUTHENTICATED);
}

/** What a running server says of itself after the day. */
async function expectHealth(day: Day): Promise<void> {
  // Each of the four pairs about twelve times, and as often anew by the integration as the two of them were lost.
  expect(day.requests.get('POST /access_token')).toBeGreaterThan(4 * 10);
  const now = new Map(await metricsOf(day.app));
  expect(now.get('parley_data_sources{transport="grpc",served="yes"}')).toBe(3);
  expect(now.get('parley_data_sources_alarming{transport="grpc"}')).toBe(0);
  expect(now.get('parley_data_source_token_expiry_seconds{transport="grpc"}')).toBeGreaterThan((LEAD_MINUTES - 1) * 60);
}

/** What the servers of the day counted and logged. */
function expectAccount({ counted, tokens, log }: Day): void {
  const transition = (name: string): number =>
    counted.get(`parley_data_source_transitions_total{transport="grpc",transition="${name}"}`) ?? 0;
  expect(transition('created')).toBe(4);
  expect(transition('renewed') + transition('repaired')).toBe(tokens.rotations);
  expect([transition('repaired'), transition('forgotten'), transition('adopted')]).toEqual([2, 1, 3]);
  // Only the outage is worth an alarm.
  const errors = log.filter((line) => line['level'] === 'error');
  expect(errors.filter((line) => line['transition'] !== 'overdue')).toEqual([]);
  expect(errors.length).toBe(transition('overdue'));
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
  expectNothingLost(day);
  await expectRefusalOfEnded(day);
  await expectHealth(day);
  await day.end();
  expectAccount(day);
  expect(day.clock.pendingTimers).toBe(0);
  await until(
    () => `nothing is left: ${JSON.stringify(addedResources(before, process.getActiveResourcesInfo()))}`,
    () => addedResources(before, process.getActiveResourcesInfo()).length === 0,
  );
}, 400_000);
