// Finds the platform's record for a reconciler, and deletes duplicates of ours. `match.ts` selects; the reconciler acts on
// the result.
import { AppError } from '../../base/errors.ts';
import type { DataSource } from '../records.ts';
import { shownText } from '../../base/shown-text.ts';
import { isNotThere } from '../rest/rest-error.ts';
import { chosenRecord, type Match } from './match.ts';
import type { NonceJournal, Posted } from './nonce-journal.ts';
import type { DataSourcesApi, WantedDataSource } from './ports.ts';

export interface RecordFinderOptions {
  readonly wanted: WantedDataSource;
  readonly api: DataSourcesApi;
  readonly journal: Pick<NonceJournal, 'dataSourceId' | 'posted'>;
  /** Called when a duplicate record of ours was deleted. */
  readonly onRemoved: () => void;
}

export class RecordFinder {
  readonly #options: RecordFinderOptions;
  /** Id of a known record that is ignored; undefined: none. */
  #passedOver: string | undefined;

  constructor(options: RecordFinderOptions) {
    this.#options = options;
  }

  /** Whether a known record is being ignored. */
  get passesOver(): boolean {
    return this.#passedOver !== undefined;
  }

  /** Ignores this record from now on. @param id - undefined: ignores none. */
  passOver(id: string | undefined): void {
    this.#passedOver = id;
  }

  /**
   * Finds our data source on the platform; undefined without one (L-02 to L-04).
   *
   * @param servedId - id of the data source whose tokens are trusted.
   * @throws AppError of the platform, or `data_source_unclear` when several records fit.
   */
  async find(servedId: string | undefined, signal: AbortSignal): Promise<DataSource | undefined> {
    const { api, wanted, journal } = this.#options;
    const knownId = wanted.pinnedId ?? servedId ?? journal.dataSourceId;
    if (knownId !== undefined && knownId !== this.#passedOver) {
      const record = await ifThere(api.get(knownId, signal));
      const known = chosenRecord(record === undefined ? [] : [record], wanted, knownId);
      if (known.kind === 'found') {
        if ((journal.posted?.times ?? 0) > 1) await this.#listed(knownId, signal);
        return record;
      }
      if (wanted.pinnedId !== undefined) throw unclear(known, wanted.pinnedId);
    }
    const match = chosenRecord(await this.#listed(undefined, signal), wanted, undefined);
    if (match.kind === 'none') return undefined;
    if (match.kind !== 'found') throw unclear(match, wanted.pinnedId);
    return api.get(match.id, signal);
  }

  /** The platform's list, after deleting our duplicates. @param keptId - the record not to delete; default: the first duplicate. */
  async #listed(keptId: string | undefined, signal: AbortSignal): Promise<readonly DataSource[]> {
    const { api, journal, onRemoved } = this.#options;
    const { items, deleted } = await withoutTwins(await api.list(signal), keptId, journal.posted, api, signal);
    if (deleted > 0) onRemoved();
    return items;
  }
}

function unclear(match: Match, pinnedId = ''): AppError {
  if (match.kind === 'ambiguous') {
    const ids = match.ids.map((id) => shownText(id)).join(', ');
    return new AppError('data_source_unclear', `${String(match.ids.length)} data sources fit equally well: ${ids}`);
  }
  const why = match.kind === 'foreign' ? 'belongs to another app' : 'is not there';
  return new AppError('data_source_unclear', `the pinned data source ${shownText(pinnedId)} ${why}; none is registered in its place`);
}

/**
 * Deletes all but one of the records that our registrations created. A registration whose answer was lost may appear after another one was
 * sent. All have the same nonce, which only we know, so these records are ours.
 *
 * @param items - as the platform lists them.
 * @param keptId - the record to keep; default: the first.
 * @returns the remaining records, and how many were deleted.
 * @throws AppError of the platform.
 */
async function withoutTwins(
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

/** The nonce of a record. The record in a list may lack it. */
async function nonceOf({ id, nonce }: DataSource, api: Pick<DataSourcesApi, 'get'>, signal: AbortSignal): Promise<string | undefined> {
  return nonce ?? (await ifThere(api.get(id, signal)))?.nonce;
}

/** The record; undefined when the platform has none. @throws AppError of the platform. */
export async function ifThere<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (thrown) {
    if (isNotThere(thrown)) return undefined;
    throw thrown;
  }
}
