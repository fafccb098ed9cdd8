import { describe, expect, it } from 'vitest';
import { ServedDataSource } from '../../../../src/admin/lifecycle/served-data-source.ts';
import { TrustedDataSources } from '../../../../src/auth/data-sources.ts';
import { digestNonce, NonceBook } from '../../../../src/auth/nonces.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const VALUES = { url: 'https://voice.example.org', schemaId: 'schema', audience: 'audience', subject: 'subject' };
const WANTED = { ...VALUES, organizationId: 'org', transport: 'grpc', tokenLifetimeMinutes: 60 } as const;

describe('a data source that is let in', () => {
  it.each([
    ['data sources', { max: 1 }, {}],
    ['nonces', {}, { maxDataSources: 1 }],
  ])('stays let in when there is no room for more %s', (_, sourceBounds, nonceBounds) => {
    const trust = {
      sources: new TrustedDataSources([], sourceBounds),
      nonces: new NonceBook({ clock: new FakeClock(), ...nonceBounds }),
    };
    const lets = (nonce: string): boolean => {
      const { audience, ...rest } = VALUES;
      const binding = { ...rest, audiences: [audience], organizationId: 'org', nonceDigest: digestNonce(nonce) };
      try {
        return trust.sources.match(binding, 'grpc', trust.nonces).id === 'id';
      } catch {
        return false;
      }
    };
    const served = new ServedDataSource(WANTED, trust);
    const current = { nonce: 'current', values: VALUES };
    served.show('id', { current, replaced: [] });
    const announced = { nonce: 'next', values: { ...VALUES, audience: 'another' } };
    expect(() => {
      served.show('id', { current, announced, replaced: [] });
    }).toThrow(expect.objectContaining({ code: 'overloaded' }));
    expect([served.id, lets('current'), lets('next')]).toEqual(['id', true, false]);
    served.show('id', { current: { nonce: 'next', values: VALUES }, replaced: [] });
    expect([lets('current'), lets('next')]).toEqual([false, true]);
    served.drop();
    expect([served.id, lets('next')]).toEqual([undefined, false]);
  });
});
