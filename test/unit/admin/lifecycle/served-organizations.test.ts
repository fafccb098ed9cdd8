import { describe, expect, it, onTestFinished } from 'vitest';
import type { Transition } from '../../../../src/admin/lifecycle/ports.ts';
import { ServedOrganizations } from '../../../../src/admin/lifecycle/served-organizations.ts';
import { OrgNotRegisteredError } from '../../../../src/admin/organizations.ts';
import type { TokenSource } from '../../../../src/admin/token-source.ts';
import { TrustedDataSources } from '../../../../src/auth/data-sources.ts';
import { digestNonce, NonceBook } from '../../../../src/auth/nonces.ts';
import { failureOf, MemorySecrets } from '../../../support/admin-server.ts';
import { MemoryDataSources } from '../../../support/data-sources-api.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { never } from '../../../support/voice.ts';

const uuid = (count: number): string => `c0ffee00-1111-4222-8333-${String(count).padStart(12, '0')}`;
const named = (organizationId: string) => ({ organizationId, authorizerOrgId: organizationId });
const [ONE, TWO] = [uuid(1), uuid(2)];
const WANTED = { url: 'https://bots.example', schemaId: 'schema', audience: 'aud', subject: 'sub', tokenLifetimeMinutes: 60 };

function open(given: { readonly store?: MemorySecrets; readonly platform?: Map<string, MemoryDataSources> } = {}) {
  const clock = new FakeClock();
  const { store = new MemorySecrets(), platform = new Map<string, MemoryDataSources>() } = given;
  const trust = { sources: new TrustedDataSources(), nonces: new NonceBook({ clock }) };
  const [unauthorized, erased, told] = [new Set<string>(), new Array<string>(), new Array<[string, Transition]>()];
  const apis = new Map<TokenSource, MemoryDataSources>();
  const apiOf = (id: string): MemoryDataSources => {
    const api = platform.get(id) ?? new MemoryDataSources(clock);
    platform.set(id, api);
    return api;
  };
  const tokensOf = (id: string): TokenSource => {
    const current = (): Promise<string> =>
      unauthorized.has(id) ? Promise.reject(new OrgNotRegisteredError(id, 'no')) : Promise.resolve('t');
    const source = { current, refreshed: current };
    apis.set(source, apiOf(id));
    return source;
  };
  const served = new ServedOrganizations({
    ...{ store, trust, clock },
    tokens: {
      tokensOf,
      forget: (id) => {
        erased.push(id);
        return Promise.resolve();
      },
    },
    wanted: (organizationId) => [{ ...WANTED, organizationId, transport: 'grpc' }],
    openApi: (tokens) => apis.get(tokens) ?? new MemoryDataSources(clock),
    times: { leadMs: 600_000, retryMs: 60_000, checkMs: 300_000 },
    observer: { dataSourceChanged: ({ organizationId, transition }) => told.push([organizationId, transition]) },
    onUnsaved: () => undefined,
  });
  onTestFinished(async () => {
    await served.close();
    expect(clock.pendingTimers).toBe(0);
  });
  /** Whether a token of the organization's data source would be let in. */
  const isLetIn = (id: string): boolean => {
    const [record] = apiOf(id).records.values();
    if (record?.nonce === undefined) return false;
    const { url, schemaId, audience, subject } = WANTED;
    try {
      const binding = { url, schemaId, audiences: [audience], subject, organizationId: id, nonceDigest: digestNonce(record.nonce) };
      return trust.sources.match(binding, 'grpc', trust.nonces).organizationId === id;
    } catch {
      return false;
    }
  };
  return { clock, store, platform, served, unauthorized, erased, told, apiOf, isLetIn };
}

describe('served organizations', () => {
  it('are let in once they have authorized the app, and one does not open the door for another', async () => {
    const { served, isLetIn, told } = open();
    await served.authorized(named(ONE), never());
    expect([isLetIn(ONE), isLetIn(TWO)]).toEqual([true, false]);
    expect(told).toEqual([[ONE, 'created']]);
    expect(served.states).toMatchObject([{ isServed: true, wanted: { organizationId: ONE, transport: 'grpc' } }]);
  });

  it('H-26 an authorization that the platform does not know everywhere yet is an error, so that it is repeated', async () => {
    const { served, unauthorized, isLetIn } = open();
    unauthorized.add(ONE);
    expect((await failureOf(served.authorized(named(ONE), never()))).code).toBe('org_not_registered');
    expect(served.states).toEqual([]);
    unauthorized.delete(ONE);
    await served.authorized(named(ONE), never());
    expect(isLetIn(ONE)).toBe(true);
  });

  it('are refused and forgotten after they have taken it back (6.5)', async () => {
    const { served, store, erased, isLetIn } = open();
    await served.start([named(ONE), named(TWO)], never());
    expect([...store.values.keys()]).toHaveLength(2);
    await served.deauthorized(named(ONE));
    expect([isLetIn(ONE), isLetIn(TWO), erased]).toEqual([false, true, [ONE]]);
    expect([...store.values.keys()]).toEqual([expect.stringContaining(TWO)]);
    expect(served.states).toHaveLength(1);
    await served.authorized(named(ONE), never());
    expect(isLetIn(ONE)).toBe(true);
  });

  it('what was written in an earlier run is erased as well', async () => {
    const before = open();
    await before.served.start([named(ONE)], never());
    const { served, store } = open({ store: before.store });
    await served.deauthorized(named(ONE));
    expect(store.values.size).toBe(0);
  });

  it('L-15 are there again after a restart without a change at the platform', async () => {
    const before = open();
    await before.served.start([named(ONE)], never());
    await before.served.close();
    const { served, isLetIn, apiOf, told } = open({ store: before.store, platform: before.platform });
    expect(await served.start([named(ONE)], never())).toEqual([]);
    expect([isLetIn(ONE), told, apiOf(ONE).count('update'), apiOf(ONE).count('create')]).toEqual([true, [[ONE, 'adopted']], 0, 1]);
  });

  it('are begun a few at a time, and the failure of one is told and keeps no other waiting', async () => {
    const { served, apiOf, clock, isLetIn } = open();
    apiOf(ONE).isDown = true;
    const many = Array.from({ length: 30 }, (_, count) => named(uuid(count)));
    expect(await served.start(many, never())).toMatchObject([{ organizationId: ONE, error: { code: 'platform_unavailable' } }]);
    expect(served.states.filter(({ isServed }) => isServed)).toHaveLength(29);
    apiOf(ONE).isDown = false;
    await clock.advanceAsync(80_000);
    await flushMicrotasks();
    expect(isLetIn(ONE)).toBe(true);
  });

  it('that are authorized anew have another machine account: what is gone is registered again', async () => {
    const { served, apiOf, isLetIn } = open();
    await served.authorized(named(ONE), never());
    apiOf(ONE).records.clear();
    await served.authorized(named(ONE), never());
    expect([apiOf(ONE).count('create'), isLetIn(ONE)]).toEqual([2, true]);
  });

  it('H-23 a start that is under way brings nobody back who has left meanwhile', async () => {
    const { served, isLetIn, apiOf } = open();
    const starting = served.start([named(ONE), named(TWO)], never());
    await served.deauthorized(named(ONE));
    await starting;
    expect([isLetIn(ONE), isLetIn(TWO)]).toEqual([false, true]);
    expect(apiOf(ONE).count('create')).toBe(0);
    expect(served.states).toHaveLength(1);
  });

  it('a store that fails is an error, so that the erasing is repeated; nobody is let in all the same', async () => {
    const { served, store, isLetIn, erased } = open();
    await served.start([named(ONE)], never());
    const erase = store.delete.bind(store);
    store.delete = () => Promise.reject(new Error('disk'));
    expect((await failureOf(served.deauthorized(named(ONE)))).code).toBe('store_failed');
    expect([isLetIn(ONE), erased]).toEqual([false, []]);
    store.delete = erase;
    await served.deauthorized(named(ONE));
    expect([store.values.size, erased]).toEqual([0, [ONE]]);
  });
});
