// What the doctor examines, as ports: the caller supplies organizations, data sources, keys and agents.
import type { KeySource } from '../../auth/key-source.ts';
import type { NonceBook } from '../../auth/nonces.ts';
import type { TokenVerifier } from '../../auth/jws-verifier.ts';
import type { TokenTransport } from '../../auth/principal.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import type { DataSourcesApi, WantedDataSource } from '../lifecycle/ports.ts';
import type { LifecycleTimes } from '../lifecycle/schedule.ts';
import type { TokenSource } from '../token-source.ts';
import type { WebhookRegistration } from '../webhook-records.ts';
import type { Found } from './finding.ts';
import type { ProbeTarget, Probed } from './probes.ts';
import type { Endpoint, RegisteredAddress } from './subject.ts';

/** An organization whose data sources are managed through the administration interface. */
export interface ExaminedOrganization {
  /** A plain UUID. */
  readonly id: string;
  /** Whether the app's token for the organization is stored. */
  isStored(): Promise<boolean>;
  readonly tokens: Pick<TokenSource, 'current'>;
  readonly dataSources: Pick<DataSourcesApi, 'list' | 'get'>;
}

/** A data source that the configuration wants, with the stored data about it. */
export interface ExaminedDataSource extends WantedDataSource {
  /** Id of the record that the server found last. Unlike a pinned record, another record may replace it. */
  readonly knownId?: string | undefined;
}

export interface ExaminedScopes {
  /** A plain UUID; undefined for the token of the integration. */
  readonly organizationId: string | undefined;
  readonly needed: readonly string[];
  readonly granted: readonly string[];
}

/** The wanted webhooks, and how to list the existing ones. */
export interface ExaminedWebhooks {
  list(signal: AbortSignal): Promise<readonly WebhookRegistration[]>;
  /** Sends an unsigned delivery to the target. @returns the status of the response. */
  knock(wait: Pick<ProbeTarget, 'limitMs' | 'clock' | 'signal'>): Promise<Probed<number>>;
  /** The target of deliveries, character for character. */
  readonly targetUrl: string;
  /** The app whose authorizations the webhooks report, in any spelling. */
  readonly applicationId: string;
}

/** A server's answer to a request for its agents. */
export type AgentsAnswer = { readonly kind: 'listed'; readonly count: number } | { readonly kind: 'refused'; readonly why: string };

/** The request that the platform sends when an administrator is to choose an agent (G-05, W-50). */
export interface AgentsQuestion {
  readonly endpoint: Endpoint;
  /** The transport of the data source, because an address may serve both transports. */
  readonly transport: TokenTransport;
  readonly organizationId: string;
  /** The token of the data source, as the platform sends it. */
  readonly token: string;
}

/**
 * The answer of a health service. `unknown`: there is no health service, or its answer says nothing; `unanswered`: no gRPC server answered,
 * and why.
 */
export type HealthAnswer = 'serving' | 'not_serving' | 'unknown' | { readonly unanswered: string };

export interface ExaminedStore {
  /** The address of the store, for messages. */
  readonly place: string;
  /**
   * Finds problems of a reachable store.
   *
   * @throws AppError `store_unavailable`, `config_invalid`.
   */
  readonly examine: () => Promise<readonly Found[]>;
}

export interface DoctorContext {
  readonly profile: PlatformProfile;
  /** Undefined when calls are not shared with other servers. */
  readonly store?: ExaminedStore | undefined;
  /** Undefined without administration; the platform's records are then not examined. */
  readonly organizations: readonly ExaminedOrganization[] | undefined;
  /** The granted scopes of stored tokens, if the platform has named them. */
  readonly scopes?: readonly ExaminedScopes[] | undefined;
  readonly wanted: readonly ExaminedDataSource[];
  /** Addresses of future registrations, in addition to those of the wanted data sources. */
  readonly addresses?: readonly RegisteredAddress[] | undefined;
  readonly times: LifecycleTimes;
  /** A verifier like the server's. */
  readonly verifier: TokenVerifier;
  readonly nonces: Pick<NonceBook, 'accepts'>;
  readonly keys: Pick<KeySource, 'knows' | 'find'>;
  /** The Date header of any answer of the platform; null without an answer. Undefined: not examined. */
  readonly platformDate?: ((signal: AbortSignal) => Promise<string | null>) | undefined;
  /** Undefined when no webhooks are wanted. */
  readonly webhooks?: ExaminedWebhooks | undefined;
  /** The path of WebSocket calls, including the prefix (W-01, W-02). Undefined: not examined. */
  readonly socketPath?: string | undefined;
  /** Asks the health service at an address. Undefined: not examined. */
  readonly health?: ((endpoint: Endpoint, signal: AbortSignal) => Promise<HealthAnswer>) | undefined;
  /** Asks the server at an address for its agents. When undefined, or without a token, the configuration is examined instead. */
  readonly listAgents?: ((question: AgentsQuestion, signal: AbortSignal) => Promise<AgentsAnswer>) | undefined;
  /** The number of agents that an organization can choose from according to the configuration. */
  agents(organizationId: string): Promise<number>;
  /** PEM certificates of authorities to trust in addition to Node's. */
  readonly authorities?: readonly string[] | undefined;
}
