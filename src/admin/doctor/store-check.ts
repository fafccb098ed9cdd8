// Checks that the store that servers share is usable, and keeps its data after a restart.
import { AppError } from '../../base/errors.ts';
import type { Check, Verdict } from './check.ts';
import type { DoctorContext, ExaminedStore } from './context.ts';
import { fault } from './finding.ts';

/** The store answers, accepts our credentials, and keeps its data. */
export const storeCheck: Check<Pick<DoctorContext, 'store'>> = {
  id: 'store',
  title: 'it can be used, and keeps its data',
  needs: [],
  tasks: ({ store }) =>
    store === undefined ? [] : [{ subject: { text: 'the shared store', path: ['all', 'store'] }, run: () => examined(store) }],
};

async function examined({ place: where, examine }: ExaminedStore): Promise<Verdict> {
  try {
    return (await examine()).map((found) => ({ ...found, where }));
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'store_unavailable') throw thrown;
    return [fault('store_unreachable', thrown.message, 'check the settings of store.redis and the Redis server', where)];
  }
}
