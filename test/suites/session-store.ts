// What every session store must do, whoever keeps the records; and what two processes may expect of one that they share.
import { describe, expect, it } from 'vitest';
import type { Spoken } from '../../src/session/heard.ts';
import type { Claim, SessionStore } from '../../src/session/ports.ts';
import { firstRecord, type SessionRecord } from '../../src/session/record.ts';
import { until } from '../support/until.ts';

const KEY = { organizationId: 'org', conversationId: 'call' };
/** A lease that lasts longer than any test, ms. */
const LONG_MS = 600_000;
/** A lease that a test can see the end of, ms. */
const SHORT_MS = 50;

const SPOKEN: Spoken = {
  by: 'a clock',
  tellings: 0,
  prompts: [
    { text: 'Welcome.', bargeIn: true, startMs: -100, endMs: 900, soundMs: 1000 },
    { text: 'Your code?', bargeIn: false, startMs: 900, endMs: 2400, soundMs: 1500 },
  ],
  isWhole: true,
  before: { ms: 300, text: 'Well' },
};

function record(change: Partial<SessionRecord> = {}): SessionRecord {
  const call = { ...KEY, agentId: 'a', startedAtMs: 1, vendorConfig: '', parameters: {} };
  return { ...firstRecord({ call, bot: { id: 'a', version: 1 }, mode: 'chunk' }), version: 1, state: { n: 1 }, ...change };
}

function ours(claim: Claim): Extract<Claim, { kind: 'ours' }> {
  if (claim.kind !== 'ours') throw new Error('the call is held by another process');
  return claim;
}

/** @param create - a store that is empty. */
export function sessionStoreSuite(name: string, create: () => SessionStore): void {
  describe(name, () => {
    it('knows nothing of a call that was never committed', async () => {
      const store = create();
      expect(await store.load(KEY)).toBeUndefined();
      expect((await store.open(KEY)).kept).toBeUndefined();
      expect(await store.claim(KEY, undefined)).toEqual({ kind: 'ours', kept: undefined });
      expect(await store.load(KEY)).toBeUndefined();
    });

    it('returns what was committed, frozen and as a copy', async () => {
      const store = create();
      const state = { n: 1, list: ['x'] };
      expect(await store.commit(record({ state }), 0)).toBe(true);
      state.list.push('y');
      const claim = ours(await store.claim(KEY, undefined));
      for (const kept of [await store.load(KEY), (await store.open(KEY)).kept?.record, claim.kept?.record]) {
        expect(kept).toEqual(record({ state: { n: 1, list: ['x'] } }));
        expect(Object.isFrozen(kept)).toBe(true);
        expect(Object.isFrozen(kept?.state)).toBe(true);
      }
    });

    it('returns whatever characters a record has', async () => {
      const store = create();
      const state = { text: 'naïve – 你好 🙂 \u0000 "\\' };
      await store.commit(record({ state }), 0);
      expect((await store.load(KEY))?.state).toEqual(state);
    });

    it('lets exactly one of two commits from the same version win', async () => {
      const store = create();
      await store.commit(record(), 0);
      const results = await Promise.all([
        store.commit(record({ version: 2, turns: 5 }), 1),
        store.commit(record({ version: 2, turns: 6 }), 1),
      ]);
      expect(results).toEqual([true, false]);
      expect((await store.load(KEY))?.turns).toBe(5);
    });

    it('refuses a first commit for a call that exists', async () => {
      const store = create();
      await store.commit(record(), 0);
      expect(await store.commit(record(), 0)).toBe(false);
    });

    it('forgets a dropped call and takes it anew', async () => {
      const store = create();
      await store.claim(KEY, undefined);
      await store.commit(record(), 0, true);
      await store.drop(KEY);
      expect(await store.load(KEY)).toBeUndefined();
      expect(ours(await store.claim(KEY, undefined)).kept).toBeUndefined();
      expect(await store.commit(record(), 0)).toBe(true);
    });

    it('keeps organizations apart', async () => {
      const store = create();
      await store.commit(record(), 0);
      expect(await store.load({ ...KEY, organizationId: 'other' })).toBeUndefined();
    });

    it('keeps calls apart whose ids read the same one after the other', async () => {
      const store = create();
      await store.commit(record(), 0);
      expect(await store.load({ organizationId: 'orgcall', conversationId: '' })).toBeUndefined();
      expect(await store.load({ organizationId: 'or', conversationId: 'gcall' })).toBeUndefined();
    });

    it('grants a claim to whoever has it already, and keeps it for them', async () => {
      const store = create();
      expect(store.leaseMs).toBeGreaterThan(0);
      expect((await store.open(KEY)).kept).toBeUndefined();
      expect(await store.serves(KEY)).toBe(true);
      ours(await store.claim(KEY, undefined));
      ours(await store.claim(KEY, undefined));
      expect(await store.renew(KEY)).toBe(true);
      expect(await store.commit(record(), 0, true)).toBe(true);
      expect(ours(await store.claim(KEY, undefined)).kept?.unheard).not.toBe('elsewhere');
      await store.release(KEY, SPOKEN);
      expect(ours(await store.claim(KEY, undefined)).kept?.record).toEqual(record());
      await store.release(KEY, undefined);
      expect(await store.serves(KEY)).toBe(true);
    });
  });
}

/** Two processes at one place, which was empty before. */
export interface SharedStores {
  readonly one: SessionStore;
  readonly other: SessionStore;
}

/** @param create - makes the stores of two processes, each with leases of so many ms. */
export function sharedStoreSuite(name: string, create: (leaseMs: number, leaseMsOfOther: number) => SharedStores): void {
  /** Waits until a call that somebody has left can be claimed. */
  async function claimed(store: SessionStore): Promise<Extract<Claim, { kind: 'ours' }>> {
    let claim: Claim = { kind: 'held' };
    await until('the lease has ended', async () => {
      claim = await store.claim(KEY, undefined);
      return claim.kind === 'ours';
    });
    return ours(claim);
  }

  describe(name, () => {
    it('lets each process see what the other one has committed', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      await one.commit(record(), 0);
      expect(await other.load(KEY)).toEqual(record());
      expect(await other.commit(record({ version: 2, turns: 1 }), 1)).toBe(true);
      expect(await one.commit(record({ version: 2, turns: 9 }), 1)).toBe(false);
      expect((await one.load(KEY))?.turns).toBe(1);
    });

    it('gives a call to one process at a time', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      ours(await one.claim(KEY, undefined));
      expect(await other.claim(KEY, undefined)).toEqual({ kind: 'held' });
      expect(await other.renew(KEY)).toBe(false);
      expect(await other.commit(record(), 0)).toBe(false);
      expect(await other.load(KEY)).toBeUndefined();
      await one.commit(record(), 0, true);
      expect(await other.claim(KEY, undefined)).toEqual({ kind: 'held' });
      expect(await other.commit(record({ version: 2 }), 1)).toBe(false);
      await one.release(KEY, SPOKEN);
      expect(ours(await other.claim(KEY, undefined)).kept?.record).toEqual(record());
      expect(await one.claim(KEY, undefined)).toEqual({ kind: 'held' });
    });

    it('grants exactly one of many claims at once', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      const claims = await Promise.all([one, other, one, other].map(async (store) => (await store.claim(KEY, undefined)).kind));
      expect([...claims].sort()).toEqual(['held', 'held', 'ours', 'ours']);
      expect(claims.slice(2)).toEqual(claims.slice(0, 2));
    });

    it('shows every process how a call begins that is claimed for the first time', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      const first = record({ version: 0, state: null });
      expect(ours(await one.claim(KEY, first)).kept).toBeUndefined();
      expect((await other.open(KEY)).kept).toEqual({ record: first, spoken: undefined });
      expect(await other.commit(record(), 0)).toBe(false);
      await one.release(KEY, undefined);
      expect(ours(await other.claim(KEY, record({ version: 0, turns: 9 }))).kept?.record).toEqual(first);
      expect(await other.commit(record(), 0)).toBe(true);
      expect(await one.load(KEY)).toEqual(record());
    });

    it('opens and claims a call in one step, unless another process has it', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      const first = record({ version: 0, state: null });
      expect(await one.openClaimed(KEY, first)).toEqual({
        place: 1,
        kept: undefined,
        claim: { kind: 'ours', kept: undefined },
      });
      const kept = { record: first, spoken: undefined };
      expect(await other.openClaimed(KEY, undefined)).toEqual({ place: 2, kept, claim: { kind: 'held' } });
      expect([await one.serves(KEY), await other.serves(KEY)]).toEqual([false, true]);
      await one.release(KEY, undefined);
      expect(await other.openClaimed(KEY, undefined)).toEqual({ place: 3, kept, claim: { kind: 'ours', kept } });
      expect(await one.claim(KEY, undefined)).toEqual({ kind: 'held' });
    });

    it('counts the streams of a call over both processes, also before anything is known of it', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      const places = [await one.open(KEY), await other.open(KEY), await one.open(KEY)].map(({ place }) => place);
      expect(places).toEqual([1, 2, 3]);
    });

    it('writes a call again that was lost while it was being answered', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      await one.commit(record(), 0);
      ours(await one.claim(KEY, undefined));
      await other.drop(KEY);
      expect(await one.commit(record({ version: 2 }), 1, true)).toBe(true);
      expect(await other.commit(record({ version: 2 }), 1)).toBe(false);
      expect(await other.load(KEY)).toEqual(record({ version: 2 }));
    });

    it('holds other calls for nobody', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      ours(await one.claim(KEY, undefined));
      ours(await other.claim({ ...KEY, conversationId: 'another' }, undefined));
      ours(await other.claim({ ...KEY, organizationId: 'another' }, undefined));
    });

    it('gives a call away when the lease of its owner has ended', async () => {
      const { one, other } = create(SHORT_MS, LONG_MS);
      await one.commit(record(), 0);
      ours(await one.claim(KEY, undefined));
      expect((await claimed(other)).kept?.record).toEqual(record());
      expect(await one.claim(KEY, undefined)).toEqual({ kind: 'held' });
      expect(await one.renew(KEY)).toBe(false);
      expect(await one.commit(record({ version: 2 }), 1)).toBe(false);
    });

    it('does not let a stranger release a call', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      ours(await one.claim(KEY, undefined));
      await one.commit(record(), 0, true);
      await other.release(KEY, SPOKEN);
      expect(await other.claim(KEY, undefined)).toEqual({ kind: 'held' });
      expect((await one.open(KEY)).kept?.spoken).toBeUndefined();
    });

    it('lets a process go on after its lease has ended, as long as nobody else has come', async () => {
      const { one, other } = create(SHORT_MS, LONG_MS);
      ours(await one.claim(KEY, undefined));
      await claimed(other);
      await other.release(KEY, undefined);
      expect(await one.renew(KEY)).toBe(true);
      expect(await one.commit(record(), 0)).toBe(true);
    });

    it('is served where it was opened last', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      // Who looks for a call that nobody knows does not take it from whom it begins with.
      await other.open(KEY);
      await one.commit(record(), 0);
      expect([await one.serves(KEY), await other.serves(KEY)]).toEqual([true, false]);
      await other.open(KEY);
      expect([await one.serves(KEY), await other.serves(KEY)]).toEqual([false, true]);
      // Whoever answers is not whoever serves.
      ours(await one.claim(KEY, undefined));
      await one.commit(record({ version: 2 }), 1, true);
      await one.release(KEY, SPOKEN);
      expect([await one.serves(KEY), await other.serves(KEY)]).toEqual([false, true]);
    });

    it('owes the caller a reply that was committed by a process which died, until another one has handed it over', async () => {
      const { one, other } = create(SHORT_MS, LONG_MS);
      ours(await one.claim(KEY, undefined));
      await one.commit(record(), 0, true);
      expect((await claimed(other)).kept?.unheard).toBe('elsewhere');
      await other.release(KEY, undefined);
      expect((await other.open(KEY)).kept?.unheard).toBe('elsewhere');
      expect(ours(await other.claim(KEY, undefined)).kept?.unheard).toBe('elsewhere');
      await other.release(KEY, SPOKEN);
      expect(ours(await other.claim(KEY, undefined)).kept?.unheard).toBeUndefined();
      await other.release(KEY, undefined);
      expect(ours(await one.claim(KEY, undefined)).kept?.unheard).toBeUndefined();
    });

    it('owes nothing for a commit without a reply, and knows of a reply whose it is', async () => {
      const { one, other } = create(SHORT_MS, SHORT_MS);
      ours(await one.claim(KEY, undefined));
      await one.commit(record(), 0);
      expect((await claimed(other)).kept?.unheard).toBeUndefined();
      await other.commit(record({ version: 2 }), 1, true);
      expect((await claimed(other)).kept?.unheard).toBe('here');
      expect((await claimed(one)).kept?.unheard).toBe('elsewhere');
    });

    it('keeps a call for whoever committed a reply, claimed or not', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      await one.commit(record(), 0, true);
      expect(await other.claim(KEY, undefined)).toEqual({ kind: 'held' });
    });

    it('tells what the caller hears as of now, and older with every look', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      ours(await one.claim(KEY, undefined));
      await one.commit(record(), 0, true);
      expect((await other.open(KEY)).kept?.spoken).toBeUndefined();
      await one.release(KEY, SPOKEN);
      const first = (await other.open(KEY)).kept?.spoken;
      if (first === undefined) throw new Error('nothing was told');
      const ageMs = -100 - (first.prompts[0]?.startMs ?? NaN);
      expect(ageMs).toBeGreaterThanOrEqual(0);
      expect(first).toEqual({
        ...SPOKEN,
        prompts: SPOKEN.prompts.map((part) => ({ ...part, startMs: part.startMs - ageMs, endMs: part.endMs - ageMs })),
      });
      await until('a later look finds it older', async () => {
        const later = (await other.open(KEY)).kept?.spoken;
        return (later?.prompts[0]?.startMs ?? NaN) < -100 - ageMs;
      });
      expect(ours(await other.claim(KEY, undefined)).kept?.spoken?.prompts[0]?.startMs).toBeLessThan(-100 - ageMs);
    });

    it('keeps what was told last until something else is told', async () => {
      const { one, other } = create(LONG_MS, LONG_MS);
      ours(await one.claim(KEY, undefined));
      await one.commit(record(), 0, true);
      await one.release(KEY, SPOKEN);
      ours(await other.claim(KEY, undefined));
      await other.commit(record({ version: 2 }), 1, true);
      await other.release(KEY, undefined);
      expect((await one.open(KEY)).kept?.spoken?.before).toEqual(SPOKEN.before);
      ours(await one.claim(KEY, undefined));
      await one.release(KEY, { ...SPOKEN, cutHeard: { complete: false, ms: 7, text: 'Wel' }, prompts: [] });
      expect((await other.open(KEY)).kept?.spoken?.cutHeard).toEqual({ complete: false, ms: 7, text: 'Wel' });
    });
  });
}
