import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { OTHER_ORG, ORG, profile, RunningApi } from './running-api.ts';

const SECRET = 'the secret of the webhook';
const { sha1SignatureHeader: WEAK = '', sha2SignatureHeader: STRONG = '' } = profile.webhook ?? {};

/** What came in, with the bytes as they came. */
interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver on this machine that keeps what comes and answers as it is set. */
class Receiver {
  readonly received: Received[] = [];
  answer: (response: ServerResponse) => void = (response) => response.writeHead(202).end();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.received.push({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() });
        this.answer(response);
      });
    });
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Receiver(server);
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/hooks`;
  }

  /** The bodies, parsed. */
  get payloads(): readonly Readonly<Record<string, unknown>>[] {
    return this.received.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

let running: RunningApi;
let receiver: Receiver;
beforeEach(async () => {
  [running, receiver] = await Promise.all([RunningApi.start(), Receiver.start()]);
});
afterEach(async () => {
  await running.close();
  await receiver.close();
  expect(running.clock.pendingTimers).toBe(0);
});

async function watch(changes: Readonly<Record<string, unknown>> = {}): Promise<Readonly<Record<string, unknown>>> {
  const { api } = running;
  const json = {
    name: 'watcher',
    targetUrl: receiver.url,
    resource: profile.webhook?.appResource,
    event: 'authorized',
    filter: `id=${api.ids.encode('APPLICATION', api.serviceApp.clientId)}`,
    secret: SECRET,
    ...changes,
  };
  const reply = await running.ask('POST /webhooks', { token: api.logIn().access_token, json });
  if (reply.status !== 200) throw new Error(`not created: ${reply.text}`);
  return reply.json;
}

/** What came first. */
function firstReceived(): Received {
  const [received] = receiver.received;
  if (received === undefined) throw new Error('nothing has come');
  return received;
}

const outcomes = (): readonly string[] => running.api.deliveries.log.map(({ outcome }) => outcome.kind);
const hmac = (algorithm: string, body: string): string => createHmac(algorithm, SECRET).update(body).digest('hex');

describe('a delivery', () => {
  it('says who authorized what and when; the organization of its envelope is the developer’s', async () => {
    const webhook = await watch();
    const { api } = running;
    const { date } = api.authorize(ORG);
    await api.deliveries.settled();
    expect(receiver.payloads).toEqual([
      {
        id: webhook['id'],
        name: 'watcher',
        resource: profile.webhook?.appResource,
        event: 'authorized',
        filter: webhook['filter'],
        orgId: api.ids.encode('ORGANIZATION', api.integration.developer.organizationId),
        createdBy: webhook['createdBy'],
        appId: webhook['appId'],
        ownedBy: 'creator',
        status: 'active',
        actorId: expect.any(String) as string,
        data: {
          id: api.ids.encode('APPLICATION', api.serviceApp.clientId),
          authorizerOrgId: api.ids.encode('ORGANIZATION', ORG),
          authorizationDate: date,
        },
      },
    ]);
    expect(firstReceived().headers['content-type']).toBe('application/json');
    expect(firstReceived().url).toBe('/hooks');
    expect(api.deliveries.log).toMatchObject([{ event: 'authorized', organizationId: ORG, outcome: { kind: 'answered', status: 202 } }]);
  });

  it('H-10 is signed over its raw bytes with SHA-1 in lower-case hex, and H-11 with nothing else by default', async () => {
    await watch();
    running.api.authorize(ORG);
    await running.api.deliveries.settled();
    const { headers, body } = firstReceived();
    expect(headers[WEAK.toLowerCase()]).toBe(hmac('sha1', body));
    expect(headers[WEAK.toLowerCase()]).toMatch(/^[0-9a-f]{40}$/u);
    expect(headers).not.toHaveProperty(STRONG.toLowerCase());
  });

  it.each([
    ['pair', (body: string) => `SHA-256=${hmac('sha256', body)},SHA-512=${hmac('sha512', body)}`],
    ['sha256', (body: string) => `sha256=${hmac('sha256', body)}`],
    ['hex', (body: string) => hmac('sha256', body)],
    ['garbage', () => 'v1;none'],
  ] as const)('H-11 can carry the stronger header as %s', async (form, expected) => {
    await watch();
    running.api.switches.delivery.strongSignature = form;
    running.api.authorize(ORG);
    await running.api.deliveries.settled();
    const { headers, body } = firstReceived();
    expect(headers[STRONG.toLowerCase()]).toBe(expected(body));
    expect(headers[WEAK.toLowerCase()]).toBe(hmac('sha1', body));
  });

  it('H-12 can be signed wrongly in either header, or not at all', async () => {
    await watch();
    const { api } = running;
    api.switches.delivery.strongSignature = 'wrong';
    api.authorize(ORG);
    await api.deliveries.settled();
    api.switches.delivery.signature = 'foreign';
    api.authorize(ORG);
    await api.deliveries.settled();
    api.switches.delivery.signature = 'none';
    api.authorize(ORG);
    await api.deliveries.settled();
    const [wrong, foreign, none] = receiver.received;
    expect(wrong?.headers[WEAK.toLowerCase()]).toBe(hmac('sha1', wrong?.body ?? ''));
    expect(wrong?.headers[STRONG.toLowerCase()]).toMatch(/^SHA-256=[0-9a-f]{64},SHA-512=[0-9a-f]{128}$/u);
    expect(wrong?.headers[STRONG.toLowerCase()]).not.toContain(hmac('sha256', wrong?.body ?? ''));
    expect(foreign?.headers[WEAK.toLowerCase()]).toMatch(/^[0-9a-f]{40}$/u);
    expect(foreign?.headers[WEAK.toLowerCase()]).not.toBe(hmac('sha1', foreign?.body ?? ''));
    expect(none?.headers).not.toHaveProperty(WEAK.toLowerCase());
    expect(none?.headers).not.toHaveProperty(STRONG.toLowerCase());
  });

  it('is not signed when the webhook has no secret', async () => {
    await watch({ secret: undefined });
    running.api.authorize(ORG);
    await running.api.deliveries.settled();
    expect(firstReceived().headers).not.toHaveProperty(WEAK.toLowerCase());
  });

  it.each([
    ['uuid', ORG],
    ['encoded_uuid', Buffer.from(ORG).toString('base64url')],
  ] as const)('H-02 can write the organization as %s', async (form, text) => {
    await watch();
    running.api.switches.delivery.organizationForm = form;
    running.api.authorize(ORG);
    await running.api.deliveries.settled();
    expect(receiver.payloads[0]?.['data']).toMatchObject({ authorizerOrgId: text });
  });

  it('H-22 carries the original date when an authorization ends, or its own', async () => {
    await watch({ event: 'deauthorized' });
    const { api, clock } = running;
    const dates: string[] = [];
    for (const form of ['original', 'own'] as const) {
      api.switches.delivery.deauthorizationDate = form;
      const { date } = api.authorize(ORG);
      clock.advance(60_000);
      api.deauthorize(ORG);
      await api.deliveries.settled();
      dates.push(form === 'original' ? date : new Date(clock.nowMs()).toISOString());
    }
    expect(receiver.payloads.map(({ event }) => event)).toEqual(['deauthorized', 'deauthorized']);
    expect(receiver.payloads.map(({ data }) => (data as { authorizationDate: string }).authorizationDate)).toEqual(dates);
  });

  it('H-21 can speak of an app that is not the receiver’s', async () => {
    await watch();
    running.api.switches.delivery.foreignApp = true;
    running.api.authorize(ORG);
    await running.api.deliveries.settled();
    const data = receiver.payloads[0]?.['data'] as { id: string } | undefined;
    const id = data?.id ?? '';
    expect(running.api.ids.decode('APPLICATION', id)).toMatch(/^C[0-9a-f]{64}$/u);
    expect(running.api.ids.decode('APPLICATION', id)).not.toBe(running.api.serviceApp.clientId);
  });

  it('R-23 goes to the webhooks of its event and its app, however their filter is encoded, and to no others', async () => {
    const { api } = running;
    await watch({ name: 'this one' });
    const padded = Buffer.from(api.ids.encode('APPLICATION', api.serviceApp.clientId), 'base64url').toString('base64');
    await watch({ name: 'this one, too', filter: `id=${padded}` });
    await watch({ name: 'all apps', filter: undefined });
    await watch({ name: 'another event', event: 'deauthorized' });
    await watch({ name: 'another app', filter: `id=${api.ids.encode('APPLICATION', 'C00')}` });
    await watch({ name: 'data sources', resource: profile.webhook?.dataSourceResource, filter: undefined });
    api.authorize(ORG);
    await api.deliveries.settled();
    expect(receiver.payloads.map(({ name }) => String(name)).sort()).toEqual(['all apps', 'this one', 'this one, too']);
  });
});

describe('deliveries gone wrong', () => {
  it('H-22 can be repeated and dropped', async () => {
    await watch();
    const { api } = running;
    api.switches.delivery.copies = 3;
    api.authorize(ORG);
    await api.deliveries.settled();
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    api.switches.delivery.copies = 0;
    api.authorize(OTHER_ORG);
    await api.deliveries.settled();
    expect(receiver.received).toHaveLength(3);
    expect(outcomes()).toEqual(['answered', 'answered', 'answered', 'dropped']);
  });

  it('H-24 can come late', async () => {
    await watch();
    running.api.switches.delivery.delayMs = 5000;
    running.api.authorize(ORG);
    await running.clock.advanceAsync(4999);
    expect(receiver.received).toEqual([]);
    expect(outcomes()).toEqual(['under_way']);
    await running.clock.advanceAsync(1);
    await running.api.deliveries.settled();
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['kept', ['authorized', 'deauthorized']],
    ['reversed', ['deauthorized', 'authorized']],
  ] as const)('H-23 can be held, and released with their order %s', async (order, events) => {
    await watch();
    await watch({ event: 'deauthorized' });
    const { api } = running;
    api.switches.delivery.hold = true;
    api.authorize(ORG);
    api.deauthorize(ORG);
    await api.deliveries.settled();
    expect(receiver.received).toEqual([]);
    expect(outcomes()).toEqual(['held', 'held']);
    api.deliveries.release(order);
    await api.deliveries.settled();
    expect(receiver.payloads.map(({ event }) => event)).toEqual(events);
    api.deliveries.release();
    await api.deliveries.settled();
    expect(receiver.received).toHaveLength(2);
  });

  it('H-24 are not tried again, and make the webhook inactive after so many failures in a row', async () => {
    const id = String((await watch())['id']);
    const { api } = running;
    api.switches.delivery.deactivateAfter = 2;
    const statuses = [500, 202, 404, 302];
    for (const status of statuses) {
      receiver.answer = (response) => response.writeHead(status, { location: receiver.url }).end();
      api.authorize(ORG);
      await api.deliveries.settled();
    }
    expect(receiver.received).toHaveLength(4);
    expect(api.deliveries.log.map(({ outcome }) => (outcome.kind === 'answered' ? outcome.status : 0))).toEqual(statuses);
    const token = api.logIn().access_token;
    const { json } = await running.ask(`GET /webhooks/${id}`, { token });
    expect(json['status']).toBe('inactive');
    api.authorize(OTHER_ORG);
    await api.deliveries.settled();
    expect(receiver.received).toHaveLength(4);
    // active again, and one failure is not enough any more.
    await running.ask(`PUT /webhooks/${id}`, { token, json: { name: 'again', targetUrl: receiver.url, status: 'active' } });
    api.authorize(ORG);
    await api.deliveries.settled();
    expect(receiver.received).toHaveLength(5);
    expect(api.webhooks()[0]?.status).toBe('active');
  });

  it('end when the receiver does not answer in time, or is not there', async () => {
    await watch();
    await watch({ targetUrl: 'http://127.0.0.1:1/' });
    receiver.answer = () => undefined;
    running.api.authorize(ORG);
    await until('the delivery has come', () => receiver.received.length === 1);
    await running.clock.advanceAsync(10_000);
    await running.api.deliveries.settled();
    expect(outcomes()).toEqual(['failed', 'failed']);
  });

  it('do not hold up the end of the platform', async () => {
    await watch();
    receiver.answer = () => undefined;
    running.api.authorize(ORG);
    await until('the delivery has come', () => receiver.received.length === 1);
    running.api.switches.delivery.delayMs = 60_000;
    running.api.authorize(ORG);
    running.api.switches.delivery.hold = true;
    running.api.authorize(ORG);
    await running.close();
    expect(outcomes()).toEqual(['failed', 'failed', 'held']);
    expect(receiver.received).toHaveLength(1);
  });
});
