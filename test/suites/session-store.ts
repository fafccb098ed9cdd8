// What every session store must do, whoever keeps the records.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/session/ports.ts';
import { firstRecord, type SessionRecord } from '../../src/session/record.ts';

const KEY = { organizationId: 'org', conversationId: 'call' };

function record(change: Partial<SessionRecord> = {}): SessionRecord {
  const call = { ...KEY, agentId: 'a', startedAtMs: 1, vendorConfig: '', parameters: {} };
  return { ...firstRecord({ call, bot: { id: 'a', version: 1 }, mode: 'chunk' }), version: 1, state: { n: 1 }, ...change };
}

export function sessionStoreSuite(name: string, create: () => SessionStore): void {
  describe(name, () => {
    it('knows nothing of a call that was never committed', async () => {
      expect(await create().load(KEY)).toBeUndefined();
    });

    it('returns what was committed, frozen and as a copy', async () => {
      const store = create();
      const state = { n: 1, list: ['x'] };
      expect(await store.commit(record({ state }), 0)).toBe(true);
      state.list.push('y');
      const loaded = await store.load(KEY);
      expect(loaded).toEqual(record({ state: { n: 1, list: ['x'] } }));
      expect(Object.isFrozen(loaded)).toBe(true);
      expect(Object.isFrozen(loaded?.state)).toBe(true);
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
      await store.commit(record(), 0);
      await store.drop(KEY);
      expect(await store.load(KEY)).toBeUndefined();
      expect(await store.commit(record(), 0)).toBe(true);
    });

    it('keeps organizations apart', async () => {
      const store = create();
      await store.commit(record(), 0);
      expect(await store.load({ ...KEY, organizationId: 'other' })).toBeUndefined();
    });
  });
}
