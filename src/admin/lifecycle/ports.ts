// What the lifecycle of data sources asks of the rooms around it. Types only.
import type { NonceBook } from '../../auth/nonces.ts';
import type { TrustedDataSources } from '../../auth/data-sources.ts';
import type { TokenTransport } from '../../auth/principal.ts';
import type { AppError } from '../../base/errors.ts';
import type { DataSources } from '../rest/data-sources.ts';
import type { KnownNonces } from './nonce-journal.ts';

/** The data sources of one organization, as the platform keeps them. */
export type DataSourcesApi = Pick<DataSources, 'list' | 'get' | 'create' | 'update' | 'delete'>;

/** The data sources and nonces that the token check believes. */
export interface Trust {
  readonly sources: TrustedDataSources;
  readonly nonces: NonceBook;
}

/** What the token check believes of one data source; {@link ServedDataSource} does it. */
export interface Served {
  /** The data source that is served; undefined when none is. */
  readonly id: string | undefined;
  show(id: string | undefined, known: KnownNonces): void;
  drop(): void;
}

/** What is otherwise for the leader, where several servers share a store (L-10). */
export interface Leader {
  /** What is let in: filled already from what is written down, and to be left filled. */
  readonly served: (wanted: WantedDataSource) => Served;
  /**
   * Asked before anything is changed at the platform.
   *
   * @throws AppError `store_failed` when another server leads by now, or when Redis does not say so.
   */
  readonly confirm: () => Promise<void>;
}

/** A data source as we want it to be. */
export interface WantedDataSource {
  readonly organizationId: string;
  readonly transport: TokenTransport;
  readonly url: string;
  readonly schemaId: string;
  readonly audience: string;
  readonly subject: string;
  /** Whole minutes, 1 to 1440 (J-01). */
  readonly tokenLifetimeMinutes: number;
  /** A data source that must be used and no other (L-02). */
  readonly pinnedId?: string | undefined;
  /** Client id of our app: records of another one are none of our business (L-11). */
  readonly applicationId?: string | undefined;
}

/** What happened to a data source; a closed set that may be a label of a metric. */
export const TRANSITIONS = ['adopted', 'created', 'repaired', 'renewed', 'followed', 'removed', 'failed', 'overdue', 'forgotten'] as const;
/**
 * `adopted`: found and used as it is; `created`: registered; `repaired`: changed back to what we want; `renewed`: a new
 * token in time; `followed`: somebody else renewed it; `removed`: a second registration of ours has turned up and is gone
 * `failed`: an attempt failed and is repeated; `overdue`: not renewed although more than half of the lead time is
 * over; `forgotten`: no longer served.
 */
export type Transition = (typeof TRANSITIONS)[number];

export interface DataSourceChanged {
  readonly organizationId: string;
  readonly transport: TokenTransport;
  readonly transition: Transition;
  readonly dataSourceId?: string | undefined;
  /** End of the current token, ms since the epoch. */
  readonly expiresAtMs?: number | undefined;
  readonly error?: AppError | undefined;
}

/** Notified of every transition; must not throw. */
export interface LifecycleObserver {
  readonly dataSourceChanged: (change: DataSourceChanged) => void;
}
