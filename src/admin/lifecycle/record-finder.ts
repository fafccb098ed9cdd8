// Which record of the platform is the data source that a reconciler looks after: asks for it, and leaves none of it twice. What
// is chosen is decided elsewhere; what is done with it as well.
import { AppError } from '../../base/errors.ts';
import type { DataSource } from '../records.ts';
import { shownText } from '../../base/shown-text.ts';
import { chosenRecord, type Match } from './match.ts';
import type { NonceJournal } from './nonce-journal.ts';
import type { DataSourcesApi, WantedDataSource } from './ports.ts';
import { ifThere, withoutTwins } from './twin-records.ts';

export interface RecordFinderOptions {
  readonly wanted: WantedDataSource;
  readonly api: DataSourcesApi;
  readonly journal: Pick<NonceJournal, 'dataSourceId' | 'posted'>;
  /** A second record of ours is gone. */
  readonly onRemoved: () => void;
}

/** Finds the record of one data source. */
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
   * @throws AppError of the platform, `data_source_unclear` when it cannot be told which one it is.
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
