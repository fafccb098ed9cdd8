// Where a call lives, as the transport asks and is told. Knows neither streams nor how it is found out.
import type { JsonObject } from '../base/json.ts';

/** What the transport knows of a call of which it asks where it lives. */
export interface Asked {
  /** What its first message brings: SESSION_START, SESSION_END, an input, or `nothing` yet (audio, first key). */
  readonly opensWith: 'start' | 'end' | 'input' | 'nothing';
  /** It came over the peer port. */
  readonly forwarded?: {
    /** Nobody had it, and the peer takes no new calls. */
    readonly isTaking: boolean;
  };
  /** A WebSocket call: its home is this socket, so it is taken from whoever has it, never released or taken over. */
  readonly isTied?: boolean;
}

/** Where a call lives. */
export type Located =
  /** Here, from now on. `restored`: another home had it; repeated until the first snapshot of this home is saved. */
  | { readonly kind: 'here'; readonly restored?: Restored }
  /** There: forward. `isTaking`: nobody has it, and this instance takes no new calls: the peer is to claim it. */
  | { readonly kind: 'elsewhere'; readonly home: Peer; readonly isTaking: boolean }
  /** Asked by a forwarding peer, and it does not live here. */
  | { readonly kind: 'not_mine' }
  /** Nowhere: it is over, or begins with its own end. It gets no prompts (G-7C). */
  | { readonly kind: 'ended' };

/** What another home of the call has left. */
export interface Restored {
  readonly snapshot: JsonObject;
  /** How often the call has changed its home: epoch - 1. */
  readonly generation: number;
}

/** Another process. */
export interface Peer {
  readonly id: string;
  /** `host:port` of its peer port. */
  readonly address: string;
  /** Fingerprint of its certificate. */
  readonly certificate: string;
}
