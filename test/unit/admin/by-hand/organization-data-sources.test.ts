// Which data sources get a fresh nonce by hand, with the platform in memory.
import { expect, it } from 'vitest';
import { OrganizationDataSources } from '../../../../src/admin/by-hand/organization-data-sources.ts';
import { loadProfile } from '../../../../src/contract/profile.ts';
import { failureOf, MemorySecrets } from '../../../support/admin-server.ts';
import { MemoryDataSources } from '../../../support/data-sources-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { never } from '../../../support/voice.ts';

const { schemas } = loadProfile('fake');
const BODY = { audience: 'audience', subject: 'subject', tokenLifetimeMinutes: 60, nonce: 'nonce' };

it.each([
  ['gRPC', { schemaId: schemas.grpc, url: 'https://voice.example.org' }],
  ['WebSocket', { schemaId: schemas.websocket, url: 'wss://voice.example.org' }],
])('gives a loose one for calls over %s a fresh nonce', async (_transport, own) => {
  const { api, sources } = surroundings();
  const { id } = await api.create({ ...BODY, ...own });
  expect(await sources.update(id, { subject: 'another' }, true, never())).toMatchObject({ dataSource: { subject: 'another' } });
  expect(api.count('update')).toBe(1);
});

it('J-1A changes none whose schema is that of no transport: nobody knows what it is for', async () => {
  const { api, sources } = surroundings();
  const { id } = await api.create({ ...BODY, schemaId: 'schema-of-recordings', url: 'https://voice.example.org' });
  const failure = await failureOf(sources.update(id, { subject: 'another' }, true, never()));
  expect(failure).toMatchObject({ code: 'data_source_unclear' });
  expect(failure.message).toContain('its schema schema-of-recordings is neither that of gRPC nor that of WebSocket');
  expect(api.count('update')).toBe(0);
});

function surroundings() {
  const clock = new FakeClock();
  const api = new MemoryDataSources(clock);
  const sources = new OrganizationDataSources({
    ...{ api, clock, schemas, organizationId: 'org', wanted: [], applicationId: undefined, store: new MemorySecrets() },
    times: { leadMs: 60_000, retryMs: 60_000, checkMs: 60_000 },
  });
  return { api, sources };
}
