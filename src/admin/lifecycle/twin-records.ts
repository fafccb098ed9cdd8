// A registration whose answer was lost may turn up after another one was sent. Both carry the same nonce, which nobody
// else knows: so they are ours, and one is too many.
import type { DataSource } from '../records.ts';
import { isNotThere } from '../rest/rest-error.ts';
import type { Posted } from './nonce-journal.ts';
import type { DataSourcesApi } from './ports.ts';

/**
 * Deletes the records of all registrations but one.
 *
 * @param items - as the platform lists them.
 * @param keptId - the one that is kept; without it, the first.
 * @returns those that are left, and how many are gone.
 * @throws AppError of the platform.
 */
export async function withoutTwins(
  items: readonly DataSource[],
  keptId: string | undefined,
  posted: Posted | undefined,
  api: Pick<DataSourcesApi, 'get' | 'delete'>,
  signal: AbortSignal,
): Promise<{ readonly items: readonly DataSource[]; readonly deleted: number }> {
  if (posted === undefined || posted.times < 2) return { items, deleted: 0 };
  const twins: string[] = [];
  for (const item of items) if ((await nonceOf(item, api, signal)) === posted.nonce) twins.push(item.id);
  const kept = keptId ?? twins[0];
  const extra = twins.filter((id) => id !== kept);
  for (const id of extra) await ifThere(api.delete(id, signal));
  return { items: items.filter(({ id }) => !extra.includes(id)), deleted: extra.length };
}

/** An item may say less than the single record. */
async function nonceOf({ id, nonce }: DataSource, api: Pick<DataSourcesApi, 'get'>, signal: AbortSignal): Promise<string | undefined> {
  return nonce ?? (await ifThere(api.get(id, signal)))?.nonce;
}

/** What is asked for; undefined when the platform has no such record. @throws AppError of the platform. */
export async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    if (isNotThere(thrown)) return undefined;
    throw thrown;
  }
}
