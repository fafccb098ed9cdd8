// What tests can change on the administration side while it runs: choices that the contract leaves open, observed drift, and failures.
// Every default follows the contract.

const DAY_SECONDS = 86_400;

/** Drift in the records of data sources. */
const DRIFT = {
  /** `schemaId` as an array with one element. */
  schemaIdAsArray: false,
  /** The lifetime as a string. */
  lifetimeAsText: false,
  /** The lifetime under its older name, `tokenLifeMinutes`. */
  oldLifetimeName: false,
  /** The token has the name `jwtToken`. */
  jwtToken: false,
  /** No `tokenExpiryTime`. */
  withoutExpiryTime: false,
  /** No `nonce` (L-15). */
  withoutNonce: false,
  /** Items of a list have only the few members of the published example, which lacks even the id (L-06). */
  sparseItems: 'no' as 'no' | 'with_id' | 'without_id',
  /** A list is a bare array. */
  bareList: false,
  /** The status is in upper case. */
  upperCaseStatus: false,
  /** A registration is answered with 201. */
  created201: false,
  /** The path that lists data sources: with a slash at its end, without one, or both paths. */
  listPath: 'both' as 'both' | 'slash' | 'bare',
};

/** What happens to deliveries of webhooks (H-10 to H-24). Read when an event happens. */
const DELIVERY = {
  /** How often each event is delivered; 0: never. */
  copies: 1,
  /** Delay of each delivery, ms. */
  delayMs: 0,
  /** Whether to hold deliveries until `release`. */
  hold: false,
  /** The key of the signature: the webhook's secret, a foreign one, or no signature at all. */
  signature: 'right' as 'right' | 'foreign' | 'none',
  /** Format of the second, stronger header (H-11): none; both digests with names; one of them; bare hex; or invalid. */
  strongSignature: 'none' as 'none' | 'pair' | 'sha256' | 'hex' | 'wrong' | 'garbage',
  /** Whether an event names another app than the receiver's. */
  foreignApp: false,
  /** The form of organization ids (H-02). */
  organizationForm: 'address' as 'address' | 'encoded_uuid' | 'uuid',
  /** The date in a `deauthorized` event: of the authorization (H-22), or of its withdrawal. */
  deauthorizationDate: 'original' as 'original' | 'own',
  /** Longest wait for the receiver's answer, ms. */
  timeoutMs: 10_000,
  /** A webhook becomes `inactive` after this many failures in a row; 0: never. */
  deactivateAfter: 0,
};

/** All switches; members may be set at any time. */
const SWITCHES = {
  /** The authorization page: a button for people, consent at once, or denial at once. */
  consent: 'ask' as 'ask' | 'auto' | 'deny',
  /** A refresh returns a new refresh token and ends the old one, returns the old one, or returns none. `none`: logins return none, too. */
  refreshTokens: 'rotate' as 'rotate' | 'keep' | 'omit' | 'none',
  /** Whether answers with tokens name the granted scopes; the published fields do not include them. */
  tellsScopes: false,
  /** Whether refusals of the token endpoint have OAuth's `error` and `error_description`. */
  oauthErrors: false,
  accessTokenSeconds: 14 * DAY_SECONDS,
  refreshTokenSeconds: 90 * DAY_SECONDS,
  codeSeconds: 300,
  /** Time after an authorization in which no service-app token is issued, ms (H-26). */
  propagationMs: 0,
  /** The accepted form of `targetOrgId` (U-14). */
  targetOrgForm: 'any' as 'any' | 'encoded' | 'uuid',
  /** Limit for each client; 0: no limit. */
  requestsPerMinute: 300,
  /** Added to the platform's clock, ms: changes the `Date` header and all times in tokens and records. */
  skewMs: 0,
  /** Whether an update must contain every member. */
  updates: 'whole' as 'whole' | 'partial',
  /** Whether an update changes the schema, which is not among the changeable members. The answer is 200 either way. */
  schemaChanges: 'taken' as 'taken' | 'ignored',
  /** What happens to the data sources of an organization that withdraws its authorization. */
  onDeauthorization: 'keep' as 'keep' | 'delete',
};

export type RecordDrift = typeof DRIFT;
export type DeliverySwitches = typeof DELIVERY;
/** All switches; members may be set at any time. */
export type Switches = typeof SWITCHES & { readonly drift: RecordDrift; readonly delivery: DeliverySwitches };

/** Initial values of switches; missing ones have their defaults. */
export type InitialSwitches = Partial<typeof SWITCHES> & {
  readonly drift?: Partial<RecordDrift>;
  readonly delivery?: Partial<DeliverySwitches>;
};

export function makeSwitches({ drift, delivery, ...initial }: InitialSwitches = {}): Switches {
  return { ...SWITCHES, ...initial, drift: { ...DRIFT, ...drift }, delivery: { ...DELIVERY, ...delivery } };
}
