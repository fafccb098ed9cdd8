// Where a call lives, as transports ask it and the homes of calls answer it. Knows neither streams nor how it is found out.
import type { JsonObject } from '../base/json.ts';

/** Another instance, as it stands in the table of instances. */
export interface Peer {
  /** New with each start of its process. */
  readonly id: string;
  /** `host:port` of its peer port. */
  readonly address: string;
  /** Fingerprint of its certificate: SHA-256, as `X509Certificate.fingerprint256` has it. */
  readonly certificate: string;
}

/** What a home that is gone has left of a call. */
export interface Restored {
  /** As it was saved; the engine alone reads it. */
  readonly snapshot: JsonObject;
  /** How often the call has changed its home. */
  readonly generation: number;
}

/** The call lives here from now on. */
export interface LocatedHere {
  readonly kind: 'here';
  /** Another home had it; repeated until the first snapshot of this one is saved. */
  readonly restored?: Restored;
}

/** One that nothing has to be restored for. */
export const HERE: LocatedHere = Object.freeze({ kind: 'here' });

/** The call lives there: forward. */
export interface LocatedElsewhere {
  readonly kind: 'elsewhere';
  readonly home: Peer;
  /** Nobody has the call, and this instance takes no new ones: the peer is to claim it. */
  readonly isTaking: boolean;
}

/**
 * Where a call lives. `not_mine`: a forwarding peer asked, and it does not live here. `ended`: nowhere, it is over or begins with its own
 * end, and gets no prompts (G-7C).
 */
export type Located = LocatedHere | LocatedElsewhere | { readonly kind: 'not_mine' } | { readonly kind: 'ended' };

/** What is known of the turn whose home is asked for. */
export interface Asked {
  /** What its first message brings; `nothing`: audio, or the first key. */
  readonly opensWith: 'start' | 'end' | 'input' | 'nothing';
  /** It came over the peer port. `isTaking`: as above, said by the peer. */
  readonly forwarded?: { readonly isTaking: boolean };
  /** Its home is a socket: taken from whoever has it, never released. */
  readonly isTied?: boolean;
}

/** Why a forwarded turn came back. `refused`: no connection was taken; `broken`: there was one. */
export type ForwardLoss = 'not_mine' | 'refused' | 'broken';

/** How forwarding a turn ended. Public: a label of a metric. */
export const FORWARD_OUTCOMES = ['completed', 'error', 'cancelled', 'taken_over', 'failed'] as const;
export type ForwardOutcome = (typeof FORWARD_OUTCOMES)[number];
