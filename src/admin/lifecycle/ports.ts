// What the lifecycle of data sources needs from other rooms. Types only.
import type { NonceBook } from '../../auth/nonces.ts';
import type { TrustedDataSources } from '../../auth/data-sources.ts';
import type { TokenTransport } from '../../auth/principal.ts';
import type { AppError } from '../../base/errors.ts';
import type { DataSources } from '../rest/data-sources.ts';
import type { KnownNonces } from './nonce-journal.ts';

/** The data sources of one organization on the platform. */
export type DataSourcesApi = Pick<DataSources, 'list' | 'get' | 'create' | 'update' | 'delete'>;

/** The data sources and nonces that the token check trusts. */
export interface Trust {
  readonly sources: TrustedDataSources;
  readonly nonces: NonceBook;
}

/** What the token check trusts of one data source, see {@link ServedDataSource}. */
export interface Served {
  /** The id of the served data source; undefined without one. */
  readonly id: string | undefined;
  show(id: string | undefined, known: KnownNonces): void;
  drop(): void;
}

/** Set for the leader when several servers share a store (L-10). */
export interface Leader {
  /** What the token check trusts of a data source: filled from the store already, and kept when this server no longer leads. */
  readonly served: (wanted: WantedDataSource) => Served;
  /**
   * Called before every change on the platform.
   *
   * @throws AppError `store_failed` when another server leads, or Redis does not confirm that this one does.
   */
  readonly confirm: () => Promise<void>;
}

/** A data source that we want registered. */
export interface WantedDataSource {
  readonly organizationId: string;
  readonly transport: TokenTransport;
  readonly url: string;
  readonly schemaId: string;
  readonly audience: string;
  readonly subject: string;
  /** Whole minutes, 1 to 1440 (J-01). */
  readonly tokenLifetimeMinutes: number;
  /** Id of the only data source that may be used (L-02). */
  readonly pinnedId?: string | undefined;
  /** Client id of our app: records of other apps are ignored (L-11). Undefined without one. */
  readonly applicationId?: string | undefined;
}

/** A transition of a data source; a closed set for the label of a metric. */
export const TRANSITIONS = ['adopted', 'created', 'repaired', 'renewed', 'followed', 'removed', 'failed', 'overdue', 'forgotten'] as const;
/**
 * `adopted`: found and used as it is; `created`: registered; `repaired`: changed back to the wanted values; `renewed`: given a new token in
 * time; `followed`: found renewed by somebody else; `removed`: a duplicate registration of ours was deleted; `failed`: an attempt
 * failed and will be repeated; `overdue`: not renewed after more than half of the lead time; `forgotten`: no longer served.
 */
export type Transition = (typeof TRANSITIONS)[number];

export interface DataSourceChanged {
  readonly organizationId: string;
  readonly transport: TokenTransport;
  readonly transition: Transition;
  readonly dataSourceId?: string | undefined;
  /** Expiry of the current token, ms since the epoch. */
  readonly expiresAtMs?: number | undefined;
  readonly error?: AppError | undefined;
}

/** Called at every transition; must not throw. */
export interface LifecycleObserver {
  readonly dataSourceChanged: (change: DataSourceChanged) => void;
}
