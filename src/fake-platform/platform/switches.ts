// What tests can change on the administration side while it runs: where the contract leaves a choice or reports a
// drift, and failures. Every default follows the contract.

/** Drift of the records of data sources. */
export interface RecordDrift {
  /** `schemaId` as an array with one element. */
  schemaIdAsArray: boolean;
  /** The lifetime as a string. */
  lifetimeAsText: boolean;
  /** The lifetime under its older name, `tokenLifeMinutes`. */
  oldLifetimeName: boolean;
  /** The token as `jwtToken`. */
  jwtToken: boolean;
  /** No `tokenExpiryTime`. */
  withoutExpiryTime: boolean;
  /** No `nonce` (L-15). */
  withoutNonce: boolean;
  /** List items with only the few fields of the published example, which has not even an id (L-06). */
  sparseItems: 'no' | 'with_id' | 'without_id';
  /** The list as a bare array. */
  bareList: boolean;
  /** Status in upper case. */
  upperCaseStatus: boolean;
  /** A new record is answered with 201. */
  created201: boolean;
  /** Which path lists: with slash at the end, without, or both. */
  listPath: 'both' | 'slash' | 'bare';
}

/** What happens to webhook deliveries (H-10 to H-24). Read when an event happens. */
export interface DeliverySwitches {
  /** How often each event is delivered; 0 drops it. */
  copies: number;
  /** Before each delivery, ms. */
  delayMs: number;
  /** Keeps deliveries until they are released, in reverse if wanted. */
  hold: boolean;
  /** Signed with the webhook's secret, with a foreign one, or not at all. */
  signature: 'right' | 'foreign' | 'none';
  /** Format of the second, stronger header (H-11): not sent, both digests by name, one of them, bare hex, or invalid. */
  strongSignature: 'none' | 'pair' | 'sha256' | 'hex' | 'wrong' | 'garbage';
  /** The event names an app that is not the receiver's. */
  foreignApp: boolean;
  /** The form of organization ids (H-02). */
  organizationForm: 'address' | 'encoded_uuid' | 'uuid';
  /** Date in a `deauthorized` event: of the authorization (H-22) or of its end. */
  deauthorizationDate: 'original' | 'own';
  /** Longest wait for the receiver's answer, ms. */
  timeoutMs: number;
  /** A webhook becomes `inactive` after this many failures in a row; 0 is never. */
  deactivateAfter: number;
}

/** All switches; members may be set at any time. */
export interface Switches {
  /** What happens on the authorization page: a button for people, immediate consent, or immediate denial. */
  consent: 'ask' | 'auto' | 'deny';
  /** A refresh returns a new refresh token and revokes the old one, keeps it, or keeps it without returning it; `none` returns none at all. */
  refreshTokens: 'rotate' | 'keep' | 'omit' | 'none';
  /** Answers with tokens name the granted scopes, which the published fields do not include. */
  tellsScopes: boolean;
  /** Adds `error` and `error_description` of OAuth to refusals of the token endpoint. */
  oauthErrors: boolean;
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
  codeSeconds: number;
  /** How long a service-app token is still rejected after an authorization, ms (H-26). */
  propagationMs: number;
  /** Which form of `targetOrgId` is accepted (U-14). */
  targetOrgForm: 'any' | 'encoded' | 'uuid';
  /** Per client; 0 is no limit. */
  requestsPerMinute: number;
  /** Added to the platform's clock: the `Date` header and all times in tokens and records, ms. */
  skewMs: number;
  /** Whether an update must hold every field. */
  updates: 'whole' | 'partial';
  /** Whether an update changes the schema, which is not among the fields that can be updated; the answer is 200 either way. */
  schemaChanges: 'taken' | 'ignored';
  /** What happens to the data sources of an organization that withdraws its authorization. */
  onDeauthorization: 'keep' | 'delete';
  readonly drift: RecordDrift;
  readonly delivery: DeliverySwitches;
}

/** Initial switches; the rest have their defaults. */
export type InitialSwitches = Partial<Omit<Switches, 'drift' | 'delivery'>> & {
  readonly drift?: Partial<RecordDrift>;
  readonly delivery?: Partial<DeliverySwitches>;
};

const DAY_SECONDS = 86_400;

/** Makes the switches of one platform. */
export function makeSwitches(initial: InitialSwitches = {}): Switches {
  return {
    consent: 'ask',
    refreshTokens: 'rotate',
    tellsScopes: false,
    oauthErrors: false,
    accessTokenSeconds: 14 * DAY_SECONDS,
    refreshTokenSeconds: 90 * DAY_SECONDS,
    codeSeconds: 300,
    propagationMs: 0,
    targetOrgForm: 'any',
    requestsPerMinute: 300,
    skewMs: 0,
    updates: 'whole',
    schemaChanges: 'taken',
    onDeauthorization: 'keep',
    ...initial,
    drift: {
      schemaIdAsArray: false,
      lifetimeAsText: false,
      oldLifetimeName: false,
      jwtToken: false,
      withoutExpiryTime: false,
      withoutNonce: false,
      sparseItems: 'no',
      bareList: false,
      upperCaseStatus: false,
      created201: false,
      listPath: 'both',
      ...initial.drift,
    },
    delivery: {
      copies: 1,
      delayMs: 0,
      hold: false,
      signature: 'right',
      strongSignature: 'none',
      foreignApp: false,
      organizationForm: 'address',
      deauthorizationDate: 'original',
      timeoutMs: 10_000,
      deactivateAfter: 0,
      ...initial.delivery,
    },
  };
}
