// Who is talking to whom: the facts of one call that every room may know. Nothing of the wire, nothing that changes
// while the call lasts.
import type { JsonObject } from '../base/json.ts';

/** What names a call. Two organizations that use the same conversation id have two calls, never one. */
export interface CallKey {
  readonly organizationId: string;
  readonly conversationId: string;
}

/** The facts of one call, fixed at its start. */
export interface CallFacts extends CallKey {
  /** The bot that answers: `virtual_agent_id` on the wire. */
  readonly agentId: string;
  /** Wall-clock start of the session in ms since the epoch. */
  readonly startedAtMs: number;
  /** Opaque text from the administrator's agent configuration; empty when there is none. */
  readonly vendorConfig: string;
  /** Data set in the platform's flow and sent with the session start (G-24); empty when there is none. */
  readonly parameters: JsonObject;
}

/** One string for a call, for maps and stores; no two calls share one, whatever their ids hold. */
export function callId(key: CallKey): string {
  return JSON.stringify([key.organizationId, key.conversationId]);
}
