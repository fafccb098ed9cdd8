// Can the store be used that servers share, and will it still have its data after a restart?
import { AppError } from '../../base/errors.ts';
import type { Check, Finding } from './check.ts';
import type { ExaminedStore } from './context.ts';

/** It answers, lets us in, and keeps what it is given. */
export const storeCheck: Check = {
  id: 'store',
  title: 'it can be used, and keeps its data',
  needs: [],
  tasks: ({ store }) =>
    store === undefined ? [] : [{ subject: { text: 'the shared store', path: ['all', 'store'] }, run: async () => findingsOf(store) }],
};

async function findingsOf(store: ExaminedStore): Promise<readonly Finding[]> {
  const where = store.place;
  try {
    const findings = await store.look();
    return findings.map((finding) => ({ ...finding, where }));
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'store_unavailable') throw thrown;
    const mend = 'look at the settings of store.redis and at the Redis server';
    return [{ code: 'store_unreachable', severity: 'fault', what: thrown.message, where, mend }];
  }
}
