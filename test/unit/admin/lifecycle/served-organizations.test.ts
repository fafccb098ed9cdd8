import { describe, expect, it, onTestFinished } from 'vitest';
import type { Transition } from '../../../../src/admin/lifecycle/ports.ts';
import { ServedOrganizations } from '../../../../src/admin/lifecycle/served-organizations.ts';
import type { AuthorizingOrganization } from '../../../../src/admin/webhooks/inbox.ts';
import { OrgNotRegisteredError } from '../../../../src/admin/organizations.ts';
import type { TokenSource } from '../../../../src/admin/token-source.ts';
import { TrustedDataSources } from '../../../../src/auth/data-sources.ts';
import type { TokenTransport } from '../../../../src/auth/principal.ts';
import { digestNonce, NonceBook } from '../../../../src/auth/nonces.ts';
import { linkAbort } from '../../../../src/base/abort.ts';
import { failureOf, MemorySecrets } from '../../../support/admin-server.ts';
import { MemoryDataSources } from '../../../support/data-sources-api.ts';
import { FakeClock, flushMicrotasks } from '../../../support/fake-clock.ts';
import { never } from '../../../support/voice.ts';

const uuid = (count: number): string => `c0ffee00-1111-4222-8333-${String(count).padStart(12, '0')}`;
const named = (organizationId: string) => ({ organizationId, authorizerOrgId: organizationId });
const [ONE, TWO] = [uuid(1), uuid(2)];
const WANTED = { url: 'https://bots.example', audience: 'aud', subject: 'sub', tokenLifetimeMinutes: 60 };

interface Given {
  readonly store?: MemorySecrets;
  readonly platform?: Map<string, MemoryDataSources>;
  readonly clock?: FakeClock;
  /** Default: gRPC alone. */
  readonly transports?: readonly TokenTransport[];
}

/** Each transport has a schema of its own (J-1A). */
const SCHEMAS: Readonly<Record<TokenTransport, string>> = { grpc: 'schema', websocket: 'another schema' };

function open(given: Given = {}) {
  const { store = new MemorySecrets(), platform = new Map<string, MemoryDataSources>() } = given;
  const { clock = new FakeClock(), transports = ['grpc'] } = given;
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
    wanted: (organizationId) => transports.map((transport) => ({ ...WANTED, organizationId, transport, schemaId: SCHEMAS[transport] })),
    openApi: (tokens) => apis.get(tokens) ?? new MemoryDataSources(clock),
    times: { leadMs: 600_000, retryMs: 60_000, checkMs: 300_000 },
    observer: { dataSourceChanged: ({ organizationId, transition }) => told.push([organizationId, transition]) },
    onUnsaved: () => undefined,
  });
  onTestFinished(async () => {
    await served.close();
    expect(clock.pendingTimers).toBe(0);
  });
  /** The nonce of the organization's data source for a transport. */
  const nonceOf = (id: string, transport: TokenTransport): string | undefined =>
    [...apiOf(id).records.values()].find(({ schemaId }) => schemaId === SCHEMAS[transport])?.nonce;
  /** Whether a token of the organization's data source would be let in. */
  const isLetIn = (id: string, transport: TokenTransport = 'grpc', nonce = nonceOf(id, transport)): boolean => {
    if (nonce === undefined) return false;
    const { url, audience, subject } = WANTED;
    const schemaId = SCHEMAS[transport];
    try {
      const binding = { url, schemaId, audiences: [audience], subject, organizationId: id, nonceDigest: digestNonce(nonce) };
      return trust.sources.match(binding, transport, trust.nonces).organizationId === id;
    } catch {
      return false;
    }
  };
  return { clock, store, platform, served, unauthorized, erased, told, apiOf, isLetIn, nonceOf };
}

/** What a start does: lets in what is known, and looks at it. */
async function begin(served: ServedOrganizations, organizations: readonly AuthorizingOrganization[], signal: AbortSignal) {
  await served.serveKept(organizations);
  return served.start(signal);
}

describe('served organizations', () => {
  it('leave everything else its turn while very many of them are let in', async () => {
    const { served, isLetIn } = open();
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await served.serveKept(Array.from({ length: 200 }, (_, index) => named(uuid(index))));
    isOver = true;
    expect([turns >= 4, isLetIn(ONE)]).toEqual([true, false]);
  });

  it('are accepted once they have authorized the app, and one does not admit another', async () => {
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
    await begin(served, [named(ONE), named(TWO)], never());
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
    await begin(before.served, [named(ONE)], never());
    const { served, store } = open({ store: before.store });
    await served.deauthorized(named(ONE));
    expect(store.values.size).toBe(0);
  });

  it('L-15 are there again after a restart without a change at the platform', async () => {
    const before = open();
    await begin(before.served, [named(ONE)], never());
    await before.served.close();
    const { served, isLetIn, apiOf, told } = open({ store: before.store, platform: before.platform });
    expect(await begin(served, [named(ONE)], never())).toEqual([]);
    expect([isLetIn(ONE), told, apiOf(ONE).count('update'), apiOf(ONE).count('create')]).toEqual([true, [[ONE, 'adopted']], 0, 1]);
  });

  it('are begun a few at a time, and the failure of one is reported and delays no other', async () => {
    const { served, apiOf, clock, isLetIn } = open();
    apiOf(ONE).isDown = true;
    const many = Array.from({ length: 30 }, (_, count) => named(uuid(count)));
    expect(await begin(served, many, never())).toMatchObject([{ organizationId: ONE, error: { code: 'platform_unavailable' } }]);
    expect(served.states.filter(({ isServed }) => isServed)).toHaveLength(29);
    apiOf(ONE).isDown = false;
    await clock.advanceAsync(80_000);
    await flushMicrotasks();
    expect(isLetIn(ONE)).toBe(true);
  });

  it('L-15 that were let in before a restart are at once, all of them, although the platform does not answer', async () => {
    const many = Array.from({ length: 30 }, (_, count) => named(uuid(count)));
    const before = open();
    await begin(before.served, many, never());
    await before.served.close();
    const { served, isLetIn, apiOf, clock } = open({ store: before.store, platform: before.platform });
    const answers: (() => void)[] = [];
    for (const { organizationId } of many) {
      const api = apiOf(organizationId);
      const get = api.get.bind(api);
      api.get = async (id) => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return get(id);
      };
    }
    const limit = linkAbort();
    const starting = begin(served, many, limit.signal);
    await flushMicrotasks();
    expect(many.filter(({ organizationId }) => isLetIn(organizationId))).toHaveLength(30);
    // Only a few are asked for at a time, and the others come later although nobody waits any more.
    expect(answers).toHaveLength(4);
    limit.abort('deadline');
    expect(await starting).toEqual([]);
    while (answers.length > 0) {
      for (const answer of answers.splice(0)) answer();
      await flushMicrotasks();
    }
    expect(many.map(({ organizationId }) => apiOf(organizationId).count('get'))).toEqual(many.map(() => 1));
    expect(clock.pendingTimers).toBeGreaterThanOrEqual(30);
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
    const starting = begin(served, [named(ONE), named(TWO)], never());
    await served.deauthorized(named(ONE));
    await starting;
    expect([isLetIn(ONE), isLetIn(TWO)]).toEqual([false, true]);
    expect(apiOf(ONE).count('create')).toBe(0);
    expect(served.states).toHaveLength(1);
  });

  it('a store that fails is an error, so that the erasing is repeated; nobody is let in all the same', async () => {
    const { served, store, isLetIn, erased } = open();
    await begin(served, [named(ONE)], never());
    const erase = store.delete.bind(store);
    store.delete = () => Promise.reject(new Error('disk'));
    expect((await failureOf(served.deauthorized(named(ONE)))).code).toBe('store_failed');
    expect([isLetIn(ONE), erased]).toEqual([false, []]);
    store.delete = erase;
    await served.deauthorized(named(ONE));
    expect([store.values.size, erased]).toEqual([0, [ONE]]);
  });
});

describe('an organization with both transports', () => {
  const BOTH = ['grpc', 'websocket'] as const;

  it('has a data source for each, with nonces of their own, and neither token is accepted on the other transport (J-2E)', async () => {
    const { served, isLetIn, apiOf, nonceOf, told } = open({ transports: BOTH });
    await served.authorized(named(ONE), never());
    expect([...apiOf(ONE).records.values()].map(({ schemaId }) => schemaId).sort()).toEqual(Object.values(SCHEMAS).sort());
    expect(told).toEqual(BOTH.map(() => [ONE, 'created']));
    expect(served.states.map(({ wanted, isServed }) => [wanted.transport, isServed])).toEqual(BOTH.map((transport) => [transport, true]));
    const [grpc, websocket] = [nonceOf(ONE, 'grpc'), nonceOf(ONE, 'websocket')];
    expect(grpc).not.toBe(websocket);
    expect([isLetIn(ONE, 'grpc', grpc), isLetIn(ONE, 'websocket', websocket)]).toEqual([true, true]);
    expect([isLetIn(ONE, 'grpc', websocket), isLetIn(ONE, 'websocket', grpc)]).toEqual([false, false]);
  });

  it('renews, repairs and loses each by itself', async () => {
    const { served, isLetIn, apiOf, nonceOf, clock, told } = open({ transports: BOTH });
    await served.authorized(named(ONE), never());
    const before = BOTH.map((transport) => nonceOf(ONE, transport));
    const [disabled] = [...apiOf(ONE).records.values()].filter(({ schemaId }) => schemaId === SCHEMAS.websocket);
    await apiOf(ONE).update(disabled?.id ?? '', { status: 'disabled' });
    for (let minute = 0; minute < 10; minute += 1) await clock.advanceAsync(60_000);
    expect([nonceOf(ONE, 'grpc'), nonceOf(ONE, 'websocket') === before[1]]).toEqual([before[0], false]);
    expect(told.slice(2)).toEqual([[ONE, 'repaired']]);
    // Both are due within the hour, and the tokens before them are good until they end.
    for (let minute = 0; minute < 45; minute += 1) await clock.advanceAsync(60_000);
    expect(nonceOf(ONE, 'grpc')).not.toBe(before[0]);
    expect([isLetIn(ONE, 'grpc', before[0]), isLetIn(ONE, 'grpc'), isLetIn(ONE, 'websocket')]).toEqual([true, true, true]);
    expect([isLetIn(ONE, 'grpc', before[1]), isLetIn(ONE, 'websocket', before[0])]).toEqual([false, false]);
    await served.deauthorized(named(ONE));
    expect(BOTH.map((transport) => isLetIn(ONE, transport))).toEqual([false, false]);
    expect(served.states).toEqual([]);
  });

  it('L-15 has both after a restart without a change, and one that is no longer wanted is not touched', async () => {
    const before = open({ transports: BOTH });
    await begin(before.served, [named(ONE)], never());
    await before.served.close();
    const { clock, store, platform } = before;
    const after = open({ clock, store, platform, transports: BOTH });
    await begin(after.served, [named(ONE)], never());
    expect(BOTH.map((transport) => after.isLetIn(ONE, transport))).toEqual([true, true]);
    await after.served.close();
    const fewer = open({ clock, store, platform });
    await begin(fewer.served, [named(ONE)], never());
    expect(BOTH.map((transport) => fewer.isLetIn(ONE, transport))).toEqual([true, false]);
    expect([fewer.apiOf(ONE).count('create'), fewer.apiOf(ONE).count('update'), fewer.apiOf(ONE).records.size]).toEqual([2, 0, 2]);
  });
});
