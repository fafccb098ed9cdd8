import { describe, expect, it } from 'vitest';
import { readWebhook, writeWebhook, writeWebhookUpdate } from '../../../src/admin/webhook-records.ts';

const refused = (code: string): unknown => expect.objectContaining({ code });

describe('a webhook', () => {
  it('is read with all of its fields (R-21), its status in lower case', () => {
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
