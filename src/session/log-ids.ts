// The ids of a turn in every log line about it (P-02).
import type { LogFields } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';

/** A turn, or an event between turns, with ids for bots and the log. */
export interface NamedTurn {
  readonly id: string;
  /** See {@link logIds}. */
  readonly logIds: LogFields;
}

/**
 * The ids of a turn.
 *
 * @param trackingId - the platform's correlation id; undefined outside of an RPC.
 */
export function logIds(
  { conversationId, organizationId }: CallFacts,
  { id, trackingId }: { readonly id: string; readonly trackingId?: string | undefined },
): LogFields {
  return { conversationId, organizationId, turnId: id, ...(trackingId === undefined ? {} : { trackingId }) };
}
