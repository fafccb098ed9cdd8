import { describe, expect, it } from 'vitest';
import { readDelivery, type DeliveryTarget } from '../../../../src/admin/webhooks/delivery.ts';

const SCHEME = 'fakeid://';
const APP = `C${'0a'.repeat(32)}`;
const ORG = 'c0ffee00-1111-4222-8333-444455556666';
const DATE = '2026-09-29T08:00:00Z';
const TARGET: DeliveryTarget = { applicationId: APP, resource: 'serviceApp', idScheme: SCHEME };
const urn = (type: string, value: string, cluster = 'us'): string =>
  Buffer.from(`${SCHEME}${cluster}/${type}/${value}`).toString('base64url');

const good = {
  id: 'webhook',
  resource: 'serviceApp',
  event: 'authorized',
  orgId: urn('ORGANIZATION', '99999999-1111-4222-8333-444455556666'),
  data: { id: urn('APPLICATION', APP), authorizerOrgId: urn('ORGANIZATION', ORG), authorizationDate: DATE },
};
const read = (delivery: unknown) => readDelivery(Buffer.from(JSON.stringify(delivery)), TARGET);

describe('a delivery', () => {
  it('names the customer and not the owner of the webhook', () => {
    expect(read(good)).toMatchObject({
      event: 'authorized',
      organizationId: ORG,
      authorizerOrgId: good.data.authorizerOrgId,
      authorizedAtMs: Date.parse(DATE),
    });
  });

  it('H-01 H-02 H-04 H-22 is the same however its ids and its time are spelt', () => {
    const keys = [
      good,
      { ...good, data: { ...good.data, authorizerOrgId: ORG } },
      { ...good, data: { ...good.data, authorizerOrgId: Buffer.from(ORG).toString('base64') } },
      { ...good, data: { ...good.data, id: urn('APPLICATION', APP, 'eu') } },
      { ...good, data: { ...good.data, authorizationDate: '2026-09-29T10:00:00.000+02:00' } },
      { ...good, id: 'delivered again', name: 'x' },
    ].map((delivery) => read(delivery)?.idempotencyKey);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/u);
  });

  it('H-22 is another one for another event, organization or date', () => {
    const keys = [
      good,
      { ...good, event: 'deauthorized' },
      { ...good, data: { ...good.data, authorizerOrgId: ORG.replace('c0ffee', 'c0ffe1') } },
      { ...good, data: { ...good.data, authorizationDate: '2026-09-29T08:00:01Z' } },
    ].map((delivery) => read(delivery)?.idempotencyKey);
    expect(new Set(keys).size).toBe(4);
    expect(keys).not.toContain(undefined);
  });

  it.each([
    ['no object', []],
    ['null', null],
    ['another resource', { ...good, resource: 'messages' }],
    ['another event', { ...good, event: 'created' }],
    ['no data', { ...good, data: undefined }],
    ['another app', { ...good, data: { ...good.data, id: urn('APPLICATION', `C${'0b'.repeat(32)}`) } }],
    ['an id of another type for the app', { ...good, data: { ...good.data, id: urn('WEBHOOK', APP) } }],
    ['no organization', { ...good, data: { ...good.data, authorizerOrgId: '' } }],
    ['an organization that is none', { ...good, data: { ...good.data, authorizerOrgId: urn('ORGANIZATION', 'acme') } }],
    ['an id of another type for the organization', { ...good, data: { ...good.data, authorizerOrgId: urn('PEOPLE', ORG) } }],
    ['no date', { ...good, data: { ...good.data, authorizationDate: undefined } }],
    ['a date that is none', { ...good, data: { ...good.data, authorizationDate: 'yesterday' } }],
  ])('H-21 is refused: %s', (_, delivery) => {
    expect(read(delivery)).toBeUndefined();
  });

  it.each([
    ['no JSON', Buffer.from('{')],
    ['nothing', Buffer.alloc(0)],
    ['no UTF-8', Buffer.from(JSON.stringify(good).replace('webhook', '\u00ff'), 'latin1')],
  ])('H-21 is refused: %s', (_, body) => {
    expect(readDelivery(body, TARGET)).toBeUndefined();
  });
});
