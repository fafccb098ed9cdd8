// The facts of one call that every room may know. Nothing of the wire, and nothing that changes during the
// call.
import type { JsonObject } from '../base/json.ts';

/** The key of a call. Two organizations that use the same conversation id have two calls, never one. */
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

/** The key as one string for maps and stores. No two calls share one, whatever their ids contain. */
export function callId(key: CallKey): string {
  return JSON.stringify([key.organizationId, key.conversationId]);
}
