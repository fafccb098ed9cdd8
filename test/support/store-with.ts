// The memory store with some of its doings replaced. Whatever reads a record reads it through `load`.
import type { CallKey } from '../../src/dialog/call.ts';
import type { KeptCall, SessionStore } from '../../src/session/ports.ts';
import { MemoryStore } from '../../src/store/memory.ts';

/** @param base - does what is not replaced. */
export function storeWith(replaced: Partial<Pick<SessionStore, 'load' | 'commit' | 'drop'>>, base = new MemoryStore()): SessionStore {
  const load = replaced.load ?? base.load.bind(base);
  const kept = async (key: CallKey): Promise<KeptCall | undefined> => {
    const record = await load(key);
    return record === undefined ? undefined : { record, spoken: undefined };
  };
  return {
    leaseMs: base.leaseMs,
    load,
    open: async (key) => ({ place: 0, kept: await kept(key) }),
    openClaimed: async (key) => {
      const known = await kept(key);
      return { place: 0, kept: known, claim: { kind: 'ours', kept: known } };
    },
    serves: base.serves.bind(base),
    claim: async (key) => ({ kind: 'ours', kept: await kept(key) }),
    renew: base.renew.bind(base),
    commit: replaced.commit ?? base.commit.bind(base),
    release: base.release.bind(base),
    touch: base.touch.bind(base),
    drop: replaced.drop ?? base.drop.bind(base),
  };
}
