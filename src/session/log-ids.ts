// What names a turn in every line of the log that is about it (P-02).
import type { LogFields } from '../base/log.ts';
import type { CallFacts } from '../dialog/call.ts';

/** A turn as the log names it. */
export interface LoggedTurn {
  readonly id: string;
  /** Of the platform; undefined for what belongs to no RPC of its. */
  readonly trackingId?: string | undefined;
}

/** The ids of a turn; a tracking id that is not there is left out. */
export function logIds({ conversationId, organizationId }: CallFacts, { id, trackingId }: LoggedTurn): LogFields {
  return { conversationId, organizationId, turnId: id, ...(trackingId === undefined ? {} : { trackingId }) };
}
