// The operator's settings as the program sees them: typed, camelCase, frozen in depth, every default filled in. What a
// key means, its default and its bounds are written once, in config/default.yaml; here stands only its type.
import type { TokenTransport } from '../../auth/principal.ts';
import type { LogLevel } from '../../base/log.ts';
import type { TlsFiles } from '../../base/tls-identity.ts';
import type { SpeechPatience } from '../../speech/patience.ts';

/** Which platform this server stands behind. */
interface PlatformSettings {
  /** Name of a shipped profile, or the absolute path of a profile file. */
  readonly profile: string;
  /** Token issuers accepted beside those of the profile (U-16). */
  readonly extraIssuers: readonly string[];
}

/** The media server's socket and its limits (P-18). */
interface GrpcSettings {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly maxMessageBytes: number;
  readonly maxStreamsPerConnection: number;
  readonly maxConnections: number;
  readonly unverifiedTimeoutMs: number;
  readonly maxUnverifiedPerAddress: number;
  readonly handshakeTimeoutMs: number;
  readonly maxConnectionIdleMs: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  readonly reflection: boolean;
  readonly firstMessageTimeoutMs: number;
}

/** The same calls over WebSocket: the socket and its limits. */
interface WebSocketSettings {
  readonly enabled: boolean;
  /** `ops`: on the port of the operations server, without TLS; `host` and `port` do not matter then. */
  readonly listen: 'own' | 'ops';
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Before both paths of the profile (W-02); undefined: none. */
  readonly pathPrefix: string | undefined;
  readonly maxMessageBytes: number;
  readonly maxConnections: number;
  readonly unverifiedTimeoutMs: number;
  readonly maxUnverifiedPerAddress: number;
  readonly handshakeTimeoutMs: number;
  readonly firstMessageTimeoutMs: number;
  readonly pingIntervalMs: number;
  readonly pongTimeoutMs: number;
  readonly listIdleMs: number;
  readonly peerCloseMs: number;
  readonly sendNoInputTimeout: boolean;
  /** Comes before `shutdown.graceMs`. */
  readonly drainMs: number;
}

/** How the servers are secured. Files are absolute paths of PEM files. */
export type TlsSettings =
  | { readonly mode: 'off' }
  | ({ readonly mode: 'files' } & TlsFiles & {
        /** Undefined: clients of the media server show no certificate. */
        readonly clients: ClientCertificateSettings | undefined;
      });

/** Which certificates clients of the media server must show (O-11, O-12). */
export interface ClientCertificateSettings {
  /** Absolute path of a PEM file; undefined: the authority of the profile. */
  readonly caFile: string | undefined;
  /** Empty, and without a file of them: those of the profile. */
  readonly subjects: readonly string[];
  /** Absolute path of a file with more of them. */
  readonly subjectsFile: string | undefined;
}

/** Limits for fetching and keeping an issuer's keys (J-13, J-14). */
interface KeySetSettings {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly cooldownMs: number;
  readonly staleMs: number;
}

/** One data source as registered with the platform. A token is compared with these values character for character. */
interface DataSourceSettings {
  readonly id: string;
  readonly organizationId: string;
  readonly url: string;
  /** Undefined: the profile's schema id for the transport. */
  readonly schemaId: string | undefined;
  readonly audience: string;
  readonly subject: string;
  /** Secret: never logged, never printed. */
  readonly nonce: string;
  /** The nonce before the last renewal, still accepted until its tokens expire (J-05). Secret. */
  readonly previousNonce: string | undefined;
  readonly transport: TokenTransport;
}

/** The token check. */
interface AuthSettings {
  readonly enabled: boolean;
  readonly allowUnauthenticatedNetwork: boolean;
  readonly clockSkewMs: number;
  readonly keySet: KeySetSettings;
  /** How many verified tokens are remembered, each until it expires; 0 checks every signature. */
  readonly rememberedTokens: number;
  readonly dataSources: readonly DataSourceSettings[];
}

/** The administration at the platform: tokens, webhooks and data sources (7.1). */
interface AdminSettings {
  readonly enabled: boolean;
  /** Undefined: the profile's. */
  readonly baseUrl: string | undefined;
  readonly failStartup: boolean;
  readonly login: 'service_app' | 'oauth_refresh' | 'static_token';
  /** In any spelling of the platform. */
  readonly organizations: readonly string[];
  readonly tokenExpiryBufferS: number;
  /** `keys` are secret: 32 bytes in hex; the first seals, each opens. */
  readonly store: { readonly file: string; readonly keys: readonly string[] };
  readonly integration: ClientSettings & { readonly redirectUri: string };
  readonly serviceApp: ClientSettings;
  readonly oauth: ClientSettings & { readonly refreshToken: string | undefined };
  readonly staticToken: { readonly accessToken: string | undefined };
  readonly dataSources: {
    /** Of the data sources for gRPC. */
    readonly url: string | undefined;
    /** Of the data sources for WebSocket. */
    readonly websocketUrl: string | undefined;
    readonly transports: readonly TokenTransport[];
    /** Undefined: the profile's. */
    readonly audience: string | undefined;
    readonly subject: string | undefined;
    readonly tokenLifetimeMinutes: number;
    readonly renewalLeadMinutes: number;
    readonly retryIntervalS: number;
    readonly checkIntervalS: number;
    readonly pinned: readonly { readonly organizationId: string; readonly transport: TokenTransport; readonly id: string }[];
  };
  /** What is told of authorizations; nothing unless one of the two is set. */
  readonly authorizationHook: {
    /** Program and arguments; empty: none. */
    readonly command: readonly string[];
    readonly url: string | undefined;
    /** Secret. */
    readonly key: string | undefined;
    readonly timeoutMs: number;
  };
  /** Without a target nobody listens. */
  readonly webhooks: {
    readonly targetUrl: string | undefined;
    readonly host: string;
    readonly port: number;
    readonly path: string;
    /** With the certificate of the media server. */
    readonly tls: boolean;
    /** Until the first delivery with a good signature. */
    readonly unverifiedTimeoutMs: number;
    readonly maxUnverifiedPerAddress: number;
  };
}

/** Who asks for tokens. */
interface ClientSettings {
  readonly clientId: string | undefined;
  /** Secret. */
  readonly clientSecret: string | undefined;
}

/** How many calls are kept and for how long. */
interface SessionSettings {
  readonly max: number;
  /** 0: no limit of its own. */
  readonly maxPerOrganization: number;
  /** 0: no limit. */
  readonly maxNewPerSPerOrganization: number;
  /** What is left out is as for the others. */
  readonly organizations: readonly {
    readonly organizationId: string;
    readonly max: number | undefined;
    readonly maxNewPerS: number | undefined;
  }[];
  readonly idleTimeoutMs: number;
  readonly maxDurationMs: number;
  readonly sweepMs: number;
  readonly maxSnapshotBytes: number;
}

/** How servers that share a store forward turns to each other. */
interface PeersSettings {
  /** Undefined: that of `grpc.host`. */
  readonly host: string | undefined;
  /** 0 takes a free port. */
  readonly port: number;
  /** What the others dial: a host name or address; undefined: found out. */
  readonly address: string | undefined;
  /** Most turns that are forwarded at once. */
  readonly maxTurns: number;
}

/** Where calls are kept between two turns. */
interface StoreSettings {
  readonly kind: 'memory' | 'redis';
  /** Secret: 32 bytes in hex; the first seals, each opens. */
  readonly keys: readonly string[];
  /** Only with kind redis. */
  readonly redis: {
    readonly url: string;
    /** `HOST:PORT` each; none: the server is where {@link url} says. */
    readonly sentinels: readonly string[];
    readonly sentinelName: string | undefined;
    readonly sentinelUser: string | undefined;
    /** Secret. */
    readonly sentinelPassword: string | undefined;
    readonly user: string | undefined;
    /** Secret. */
    readonly password: string | undefined;
    readonly caFile: string | undefined;
    readonly keyPrefix: string;
    readonly timeoutMs: number;
  };
}

/** Limits of one turn. */
interface TurnSettings {
  readonly deadlineMs: number;
  /** 0: the caller hears nothing while a bot thinks. */
  readonly fillerAfterMs: number;
  readonly maxAheadMs: number;
  readonly maxFarewellMs: number;
  readonly maxOpen: number;
  readonly slowReaderMs: number;
  readonly maxQueuedBytes: number;
}

/** When the process is too busy for new calls; 0 switches a limit off. */
interface OverloadSettings {
  readonly maxLoopDelayMs: number;
  readonly maxRssBytes: number;
  readonly maxHeapPercent: number;
}

/** How prompts travel. */
interface MediaSettings {
  readonly mode: 'chunk' | 'wav';
  readonly welcomeBargeIn: boolean;
  /** Whether the platform gets a transcript of the call with its last response (G-7B). */
  readonly transcript: boolean;
  /** For tests only: names the text of prompts in response trailers, and apologies for bots that failed. */
  readonly revealPromptText: boolean;
}

/** What a `listen` of a bot is filled up with. */
interface ListenDefaults {
  readonly accept: 'speech' | 'keys' | 'both';
  readonly digits: number;
  readonly interDigitMs: number;
  readonly terminator: '#' | '*' | 'none';
  /** 0: never report silence (G-82). */
  readonly noInputMs: number;
}

/** How the start and the end of speech are found. */
interface SpeechSettings extends SpeechPatience {
  /** The whole silence that ends an utterance while digits are read out. */
  readonly digitSilenceMs: number;
  /** Whether a prompt goes on that was cut by something without words. */
  readonly resumePrompt: boolean;
}

/** What the engine itself says when a bot cannot. */
interface PromptSettings {
  readonly filler: string;
  readonly apology: string;
  readonly handover: string;
}

/** The bots that one organization sees; ids. */
interface OrganizationBotSettings {
  readonly organizationId: string;
  readonly bots: readonly string[];
  /** Undefined: the general default where it is among them, else none. */
  readonly defaultBot: string | undefined;
}

/** Where bots and their recordings lie, in absolute folders, and who sees which of them. */
interface BotSettings {
  /** Undefined: the bundled bots. */
  readonly folder: string | undefined;
  /** The bot for calls that name none (G-07); undefined: the first one by id. */
  readonly defaultBot: string | undefined;
  readonly organizations: readonly OrganizationBotSettings[];
  /** What organizations see that are not listed. */
  readonly others: 'all' | 'none';
  /** Undefined: the folder `prompts` beside the bots. */
  readonly promptsFolder: string | undefined;
  /** Whether changed modules are loaded again while the server runs. */
  readonly watch: boolean;
}

/** How text becomes speech. */
interface SynthesizerSettings {
  readonly engine: 'flite' | 'http' | 'none';
  /** Undefined: the engine's own choice. */
  readonly voice: string | undefined;
  readonly timeoutMs: number;
  /** Undefined: nothing is kept on disk. */
  readonly cacheFolder: string | undefined;
  readonly cacheMaxBytes: number;
  /** Only with engine http. */
  readonly http: SpeechServiceSettings & {
    readonly format: 'pcm' | 'wav';
    readonly rateHz: number;
    readonly speedPercent: number;
    readonly firstByteMs: number;
  };
}

/** A service that speaks or recognizes. */
interface SpeechServiceSettings {
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly model: string | undefined;
}

/** How speech becomes text. */
interface RecognizerSettings {
  readonly engine: 'none' | 'command' | 'http';
  /** Program and arguments; only with engine command. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** Only with engine http. */
  readonly http: SpeechServiceSettings & { readonly language: string | undefined; readonly prompt: string | undefined };
}

/** The operations HTTP server. */
interface OpsSettings {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** For calls and metrics, beside `host`, localhost and IP addresses. */
  readonly hostNames: readonly string[];
  readonly serviceName: string;
}

/** Everything an operator can set. */
export interface Settings {
  readonly platform: PlatformSettings;
  readonly grpc: GrpcSettings;
  readonly websocket: WebSocketSettings;
  readonly peers: PeersSettings;
  readonly tls: TlsSettings;
  readonly auth: AuthSettings;
  readonly admin: AdminSettings;
  readonly sessions: SessionSettings;
  readonly store: StoreSettings;
  readonly turns: TurnSettings;
  readonly overload: OverloadSettings;
  readonly media: MediaSettings;
  readonly listen: ListenDefaults;
  readonly speech: SpeechSettings;
  readonly prompts: PromptSettings;
  readonly bots: BotSettings;
  readonly synthesizer: SynthesizerSettings;
  readonly recognizer: RecognizerSettings;
  readonly ops: OpsSettings;
  readonly telemetry: { readonly timelineCalls: number };
  readonly log: { readonly level: LogLevel };
  /** `noticeMs` comes before `graceMs`. */
  readonly shutdown: { readonly noticeMs: number; readonly graceMs: number };
}
