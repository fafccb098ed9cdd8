// What names a turn in every line of the log that is about it (P-02).
import type { LogFields } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';

/** A turn, or what is no turn and happens between them, as bots and the log know it. */
export interface NamedTurn {
  readonly id: string;
  /** See {@link logIds}. */
  readonly logIds: LogFields;
}

/**
 * The ids of a turn.
 *
 * @param trackingId - of the platform; left out for what belongs to no RPC of its.
 */
export function logIds(
  { conversationId, organizationId }: CallFacts,
  { id, trackingId }: { readonly id: string; readonly trackingId?: string | undefined },
): LogFields {
  return { conversationId, organizationId, turnId: id, ...(trackingId === undefined ? {} : { trackingId }) };
}
