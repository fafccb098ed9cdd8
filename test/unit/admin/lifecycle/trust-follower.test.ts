// What a server lets in that does not lead: what is written down, and nothing else.
import { describe, expect, it } from 'vitest';
import { journalKey, NonceJournal } from '../../../../src/admin/lifecycle/nonce-journal.ts';
import type { WantedDataSource } from '../../../../src/admin/lifecycle/ports.ts';
import { TrustFollower, type TrustFollowerOptions } from '../../../../src/admin/lifecycle/trust-follower.ts';
import { keptEventKey, writeKeptEvent } from '../../../../src/admin/webhooks/kept-events.ts';
import { TrustedDataSources } from '../../../../src/auth/data-sources.ts';
import { digestNonce, NonceBook } from '../../../../src/auth/nonces.ts';
import { MemorySecrets } from '../../../support/admin-server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const ORG = 'ce861fba-6e2f-49f9-9a84-b354008fac9e';
const HOUR = 3_600_000;
const VALUES = { url: 'https://voice.example.org', schemaId: 'schema', audience: 'audience', subject: 'subject' };
const WANTED: WantedDataSource = { ...VALUES, organizationId: ORG, transport: 'grpc', tokenLifetimeMinutes: 60 };
const KEY = journalKey(WANTED);

function open(change: Partial<TrustFollowerOptions> & { readonly pinnedId?: string } = {}) {
  const { pinnedId, ...options } = change;
  const clock = new FakeClock();
  const store = new MemorySecrets();
  const trust = { sources: new TrustedDataSources(), nonces: new NonceBook({ clock }) };
  const failed: string[] = [];
  const wanted = { ...WANTED, pinnedId };
  const follower = new TrustFollower({
    ...{ store, trust, clock, organizations: [], mayLeave: true, hasEvents: true, wanted: () => [wanted] },
    onFailed: (_, { code }) => failed.push(code),
    ...options,
  });
  const lets = (nonce: string, values: Partial<typeof VALUES> = {}): boolean => {
    const { audience, ...rest } = { ...VALUES, ...values };
    const binding = { ...rest, audiences: [audience], organizationId: ORG, nonceDigest: digestNonce(nonce) };
    try {
      trust.sources.match(binding, 'grpc', trust.nonces);
      return true;
    } catch {
      return false;
    }
  };
  /** As the process writes it that renews. */
  const journal = (): Promise<NonceJournal> =>
    NonceJournal.open({ key: KEY, store, configured: WANTED, clock, onUnsaved: () => undefined });
  const tell = async (event: 'authorized' | 'deauthorized'): Promise<void> => {
    await writeKeptEvent(store, ORG, { version: 1, generation: 1, done: 1, event, authorizerOrgId: ORG, authorizedAtMs: 1, seen: [] });
  };
  return { clock, store, follower, failed, lets, journal, tell, wanted };
}

/** An organization that is served with the nonce `first`. */
async function served(change: Parameters<typeof open>[0] = {}) {
  const world = open(change);
  await world.tell('authorized');
  const journal = await world.journal();
  await journal.confirm('ds', { nonce: 'first', values: VALUES }, world.clock.nowMs() + HOUR);
  await world.follower.followAll();
  return { ...world, written: journal };
}

describe('what is let in', () => {
  it('L-15 is what was good before, from the start', async () => {
    const { lets, follower } = await served();
    expect([lets('first'), lets('another')]).toEqual([true, false]);
    expect(follower.states).toMatchObject([{ dataSourceId: 'ds', isServed: true, error: undefined }]);
  });

  it('L-10 is a new nonce as soon as it is announced, and the old one beside it for its time', async () => {
    const { clock, lets, follower, written } = await served();
    await written.announce('second', VALUES, false);
    expect(lets('second')).toBe(false);
    await follower.follow([KEY]);
    expect([lets('first'), lets('second')]).toEqual([true, true]);
    await written.confirm('ds', { nonce: 'second', values: VALUES }, clock.nowMs() + 2 * HOUR);
    await follower.follow([KEY]);
    expect([lets('first'), lets('second')]).toEqual([true, true]);
    clock.advance(HOUR + 30_000);
    expect([lets('first'), lets('second')]).toEqual([false, true]);
  });

  it('is gone with the authorization, and back with another one', async () => {
    const { lets, follower, tell } = await served();
    await tell('deauthorized');
    await follower.follow([keptEventKey(ORG)]);
    expect([lets('first'), follower.states]).toEqual([false, []]);
    await tell('authorized');
    await follower.follow([keptEventKey(ORG)]);
    expect(lets('first')).toBe(true);
  });

  it('is gone with its journal', async () => {
    const { lets, follower, written } = await served();
    await written.erase();
    await follower.follow([KEY]);
    expect(lets('first')).toBe(false);
  });

  it('L-02 is nothing of another data source than the pinned one', async () => {
    expect((await served({ pinnedId: 'ds' })).lets('first')).toBe(true);
    expect((await served({ pinnedId: 'pinned' })).lets('first')).toBe(false);
  });

  it('is nothing of an organization that has not authorized the app', async () => {
    const { lets, follower, journal, clock } = open();
    await (await journal()).confirm('ds', { nonce: 'first', values: VALUES }, clock.nowMs() + HOUR);
    await follower.follow([KEY]);
    expect(lets('first')).toBe(false);
  });

  it('is that of the organizations of the settings without any event, until they leave', async () => {
    const { lets, follower, journal, clock, tell } = open({ organizations: [ORG] });
    await (await journal()).confirm('ds', { nonce: 'first', values: VALUES }, clock.nowMs() + HOUR);
    await follower.followAll();
    expect(lets('first')).toBe(true);
    await tell('deauthorized');
    await follower.follow([keptEventKey(ORG)]);
    expect(lets('first')).toBe(false);
  });
});

it('one that cannot be trusted is reported and prevents no other one', async () => {
  const other = '0f148aa0-9999-4222-8333-444455556666';
  const world = open({
    organizations: [other, ORG],
    wanted: (organizationId) => {
      if (organizationId === other) throw new Error('odd settings');
      return [WANTED];
    },
  });
  await (await world.journal()).confirm('ds', { nonce: 'first', values: VALUES }, world.clock.nowMs() + HOUR);
  await world.follower.followAll();
  expect([world.lets('first'), world.failed]).toEqual([true, ['internal']]);
});

it('everything else has its turn while very many organizations are looked through', async () => {
  const organizations = Array.from({ length: 200 }, (_, index) => `ce861fba-6e2f-49f9-9a84-${String(index).padStart(12, '0')}`);
  const { follower } = open({ organizations });
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await follower.followAll();
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(9);
});

it('while this server leads its reconcilers have their way, and nobody is refused when that begins or ends', async () => {
  const { lets, follower, written, wanted, clock } = await served();
  let leads = true;
  const source = follower.served(wanted, () => leads);
  expect([source.id, lets('first')]).toEqual(['ds', true]);
  source.show('ds', { current: { nonce: 'second', values: VALUES }, replaced: [] });
  expect([lets('first'), lets('second')]).toEqual([false, true]);

  leads = false;
  // What the reconciler of a deposed leader still finds out is believed no more.
  source.show('ds', { current: { nonce: 'third', values: VALUES }, replaced: [] });
  source.drop();
  expect([lets('second'), lets('third')]).toEqual([true, false]);
  await written.confirm('ds', { nonce: 'fourth', values: VALUES }, clock.nowMs() + HOUR);
  await follower.followAll();
  expect([lets('fourth'), lets('third')]).toEqual([true, false]);
});
