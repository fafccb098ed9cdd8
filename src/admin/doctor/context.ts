// What the doctor examines, as ports: the caller provides organizations, data sources, keys and agents.
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
  /** UUID. */
  readonly id: string;
  /** Whether a token of the app for it is stored. */
  isStored(): Promise<boolean>;
  readonly tokens: Pick<TokenSource, 'current'>;
  readonly dataSources: Pick<DataSourcesApi, 'list' | 'get'>;
}

/** A data source that the configuration wants, and what is stored of it. */
export interface ExaminedDataSource extends WantedDataSource {
  /** Id of the record at the server's last check. If that record is gone, another one takes its place, unlike a pinned record. */
  readonly knownId?: string | undefined;
}

export interface ExaminedScopes {
  /** UUID; undefined for the token of the integration. */
  readonly organizationId: string | undefined;
  readonly needed: readonly string[];
  readonly granted: readonly string[];
}

/** The webhooks there should be, and how to list the existing ones. */
export interface ExaminedWebhooks {
  list(signal: AbortSignal): Promise<readonly WebhookRegistration[]>;
  /** Sends an unsigned delivery to the target. @returns the status of the answer. */
  knock(wait: Pick<ProbeTarget, 'limitMs' | 'clock' | 'signal'>): Promise<Probed<number>>;
  /** The target of deliveries, character for character. */
  readonly targetUrl: string;
  /** The app whose authorizations we want to know of, in any spelling. */
  readonly applicationId: string;
}

/** A server's answer to a request for its agents. */
export type AgentsAnswer = { readonly kind: 'listed'; readonly count: number } | { readonly kind: 'refused'; readonly why: string };

/** The request that the platform sends when an administrator chooses an agent (G-05, W-50). */
export interface AgentsQuestion {
  readonly endpoint: Endpoint;
  /** The transport of the data source: an address may serve both. */
  readonly transport: TokenTransport;
  readonly organizationId: string;
  /** The token of the data source, as the platform sends it. */
  readonly token: string;
}

/**
 * The answer of a health service. `unknown`: there is none, or it says nothing useful; `unanswered`: no gRPC server answered, and
 * why.
 */
export type HealthAnswer = 'serving' | 'not_serving' | 'unknown' | { readonly unanswered: string };

export interface ExaminedStore {
  /** Its address, for people. */
  readonly place: string;
  /**
   * Problems of a reachable store.
   *
   * @throws AppError `store_unavailable`, `config_invalid`.
   */
  readonly examine: () => Promise<readonly Found[]>;
}

export interface DoctorContext {
  readonly profile: PlatformProfile;
  /** Undefined: no server shares its calls with others. */
  readonly store?: ExaminedStore | undefined;
  /** Undefined: nothing is managed, and the platform's records are not examined. */
  readonly organizations: readonly ExaminedOrganization[] | undefined;
  /** The scopes of stored tokens; only of tokens whose scopes the platform has named. */
  readonly scopes?: readonly ExaminedScopes[] | undefined;
  readonly wanted: readonly ExaminedDataSource[];
  /** Addresses for future registrations, beside those of the wanted data sources. */
  readonly addresses?: readonly RegisteredAddress[] | undefined;
  readonly times: LifecycleTimes;
  /** The server's own verifier. */
  readonly verifier: TokenVerifier;
  readonly nonces: Pick<NonceBook, 'accepts'>;
  readonly keys: Pick<KeySource, 'knows' | 'find'>;
  /** The Date header of any answer of the platform; null when there was none. Undefined: not examined. */
  readonly platformDate?: ((signal: AbortSignal) => Promise<string | null>) | undefined;
  /** Undefined: no webhooks are wanted. */
  readonly webhooks?: ExaminedWebhooks | undefined;
  /** The WebSocket path, including the prefix (W-01, W-02). Undefined: not examined. */
  readonly socketPath?: string | undefined;
  /** Sends a request to the health service at an address. Undefined: not examined. */
  readonly health?: ((endpoint: Endpoint, signal: AbortSignal) => Promise<HealthAnswer>) | undefined;
  /** Requests the agents of the server at an address. Undefined, or without a token: the configuration is examined instead. */
  readonly listAgents?: ((question: AgentsQuestion, signal: AbortSignal) => Promise<AgentsAnswer>) | undefined;
  /** The number of agents that the configuration offers an organization. */
  agents(organizationId: string): Promise<number>;
  /** PEM certificates of authorities to trust beside those of Node. */
  readonly authorities?: readonly string[] | undefined;
}
