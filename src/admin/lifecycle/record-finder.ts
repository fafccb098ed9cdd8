// Which record of the platform is the data source of a reconciler: asks for it, and leaves none of it twice. What
// is chosen is decided elsewhere; what is done with it as well.
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
  /** A second record of ours is gone. */
  readonly onRemoved: () => void;
}

export class RecordFinder {
  readonly #options: RecordFinderOptions;
  /** A record that is not taken, although it is known. */
  #passedOver: string | undefined;

  constructor(options: RecordFinderOptions) {
    this.#options = options;
  }

  /** Whether a record is passed over now. */
  get passesOver(): boolean {
    return this.#passedOver !== undefined;
  }

  /** Takes another record from now on than this one; undefined: whatever fits. */
  passOver(id: string | undefined): void {
    this.#passedOver = id;
  }

  /**
   * Our data source as the platform has it; undefined when there is none (L-02 to L-04).
   *
   * @param servedId - the one whose tokens are let in.
   * @throws AppError of the platform, `data_source_unclear` when it is unclear which one it is.
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

  /** What the platform lists, without records that we registered twice. @param keptId - stays in any case. */
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
 * Deletes the records of all registrations but one. A registration whose answer was lost may turn up after another one was sent
 * both carry the same nonce, which nobody else knows: so they are ours, and one is too many.
 *
 * @param items - as the platform lists them.
 * @param keptId - the one that is kept; without it, the first.
 * @returns those that are left, and how many are gone.
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
