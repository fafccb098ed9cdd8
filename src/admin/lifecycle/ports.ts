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
  /** The served data source; undefined without one. */
  readonly id: string | undefined;
  show(id: string | undefined, known: KnownNonces): void;
  drop(): void;
}

/** The differences for the leader, where several servers share a store (L-10). */
export interface Leader {
  /** The trust, already filled from the store, which stays filled. */
  readonly served: (wanted: WantedDataSource) => Served;
  /**
   * Called before every change at the platform.
   *
   * @throws AppError `store_failed` when another server leads by now, or Redis does not confirm.
   */
  readonly confirm: () => Promise<void>;
}

/** The data source that we want. */
export interface WantedDataSource {
  readonly organizationId: string;
  readonly transport: TokenTransport;
  readonly url: string;
  readonly schemaId: string;
  readonly audience: string;
  readonly subject: string;
  /** Whole minutes, 1 to 1440 (J-01). */
  readonly tokenLifetimeMinutes: number;
  /** The only data source that may be used (L-02). */
  readonly pinnedId?: string | undefined;
  /** Client id of our app: records of other apps are ignored (L-11). */
  readonly applicationId?: string | undefined;
}

/** A transition of a data source; a closed set for the label of a metric. */
export const TRANSITIONS = ['adopted', 'created', 'repaired', 'renewed', 'followed', 'removed', 'failed', 'overdue', 'forgotten'] as const;
/**
 * `adopted`: found and used as it is; `created`: registered; `repaired`: changed back to what we want; `renewed`: a new
 * token in time; `followed`: somebody else renewed it; `removed`: a second registration of ours has appeared and was
 * deleted; `failed`: an attempt failed and is repeated; `overdue`: not renewed although more than half of the lead time
 * has passed; `forgotten`: no longer served.
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
