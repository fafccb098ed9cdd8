// Data sources, schemas and webhooks as requests: which path, which body, and what becomes of the answer.
import { describe, expect, it } from 'vitest';
import { DataSources } from '../../../../src/admin/rest/data-sources.ts';
import { nextPage } from '../../../../src/admin/rest/next-page.ts';
import { pathSegment } from '../../../../src/admin/rest/rest-client.ts';
import { RestClient } from '../../../../src/admin/rest/rest-client.ts';
import { Schemas } from '../../../../src/admin/rest/schemas.ts';
import { Webhooks } from '../../../../src/admin/rest/webhooks.ts';
import {
  adminServer,
  answer,
  countedTokens,
  cut,
  failureOf,
  json,
  keptLog,
  passPause,
  type AdminServer,
} from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import type { Answering } from '../../../support/speech-service.ts';
import { never } from '../../../support/voice.ts';

interface Resources {
  readonly server: AdminServer;
  readonly clock: FakeClock;
  readonly dataSources: DataSources;
  readonly schemas: Schemas;
  readonly webhooks: Webhooks;
}

async function open(...ways: readonly Answering[]): Promise<Resources> {
  const server = await adminServer(...ways);
  const clock = new FakeClock();
  const rest = new RestClient({ address: server.address, tokens: countedTokens(), clock, log: keptLog().log, random: () => 0.5 });
  const claims = { url: 'x.url', schema: 'x.schema', org: 'x.org' };
  return { server, clock, dataSources: new DataSources(rest, claims), schemas: new Schemas(rest), webhooks: new Webhooks(rest) };
}

function asked({ received }: AdminServer): unknown[] {
  return received.map(({ method, path, body }) => {
    const sent: unknown = body.length === 0 ? undefined : JSON.parse(body.toString());
    return sent === undefined ? [method, path] : [method, path, sent];
  });
}

const CREATE = {
  ...{ audience: 'a', subject: 's', nonce: 'CANARY-nonce', schemaId: '5397013b-7920-4ffc-807c-e8a3e0a18f43', url: 'https://bot.example' },
  tokenLifetimeMinutes: 60,
};

describe('data sources', () => {
  it.each([200, 201])('are registered with all fields, and the answer %i is good', async (status) => {
    const { dataSources, server } = await open(answer(status, { ...CREATE, id: 'ds-1' }));
    expect(await dataSources.create(CREATE, never())).toMatchObject({ id: 'ds-1', url: 'https://bot.example' });
    expect(asked(server)).toEqual([['POST', '/v1/dataSources', CREATE]]);
  });

  it('are never registered twice because an answer was lost (R-12)', async () => {
    const { dataSources, server, clock } = await open(cut());
    expect(await failureOf(dataSources.create(CREATE, never()))).toMatchObject({ code: 'platform_unavailable', mayHaveHappened: true });
    expect([server.received.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('may have been registered when the answer has no id (L-06, R-12)', async () => {
    const { dataSources } = await open(json({ nonce: 'CANARY' }));
    expect(await failureOf(dataSources.create(CREATE, never()))).toMatchObject({ code: 'platform_answer_invalid', mayHaveHappened: true });
  });

  it('that cannot be registered are not sent', async () => {
    const { dataSources, server } = await open(json({}));
    expect((await failureOf(dataSources.create({ ...CREATE, tokenLifetimeMinutes: 0 }, never()))).code).toBe('config_invalid');
    expect((await failureOf(dataSources.update('x', { status: 'disabled' }, never()))).code).toBe('config_invalid');
    expect(server.received).toEqual([]);
  });

  it.each([
    ['wrapped', { items: [{ id: 'a' }, { id: 'b' }] }],
    ['bare', [{ id: 'a' }, { id: 'b' }]],
  ])('are listed, %s', async (_, list) => {
    const { dataSources, server } = await open(json(list));
    expect((await dataSources.list(never())).map(({ id }) => id)).toEqual(['a', 'b']);
    expect(asked(server)).toEqual([['GET', '/v1/dataSources/']]);
  });

  it.each([
    ['is not there', answer(404, '')],
    ['has another method', answer(405, '')],
    ['redirects', answer(301, '', { location: '/v1/dataSources' })],
  ])('are listed without the slash at the end where the path with it %s', async (_, way) => {
    const { dataSources, server } = await open(way, json({ items: [] }));
    expect(await dataSources.list(never())).toEqual([]);
    expect(asked(server)).toEqual([
      ['GET', '/v1/dataSources/'],
      ['GET', '/v1/dataSources'],
    ]);
  });

  it('are not asked for again without the slash after any other refusal', async () => {
    const { dataSources, server } = await open(answer(403, ''));
    expect((await failureOf(dataSources.list(never()))).code).toBe('platform_refused');
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['without items', {}],
    ['with an item without id', { items: [{ id: 'a' }, { nonce: 'CANARY' }] }],
  ])('in a list %s are an error (L-06)', async (_, list) => {
    const { dataSources } = await open(json(list));
    expect((await failureOf(dataSources.list(never()))).code).toBe('platform_answer_invalid');
  });

  it('are read, changed only in what is given, and deleted, each by its escaped id', async () => {
    const { dataSources, server } = await open(json({ id: 'a/b' }), json({ id: 'a/b' }), answer(204, undefined));
    await dataSources.get('a/b', never());
    await dataSources.update('a/b', { nonce: 'n2' }, never());
    await dataSources.delete('a/b', never());
    expect(asked(server)).toEqual([
      ['GET', '/v1/dataSources/a%2Fb'],
      ['PUT', '/v1/dataSources/a%2Fb', { nonce: 'n2' }],
      ['DELETE', '/v1/dataSources/a%2Fb'],
    ]);
  });

  it('that do not exist are recognized by the status', async () => {
    const { dataSources } = await open(answer(404, ''));
    expect(await failureOf(dataSources.get('x', never()))).toMatchObject({ code: 'platform_refused', details: { status: 404 } });
    expect(await failureOf(dataSources.delete('x', never()))).toMatchObject({ code: 'platform_refused', details: { status: 404 } });
  });
});

describe('an id in a path', () => {
  it.each(['', '.', '..', 'x'.repeat(513)])('may not be %j', (id) => {
    expect(() => pathSegment(id)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

describe('schemas', () => {
  it('are listed', async () => {
    const schema = { id: 's-1', protocol: 'gRPC', appType: 'serviceApp' };
    const { schemas, server } = await open(json({ items: [schema] }));
    expect(await schemas.list(never())).toMatchObject([schema]);
    expect(asked(server)).toEqual([['GET', '/v1/dataSources/schemas']]);
  });
});

describe('webhooks', () => {
  const CREATE_HOOK = {
    name: 'n',
    targetUrl: 'https://a.example/h',
    resource: 'r',
    event: 'authorized',
    filter: 'id=1',
    secret: 'CANARY-s',
  };

  it('are created, changed and deleted', async () => {
    const { webhooks, server } = await open(json({ ...CREATE_HOOK, id: 'w' }), json({ id: 'w' }), answer(204, undefined));
    expect(await webhooks.create(CREATE_HOOK, never())).toMatchObject({ id: 'w', event: 'authorized' });
    await webhooks.update('w', { name: 'n', targetUrl: 'https://a.example/h', status: 'active' }, never());
    await webhooks.delete('w', never());
    expect(asked(server)).toEqual([
      ['POST', '/v1/webhooks', CREATE_HOOK],
      ['PUT', '/v1/webhooks/w', { name: 'n', targetUrl: 'https://a.example/h', status: 'active' }],
      ['DELETE', '/v1/webhooks/w'],
    ]);
  });

  it('are not created twice because an answer was lost (R-24)', async () => {
    const { webhooks, server } = await open(cut());
    expect(await failureOf(webhooks.create(CREATE_HOOK, never()))).toMatchObject({ mayHaveHappened: true });
    expect(server.received).toHaveLength(1);
  });

  it('are gone when the answer to their removal was lost', async () => {
    const { webhooks, clock } = await open(cut(), answer(404, ''));
    const work = webhooks.delete('w', never());
    await passPause(clock, 250);
    await work;
  });

  it('are listed over all pages', async () => {
    const page = (number: number): Answering => {
      const link = `</v1/webhooks?max=100&cursor=${String(number + 1)}>; rel="next"`;
      return answer(200, { items: [{ id: `w-${String(number)}` }] }, number < 3 ? { link } : {});
    };
    const { webhooks, server } = await open(page(1), page(2), page(3));
    expect((await webhooks.list(never())).map(({ id }) => id)).toEqual(['w-1', 'w-2', 'w-3']);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/v1/webhooks?max=100',
      '/v1/webhooks?max=100&cursor=2',
      '/v1/webhooks?max=100&cursor=3',
    ]);
  });

  it.each([
    ['leads in a circle', () => '</v1/webhooks?max=100>; rel="next"', 1],
    ['has no end', (count: number) => `</v1/webhooks?cursor=${String(count)}>; rel="next"`, 20],
    ['leads to another host', () => '<https://elsewhere.example/v1/webhooks>; rel="next"', 1],
    ['leads out of the interface', () => '</v2/webhooks>; rel="next"', 1],
  ])('are not listed when the next page %s: no token goes elsewhere, and no part passes for all', async (_, link, requests) => {
    let count = 0;
    const { webhooks, server } = await open((response, received) => {
      count += 1;
      answer(200, { items: [{ id: `w-${String(count)}` }] }, { link: link(count) })(response, received);
    });
    expect((await failureOf(webhooks.list(never()))).code).toBe('platform_answer_invalid');
    expect(server.received).toHaveLength(requests);
  });
});

describe('the next page', () => {
  const BASE = 'https://api.example/v1';

  it.each([
    [null, undefined],
    ['', undefined],
    [`<${BASE}/webhooks?c=2>; rel="next"`, '/webhooks?c=2'],
    [`<${BASE}/webhooks?c=2>;rel=next`, '/webhooks?c=2'],
    [`<${BASE}/webhooks?c=2>; title="a, b; c"; rel="last next"`, '/webhooks?c=2'],
    [`<${BASE}/webhooks?c=0>; rel="prev", <${BASE}/webhooks?c=2>; REL="Next"`, '/webhooks?c=2'],
    [`<${BASE}/webhooks?c=0>; rel="prev"`, undefined],
    [`<${BASE}/webhooks?c=0>; rel="nextish"`, undefined],
    ['<webhooks?c=2>; rel="next"', '/webhooks?c=2'],
    ['nonsense', undefined],
  ])('of %j is %j', (link, expected) => {
    expect(nextPage(link, BASE)).toBe(expected);
  });

  it.each([
    '<https://api.example.evil/v1/webhooks>; rel="next"',
    '<https://user@api.example/v1/webhooks>; rel="next"',
    '<http://api.example/v1/webhooks>; rel="next"',
    '<https://api.example/v1/../v2>; rel="next"',
    '<https://api.example/v1/%2e%2e/v2>; rel="next"',
    '<https://api.example/v1evil>; rel="next"',
    '<//elsewhere.example/v1/webhooks>; rel="next"',
    `<${BASE}/${'x'.repeat(5000)}>; rel="next"`,
  ])('of %.60s is refused', (link) => {
    expect(() => nextPage(link, BASE)).toThrow(expect.objectContaining({ code: 'platform_answer_invalid' }));
  });
});
