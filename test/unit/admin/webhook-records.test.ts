import { describe, expect, it } from 'vitest';
import { readServiceAppEvent, readWebhook, writeWebhook, writeWebhookUpdate } from '../../../src/admin/webhook-records.ts';

const refused = (code: string): unknown => expect.objectContaining({ code });

describe('a webhook', () => {
  it('is read with what it tells (R-21), its status in lower case', () => {
    const record = { id: 'w', name: 'n', targetUrl: 'https://a.example', resource: 'r', event: 'e', filter: 'id=1', status: 'INACTIVE' };
    expect(readWebhook({ ...record, ownedBy: 7, more: true })).toMatchObject({ ...record, status: 'inactive', ownedBy: undefined });
    expect(() => readWebhook({ name: 'n' })).toThrow(refused('platform_answer_invalid'));
  });

  it('is written whole, and changed only in what can be changed (R-20)', () => {
    const create = { name: 'n', targetUrl: 'https://a.example/hook', resource: 'r', event: 'authorized', filter: 'id=1', secret: 's' };
    expect(writeWebhook(create)).toEqual(create);
    expect(() => writeWebhook({ ...create, targetUrl: 'not an address' })).toThrow(refused('config_invalid'));
    expect(() => writeWebhook({ ...create, targetUrl: 'file:///etc/passwd' })).toThrow(refused('config_invalid'));
    expect(writeWebhookUpdate({ name: 'n', targetUrl: 'https://a.example', status: 'active' })).toEqual({
      ...{ name: 'n', targetUrl: 'https://a.example', status: 'active' },
    });
    expect(() => writeWebhookUpdate({ name: 'n', targetUrl: 'https://a.example', ...{ event: 'e' } })).toThrow(refused('config_invalid'));
  });
});

describe('a delivery about an app', () => {
  const delivery = {
    ...{ id: 'w', name: 'n', resource: 'apps', event: 'authorized', orgId: 'developer' },
    data: { id: 'app', authorizerOrgId: 'customer', authorizationDate: '2026-09-29T08:00:00Z' },
  };

  it('names the organization that authorized, not the owner of the webhook', () => {
    expect(readServiceAppEvent(delivery, 'apps')).toEqual({
      ...{ event: 'authorized', webhookId: 'w', appId: 'app', authorizerOrgId: 'customer' },
      authorizationDate: '2026-09-29T08:00:00Z',
    });
  });

  it.each([
    ['no object', 'CANARY', /the whole/u],
    ['about another resource', { ...delivery, resource: 'CANARY' }, /resource/u],
    ['of another event', { ...delivery, event: 'CANARY' }, /event/u],
    ['without an app', { ...delivery, data: { ...delivery.data, id: '' } }, /data\.id/u],
    ['without an organization', { ...delivery, data: { id: 'app', authorizationDate: 'x' } }, /data\.authorizerOrgId/u],
    ['without a date', { ...delivery, data: { id: 'app', authorizerOrgId: 'x' } }, /data\.authorizationDate/u],
  ])('is refused when it is %s (H-21)', (_, value, message) => {
    const read = (): unknown => readServiceAppEvent(value, 'apps');
    expect(read).toThrow(refused('bad_message'));
    expect(read).toThrow(message);
    expect(read).not.toThrow(/CANARY/u);
  });
});
