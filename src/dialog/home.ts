// Where a call lives: the questions of transports and the answers of call homes. Knows neither streams nor how homes are found.
import type { JsonObject } from '../base/json.ts';
import type { CallKey } from './call.ts';

/** Another instance, as in the table of instances. */
export interface Peer {
  /** A new id with each start of the instance's process. */
  readonly id: string;
  /** `host:port` of the instance's peer port. */
  readonly address: string;
  /** Fingerprint of the instance's certificate: SHA-256, as `X509Certificate.fingerprint256` has it. */
  readonly certificate: string;
}

/** What a dead home has left of a call. */
export interface Restored {
  /** The snapshot as it was saved; only the engine reads it. */
  readonly snapshot: JsonObject;
  /** How often the call has changed its home. */
  readonly generation: number;
}

/** The call lives here from now on. */
export interface LocatedHere {
  readonly kind: 'here';
  /** Set when another home had the call. Repeated with each turn until this home has saved its first snapshot. */
  readonly restored?: Restored;
}

/** A new call: there is nothing to restore. */
export const HERE: LocatedHere = Object.freeze({ kind: 'here' });

/** The call lives at another instance: the turn must be forwarded. */
export interface LocatedAtPeer {
  readonly kind: 'at_peer';
  readonly home: Peer;
  /** True when nobody has the call and this instance takes no new ones: the peer must claim it. */
  readonly isTaking: boolean;
}

/**
 * Where a call lives. `not_mine`: a forwarding peer asked, and the call does not live here. `ended`: the call lives nowhere; it is over
 * or begins with its own end, and gets no prompts (G-7C).
 */
export type Located = LocatedHere | LocatedAtPeer | { readonly kind: 'not_mine' } | { readonly kind: 'ended' };

/** A turn whose home is looked up, as far as its first message describes it. */
export interface Asked {
  /** The content of the first message; `nothing`: audio, or the first key. */
  readonly opensWith: 'start' | 'end' | 'input' | 'nothing';
  /** Set when the turn came over the peer port. `isTaking`: the peer asks this instance to claim the call. */
  readonly forwarded?: { readonly isTaking: boolean };
  /** The call has a WebSocket, whose process is its home: always taken over, never released. */
  readonly isTied?: boolean;
}

/** Why a forwarded turn failed. `refused`: no connection was accepted; `broken`: there was one. */
export type ForwardLoss = 'not_mine' | 'refused' | 'broken';

/** How forwarding a turn ended. Public: a label of a metric. */
export const FORWARD_OUTCOMES = ['completed', 'error', 'cancelled', 'taken_over', 'failed'] as const;
export type ForwardOutcome = (typeof FORWARD_OUTCOMES)[number];

/** A turn whose forwarding to the home of its call is over. */
export interface EndedForward {
  readonly call: CallKey;
  readonly trackingId: string;
  /** How long the forwarding took. */
  readonly ms: number;
}
