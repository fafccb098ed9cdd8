// Webhooks over HTTP: create, list by pages, get, update, delete. An integration accesses the webhooks of its developer.
import { z } from 'zod';
import { isLoopback } from '../../base/loopback.ts';
import type { AdminNames } from './names.ts';
import { isoTime } from './platform-time.ts';
import type { Platform } from './platform.ts';
import { parsed, Refusal } from './refusal.ts';
import type { Answer, GuardedRoute, Permitted } from './route.ts';
import type { Grant } from './token-book.ts';
import { filteredApp, webhookToWire, type Webhook } from './webhook-book.ts';

// The known events.
const EVENTS = [
  ...['created', 'updated', 'deleted', 'started', 'ended', 'joined', 'left', 'migrated'],
  ...['authorized', 'deauthorized', 'statusChanged'],
] as const;
const MAX_CHARS = 2000;
const MAX_PAGE = 100;

const text = z.string().min(1).max(MAX_CHARS);
const changeable = { name: text, targetUrl: text, secret: text.optional(), ownedBy: z.literal('org').optional() };
// Other members are ignored and not refused. `active` is the only status that a client can set.
const update = z.object({ ...changeable, status: z.literal('active').optional() });
const listQuery = z.strictObject({
  max: z
    .string()
    .regex(/^[1-9]\d{0,3}$/u)
    .optional(),
  ownedBy: z.literal('org').optional(),
  cursor: text.optional(),
});

export function webhookRoutes(platform: Platform): readonly GuardedRoute[] {
  const { webhookBook: book, ids, names } = platform;
  const resources = z.enum([names.webhook.appResource, names.webhook.dataSourceResource]);
  const creation = z.strictObject({ ...changeable, resource: resources, event: z.enum(EVENTS), filter: text.optional() });
  const wired = (webhook: Webhook): Answer => ({ status: 200, json: webhookToWire(webhook, ids) });

  const create = ({ body, grant }: Permitted): Answer => {
    const { name, targetUrl, resource, event, filter, secret, ownedBy = 'creator' } = parsed(creation, body);
    demandTarget(targetUrl, names);
    // The other known filters are about resources that a service app does not have.
    if (filter !== undefined && filteredApp(filter, ids) === undefined)
      refuseBody('filter: is not id=, and behind it the id of an application');
    const { clientId, organizationId, accountId: personId } = grant;
    const owner = { clientId, organizationId, personId, created: isoTime(platform.nowMs()) };
    return wired(book.add({ ...owner, name, targetUrl, resource, event, filter, secret, ownedBy }));
  };

  const change = ({ id, body, grant }: Permitted): Answer => {
    const webhook = own(platform, id, grant);
    const { name, targetUrl, secret = webhook.secret, status = webhook.status, ownedBy = webhook.ownedBy } = parsed(update, body);
    demandTarget(targetUrl, names);
    return wired(book.change({ ...webhook, name, targetUrl, secret, status, ownedBy }));
  };

  const remove = ({ id, grant }: Permitted): Answer => {
    book.delete(own(platform, id, grant).id);
    return { status: 204 };
  };

  return [
    { name: 'GET /webhooks', needs: 'webhooksRead', answer: ({ query, grant }) => list(platform, query, grant) },
    { name: 'POST /webhooks', needs: 'webhooksWrite', takes: 'json', answer: create },
    { name: 'GET /webhooks/:id', needs: 'webhooksRead', answer: ({ id, grant }) => wired(own(platform, id, grant)) },
    { name: 'PUT /webhooks/:id', needs: 'webhooksWrite', takes: 'json', answer: change },
    { name: 'DELETE /webhooks/:id', needs: 'webhooksWrite', answer: remove },
  ];
}

function list({ webhookBook: book, ids, baseUrl }: Platform, query: unknown, grant: Grant): Answer {
  const { max, ownedBy, cursor } = parsed(listQuery, query);
  const size = Math.min(Number(max ?? MAX_PAGE), MAX_PAGE);
  const mine = book.all().filter((webhook) => isOwn(webhook, grant) && (ownedBy === undefined || webhook.ownedBy === ownedBy));
  const start = cursor === undefined ? 0 : mine.findIndex(({ id }) => id === ids.decode('WEBHOOK', cursor));
  if (start === -1) throw new Refusal(400, 'the cursor leads nowhere');
  const items = mine.slice(start, start + size).map((webhook) => webhookToWire(webhook, ids));
  const next = mine[start + size];
  if (next === undefined) return { status: 200, json: { items } };
  const url = new URL(`${baseUrl}/webhooks`);
  url.searchParams.set('max', String(size));
  if (ownedBy !== undefined) url.searchParams.set('ownedBy', ownedBy);
  url.searchParams.set('cursor', ids.encode('WEBHOOK', next.id));
  return { status: 200, json: { items }, headers: { link: `<${url.href}>; rel="next"` } };
}

function own({ webhookBook: book, ids }: Platform, encoded: string, grant: Grant): Webhook {
  const webhook = book.find(ids.decode('WEBHOOK', encoded) ?? '');
  if (webhook !== undefined && isOwn(webhook, grant)) return webhook;
  throw new Refusal(404, 'there is no such webhook');
}

function isOwn(webhook: Webhook, { clientId, accountId }: Grant): boolean {
  return webhook.clientId === clientId && webhook.personId === accountId;
}

function demandTarget(targetUrl: string, { rest }: AdminNames): void {
  const url = URL.canParse(targetUrl) ? new URL(targetUrl) : undefined;
  const isPlain = url?.protocol === 'http:' && rest.allowLoopbackHttp === true && isLoopback(url.hostname.replace(/^\[|\]$/gu, ''));
  if (url?.protocol !== 'https:' && !isPlain) refuseBody('targetUrl: must be https');
}

function refuseBody(description: string): never {
  throw new Refusal(400, 'the request is not valid', { descriptions: [description] });
}
