// What the doctor examines, as ports: its caller says where organizations, data sources, keys and agents are found.
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
  /** Whether a token of the app for it is kept. */
  isStored(): Promise<boolean>;
  readonly tokens: Pick<TokenSource, 'current'>;
  readonly dataSources: Pick<DataSourcesApi, 'list' | 'get'>;
}

/** A data source as the configuration wants it, and what is remembered of it. */
export interface ExaminedDataSource extends WantedDataSource {
  /** Its record at the last check of the server. Unlike a pinned one it gives way when it is gone. */
  readonly knownId?: string | undefined;
}

export interface ExaminedScopes {
  /** UUID; undefined for the token of the integration. */
  readonly organizationId: string | undefined;
  readonly needed: readonly string[];
  readonly granted: readonly string[];
}

/** The webhooks there should be, and where to find those there are. */
export interface ExaminedWebhooks {
  list(signal: AbortSignal): Promise<readonly WebhookRegistration[]>;
  /** Sends a delivery without a signature to the target. @returns the status of the answer. */
  knock(wait: Pick<ProbeTarget, 'limitMs' | 'clock' | 'signal'>): Promise<Probed<number>>;
  /** Where deliveries must go, character for character. */
  readonly targetUrl: string;
  /** Of the app whose authorizations we are notified of, in any spelling. */
  readonly applicationId: string;
}

/** What a server answers that is asked for its agents. */
export type AgentsAnswer = { readonly kind: 'listed'; readonly count: number } | { readonly kind: 'refused'; readonly why: string };

/** What the platform asks when an administrator chooses an agent (G-05, W-50). */
export interface AgentsQuestion {
  readonly endpoint: Endpoint;
  /** Of the data source: an address may take calls over both. */
  readonly transport: TokenTransport;
  readonly organizationId: string;
  /** Of the data source, as the platform presents it. */
  readonly token: string;
}

/**
 * What a health service says. `unknown`: there is none, or it says nothing of use; `unanswered`: no gRPC server answered at all, and
 * why.
 */
export type HealthAnswer = 'serving' | 'not_serving' | 'unknown' | { readonly unanswered: string };

export interface ExaminedStore {
  /** Where it is, for people. */
  readonly place: string;
  /**
   * What is wrong with it though it lets us in, as far as that can be seen.
   *
   * @throws AppError `store_unavailable`, `config_invalid`.
   */
  readonly examine: () => Promise<readonly Found[]>;
}

export interface DoctorContext {
  readonly profile: PlatformProfile;
  /** Undefined: no server shares its calls with others. */
  readonly store?: ExaminedStore | undefined;
  /** Undefined: nothing is managed, and what the platform has is not examined. */
  readonly organizations: readonly ExaminedOrganization[] | undefined;
  /** What the platform has granted to kept tokens, as far as it said so. */
  readonly scopes?: readonly ExaminedScopes[] | undefined;
  readonly wanted: readonly ExaminedDataSource[];
  /** Where data sources will be registered, beside the addresses of those that are wanted already. */
  readonly addresses?: readonly RegisteredAddress[] | undefined;
  readonly times: LifecycleTimes;
  /** The ones that the server itself would use. */
  readonly verifier: TokenVerifier;
  readonly nonces: Pick<NonceBook, 'accepts'>;
  readonly keys: Pick<KeySource, 'knows' | 'find'>;
  /** The Date header of any answer of the platform; null when there was none. Undefined: not examined. */
  readonly platformDate?: ((signal: AbortSignal) => Promise<string | null>) | undefined;
  /** Undefined: no webhooks are wanted. */
  readonly webhooks?: ExaminedWebhooks | undefined;
  /** Path at which calls come in over WebSocket, the prefix included (W-01, W-02). Undefined: not examined. */
  readonly socketPath?: string | undefined;
  /** Asks the health service at an address. Undefined: not examined. */
  readonly health?: ((endpoint: Endpoint, signal: AbortSignal) => Promise<HealthAnswer>) | undefined;
  /** Asks the server at an address for its agents. Undefined, or no token to ask with: the configuration is examined instead. */
  readonly listAgents?: ((question: AgentsQuestion, signal: AbortSignal) => Promise<AgentsAnswer>) | undefined;
  /** How many agents the configuration offers an organization. */
  agents(organizationId: string): Promise<number>;
  /** PEM certificates of authorities that are trusted beside those of the runtime. */
  readonly authorities?: readonly string[] | undefined;
}
