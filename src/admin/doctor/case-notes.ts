// What the checks of one run have seen, for those that come after them. Holds secrets (records with tokens) for the time of
// the run, and is never shown.
import type { WantedDataSource } from '../lifecycle/ports.ts';
import type { DataSource, DataSourceItem } from '../records.ts';
import type { Handshake } from './probes.ts';

/** The notes of one run. */
export class CaseNotes {
  /** Lists of data sources by organization. */
  readonly lists = new Map<string, readonly DataSourceItem[]>();
  /** The platform's records of the data sources that we want. */
  readonly records = new Map<WantedDataSource, DataSource>();
  /** By `host:port`. */
  readonly handshakes = new Map<string, Handshake>();
}
