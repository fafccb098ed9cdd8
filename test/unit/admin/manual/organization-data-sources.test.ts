// Which data sources get a fresh nonce from the manual commands, with the platform in memory.
import { expect, it } from 'vitest';
import { OrganizationDataSources } from '../../../../src/admin/manual/organization-data-sources.ts';
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

const RECORDINGS = '523e1b7f-4693-47bc-b84e-a7b7a505fb0b';

it('J-1A registers and changes one of a schema that is that of no transport, and writes nothing about it down', async () => {
  const { api, sources, store } = surroundings();
  const fields = { schemaId: RECORDINGS, url: 'https://voice.example.org', audience: 'audience', subject: 'subject' };
  const { dataSource } = await sources.createAs('grpc', { ...fields, tokenLifetimeMinutes: 30, nonce: 'nonce-1' }, never());
  expect(dataSource).toMatchObject({ ...fields, tokenLifetimeMinutes: 30, transport: undefined, isInUse: false });
  expect(await sources.nonceOf(dataSource.id, never())).toBe('nonce-1');
  await sources.update(dataSource.id, { subject: 'another' }, true, never());
  const second = await sources.nonceOf(dataSource.id, never());
  expect(second).not.toBe('nonce-1');
  await sources.update(dataSource.id, { nonce: 'nonce-3' }, true, never());
  expect(await sources.nonceOf(dataSource.id, never())).toBe('nonce-3');
  const changed = await sources.update(dataSource.id, { schemaId: schemas.grpc }, true, never());
  expect(changed.dataSource).toMatchObject({ transport: 'grpc', subject: 'another' });
  expect([api.count('create'), store.values.size]).toEqual([1, 0]);
});

it('registers none twice, none whose members nobody gives, and none that is disabled', async () => {
  const { api, sources } = surroundings();
  const fields = { schemaId: RECORDINGS, url: 'https://voice.example.org', audience: 'audience', subject: 'subject' };
  await sources.createAs('grpc', fields, never());
  const refusals = [fields, { ...fields, audience: undefined }, { ...fields, status: 'disabled', errorMessage: 'x' }] as const;
  const codes: string[] = [];
  for (const given of refusals) codes.push((await failureOf(sources.createAs('grpc', given, never()))).code);
  expect(codes).toEqual(['data_source_unclear', 'config_invalid', 'config_invalid']);
  expect(api.count('create')).toBe(1);
});

function surroundings() {
  const clock = new FakeClock();
  const api = new MemoryDataSources(clock);
  const store = new MemorySecrets();
  const sources = new OrganizationDataSources({
    ...{ api, clock, schemas, organizationId: 'org', wanted: [], applicationId: undefined, store },
    times: { leadMs: 60_000, retryMs: 60_000, checkMs: 60_000 },
  });
  return { api, sources, store };
}
