// The facts of one call that every room may know. Nothing of the wire, and nothing that changes during the
// call.
import type { JsonObject } from '../base/json.ts';

/** Two organizations that use the same conversation id have two calls, never one. */
export interface CallKey {
  readonly organizationId: string;
  readonly conversationId: string;
}

/** The facts of one call, fixed at its start. */
export interface CallFacts extends CallKey {
  /** The bot that answers: `virtual_agent_id` on the wire. */
  readonly agentId: string;
  /** Start of the session, ms since the epoch. */
  readonly startedAtMs: number;
  /** Text of the administrator's agent configuration, or empty. */
  readonly vendorConfig: string;
  /** Data from the platform's flow (G-24), or empty. */
  readonly parameters: JsonObject;
}

/** The key as one string for maps and stores. No two calls share one, whatever their ids contain. */
export function callId(key: CallKey): string {
  return JSON.stringify([key.organizationId, key.conversationId]);
}
