// The transports' port to the homes of calls. Its implementation knows the directory; a transport only learns whether
// to answer a turn here or to forward it. Knows no wire.
import type { CallKey } from '../dialog/call.ts';
import { HERE, type Asked, type ForwardLoss, type Located, type Peer } from '../dialog/home.ts';

export interface CallHomes {
  /**
   * Where a call lives. Synchronous for a call that lives here.
   *
   * @throws AppError `store_unavailable` when the directory cannot answer, `state_unreadable` for an unreadable
   * snapshot; also through the promise.
   */
  locate(call: CallKey, asked: Asked): Located | Promise<Located>;
  /** This home has lost a forwarded turn, or refused it: the next `locate` asks the directory again. */
  lost(call: CallKey, home: Peer, why: ForwardLoss): void;
  /** Whether a call lives here. @param callId - made by `callId` in dialog. */
  has(callId: string): boolean;
}

/** The homes of a single server, where every call lives. */
export const SOLE_HOME: CallHomes = {
  locate: () => HERE,
  lost: () => undefined,
  has: () => false,
};
