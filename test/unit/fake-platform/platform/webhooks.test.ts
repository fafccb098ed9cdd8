import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { descriptions, profile, RunningApi, type Reply } from './running-api.ts';

let running: RunningApi;
let token = '';
beforeEach(async () => {
  running = await RunningApi.start();
  token = running.api.logIn().access_token;
});
afterEach(async () => {
  await running.close();
});

const WEBHOOK = {
  name: 'authorizations',
  targetUrl: 'https://receiver.example/hooks',
  resource: profile.webhook?.appResource,
  event: 'authorized',
  secret: 'a secret',
};

const create = (changes: Readonly<Record<string, unknown>> = {}): Promise<Reply> =>
  running.ask('POST /webhooks', { token, json: { ...WEBHOOK, ...changes } });

async function created(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const { json, text } = await create(changes);
  if (typeof json['id'] !== 'string') throw new Error(`not created: ${text}`);
  return json['id'];
}

function names({ json }: Reply): readonly unknown[] {
  return (json['items'] as readonly { readonly name: unknown }[]).map(({ name }) => name);
}

describe('a webhook', () => {
  it('R-21 has the members of the contract, with ids as they travel', async () => {
    const { ids, integration, serviceApp } = running.api;
    const filter = `id=${ids.encode('APPLICATION', serviceApp.clientId)}`;
    const { status, json } = await create({ filter });
    expect(status).toBe(200);
    expect(json).toEqual({
      ...WEBHOOK,
      filter,
      id: expect.any(String) as string,
      status: 'active',
      created: new Date(running.clock.nowMs()).toISOString(),
      ownedBy: 'creator',
      orgId: ids.encode('ORGANIZATION', integration.developer.organizationId),
      createdBy: ids.encode('PEOPLE', integration.developer.personId),
      appId: ids.encode('APPLICATION', integration.clientId),
    });
    expect(ids.decode('WEBHOOK', String(json['id']))).toBe(running.api.webhooks()[0]?.id);
    expect((await running.ask(`GET /webhooks/${String(json['id'])}`, { token })).json).toEqual(json);
  });

  it.each(['name', 'targetUrl', 'resource', 'event'])('needs %s', async (field) => {
    const refused = await create({ [field]: undefined });
    expect(refused.status).toBe(400);
    expect(descriptions(refused)).toEqual([expect.stringMatching(new RegExp(`^${field}: `, 'u'))]);
  });

  it.each([
    ['a target without TLS', { targetUrl: 'http://receiver.example/' }],
    ['a target that is no address', { targetUrl: 'receiver' }],
    ['R-22 a resource that there is not', { resource: 'messages' }],
    ['R-22 an event that there is not', { event: 'exploded' }],
    ['R-23 a filter for anything but an id', { filter: 'friendlyName=x' }],
    ['R-23 a filter for no id', { filter: 'id=C00' }],
    ['an owner that there is not', { ownedBy: 'creator' }],
    ['a status', { status: 'active' }],
    ['a member that there is not', { more: 1 }],
  ])('is refused for %s', async (_what, changes) => {
    expect((await create(changes)).status).toBe(400);
    expect(running.api.webhooks()).toEqual([]);
  });

  it.each(['created', 'updated', 'deleted', 'statusChanged'])('R-22 may wait for data sources that were %s', async (event) => {
    expect((await create({ resource: profile.webhook?.dataSourceResource, event })).status).toBe(200);
  });

  it('R-24 is not idempotent: the same one twice is two', async () => {
    expect(await created()).not.toBe(await created());
    expect(running.api.webhooks()).toHaveLength(2);
  });

  it('R-20 changes in name, target, secret and owner; other members are ignored', async () => {
    const id = await created();
    const json = { name: 'new', targetUrl: 'http://127.0.0.1:1/', secret: 'other', ownedBy: 'org', event: 'deauthorized', resource: 'x' };
    const changed = await running.ask(`PUT /webhooks/${id}`, { token, json });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({ ...WEBHOOK, name: 'new', targetUrl: 'http://127.0.0.1:1/', secret: 'other', ownedBy: 'org' });
    const { secret: _secret, ...without } = json;
    expect((await running.ask(`PUT /webhooks/${id}`, { token, json: without })).json['secret']).toBe('other');
    for (const field of ['name', 'targetUrl']) {
      expect((await running.ask(`PUT /webhooks/${id}`, { token, json: { ...json, [field]: undefined } })).status).toBe(400);
    }
  });

  it('R-20 cannot be made inactive, only active again', async () => {
    const id = await created();
    const put = (status: string): Promise<Reply> => running.ask(`PUT /webhooks/${id}`, { token, json: { ...WEBHOOK, status } });
    expect((await put('inactive')).status).toBe(400);
    expect(running.api.deactivateWebhook(running.api.webhooks()[0]?.id ?? '')).toBe(true);
    expect(running.api.deactivateWebhook('none')).toBe(false);
    expect((await running.ask(`GET /webhooks/${id}`, { token })).json['status']).toBe('inactive');
    const { status: _status, ...silent } = { ...WEBHOOK, status: '' };
    expect((await running.ask(`PUT /webhooks/${id}`, { token, json: silent })).json['status']).toBe('inactive');
    expect((await put('active')).json['status']).toBe('active');
  });

  it('is deleted with 204 and nothing more', async () => {
    const id = await created();
    const gone = await running.ask(`DELETE /webhooks/${id}`, { token });
    expect([gone.status, gone.text]).toEqual([204, '']);
    for (const method of ['GET', 'DELETE']) expect((await running.ask(`${method} /webhooks/${id}`, { token })).status).toBe(404);
    expect((await running.ask(`PUT /webhooks/${id}`, { token, json: WEBHOOK })).status).toBe(404);
  });

  it('is seen by its own integration only, which needs the scopes', async () => {
    const id = await created();
    const stranger = running.api.logIn(running.api.apps.addIntegration()).access_token;
    expect((await running.ask(`GET /webhooks/${id}`, { token: stranger })).status).toBe(404);
    expect(names(await running.ask('GET /webhooks', { token: stranger }))).toEqual([]);
    const [, read = '', write = ''] = running.api.integration.scopes;
    const reader = running.api.logIn({ ...running.api.integration, scopes: [read] }).access_token;
    const writer = running.api.logIn({ ...running.api.integration, scopes: [write] }).access_token;
    expect((await running.ask(`GET /webhooks/${id}`, { token: reader })).status).toBe(200);
    expect((await running.ask('POST /webhooks', { token: reader, json: WEBHOOK })).status).toBe(403);
    expect((await running.ask('GET /webhooks', { token: writer })).status).toBe(403);
    expect((await running.ask(`DELETE /webhooks/${id}`, { token: writer })).status).toBe(204);
  });
});

describe('the list of webhooks', () => {
  it('comes in pages that link to the next, until there is none', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await created({ name });
    const pages: unknown[] = [];
    let next: string | undefined = `${running.api.baseUrl}/webhooks?max=2`;
    while (next !== undefined && pages.length < 10) {
      const page: Reply = await running.ask(`GET ${next}`, { token });
      pages.push(names(page));
      next = /^<(?<url>[^>]+)>; rel="next"$/u.exec(page.headers.get('link') ?? '')?.groups?.['url'];
    }
    expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('has at most 100 in a page, which is the default', async () => {
    for (let count = 0; count < 101; count += 1) await created({ name: String(count) });
    for (const query of ['', '?max=100', '?max=1000']) {
      const page = await running.ask(`GET /webhooks${query}`, { token });
      expect(names(page)).toHaveLength(100);
      expect(page.headers.get('link')).toContain('max=100');
    }
  });

  it('can be asked for those of the organization', async () => {
    await created({ name: 'mine' });
    await created({ name: 'ours', ownedBy: 'org' });
    await created({ name: 'ours, too', ownedBy: 'org' });
    expect(names(await running.ask('GET /webhooks?ownedBy=org', { token }))).toEqual(['ours', 'ours, too']);
    const page = await running.ask('GET /webhooks?ownedBy=org&max=1', { token });
    expect(new URL(/<(.+)>/u.exec(page.headers.get('link') ?? '')?.[1] ?? 'none:').searchParams.get('ownedBy')).toBe('org');
  });

  it.each(['max=0', 'max=-1', 'max=x', 'max=1&max=2', 'ownedBy=creator', 'cursor=x', 'other=1'])('is refused for ?%s', async (query) => {
    expect((await running.ask(`GET /webhooks?${query}`, { token })).status).toBe(400);
  });
});
