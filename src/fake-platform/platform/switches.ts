// What tests can change on the administration side while it runs: where the contract leaves a choice or reports a
// drift, and failures. Every default follows the contract.

const DAY_SECONDS = 86_400;

/** Drift of the records of data sources. */
const DRIFT = {
  /** `schemaId` as an array with one element. */
  schemaIdAsArray: false,
  /** The lifetime as a string. */
  lifetimeAsText: false,
  /** The lifetime under its older name, `tokenLifeMinutes`. */
  oldLifetimeName: false,
  /** The token as `jwtToken`. */
  jwtToken: false,
  /** No `tokenExpiryTime`. */
  withoutExpiryTime: false,
  /** No `nonce` (L-15). */
  withoutNonce: false,
  /** List items with only the few fields of the published example, which has not even an id (L-06). */
  sparseItems: 'no' as 'no' | 'with_id' | 'without_id',
  /** The list as a bare array. */
  bareList: false,
  /** Status in upper case. */
  upperCaseStatus: false,
  /** A new record is answered with 201. */
  created201: false,
  /** Which path lists: with slash at the end, without, or both. */
  listPath: 'both' as 'both' | 'slash' | 'bare',
};

/** What happens to webhook deliveries (H-10 to H-24). Read when an event happens. */
const DELIVERY = {
  /** How often each event is delivered; 0 drops it. */
  copies: 1,
  /** Before each delivery, ms. */
  delayMs: 0,
  /** Keeps deliveries until they are released, in reverse if wanted. */
  hold: false,
  /** Signed with the webhook's secret, with a foreign one, or not at all. */
  signature: 'right' as 'right' | 'foreign' | 'none',
  /** Format of the second, stronger header (H-11): not sent, both digests by name, one of them, bare hex, or invalid. */
  strongSignature: 'none' as 'none' | 'pair' | 'sha256' | 'hex' | 'wrong' | 'garbage',
  /** The event names an app that is not the receiver's. */
  foreignApp: false,
  /** The form of organization ids (H-02). */
  organizationForm: 'address' as 'address' | 'encoded_uuid' | 'uuid',
  /** Date in a `deauthorized` event: of the authorization (H-22) or of its end. */
  deauthorizationDate: 'original' as 'original' | 'own',
  /** Longest wait for the receiver's answer, ms. */
  timeoutMs: 10_000,
  /** A webhook becomes `inactive` after this many failures in a row; 0 is never. */
  deactivateAfter: 0,
};

/** All switches; members may be set at any time. */
const SWITCHES = {
  /** What happens on the authorization page: a button for people, immediate consent, or immediate denial. */
  consent: 'ask' as 'ask' | 'auto' | 'deny',
  /** A refresh returns a new refresh token and revokes the old one, keeps it, or keeps it without returning it; `none` returns none at all. */
  refreshTokens: 'rotate' as 'rotate' | 'keep' | 'omit' | 'none',
  /** Answers with tokens name the granted scopes, which the published fields do not include. */
  tellsScopes: false,
  /** Adds `error` and `error_description` of OAuth to refusals of the token endpoint. */
  oauthErrors: false,
  accessTokenSeconds: 14 * DAY_SECONDS,
  refreshTokenSeconds: 90 * DAY_SECONDS,
  codeSeconds: 300,
  /** How long a service-app token is still rejected after an authorization, ms (H-26). */
  propagationMs: 0,
  /** Which form of `targetOrgId` is accepted (U-14). */
  targetOrgForm: 'any' as 'any' | 'encoded' | 'uuid',
  /** Per client; 0 is no limit. */
  requestsPerMinute: 300,
  /** Added to the platform's clock: the `Date` header and all times in tokens and records, ms. */
  skewMs: 0,
  /** Whether an update must hold every field. */
  updates: 'whole' as 'whole' | 'partial',
  /** Whether an update changes the schema, which is not among the fields that can be updated; the answer is 200 either way. */
  schemaChanges: 'taken' as 'taken' | 'ignored',
  /** What happens to the data sources of an organization that withdraws its authorization. */
  onDeauthorization: 'keep' as 'keep' | 'delete',
};

export type RecordDrift = typeof DRIFT;
export type DeliverySwitches = typeof DELIVERY;
/** All switches; members may be set at any time. */
export type Switches = typeof SWITCHES & { readonly drift: RecordDrift; readonly delivery: DeliverySwitches };

/** Initial switches; the rest have their defaults. */
export type InitialSwitches = Partial<typeof SWITCHES> & {
  readonly drift?: Partial<RecordDrift>;
  readonly delivery?: Partial<DeliverySwitches>;
};

export function makeSwitches({ drift, delivery, ...initial }: InitialSwitches = {}): Switches {
  return { ...SWITCHES, ...initial, drift: { ...DRIFT, ...drift }, delivery: { ...DELIVERY, ...delivery } };
}
