// Where calls live, as a transport asks it. Who answers knows the directory of homes; a transport knows only whether a turn
// is answered here or forwarded. Knows no wire.
import type { CallKey } from '../dialog/call.ts';
import { HERE, type Asked, type ForwardLoss, type Located, type Peer } from '../dialog/home.ts';

/** What transports ask of the homes of calls. */
export interface CallHomes {
  /**
   * Where a call lives. At once, without a promise, for a call that lives here.
   *
   * @throws AppError `store_unavailable` where nobody can say, `state_unreadable` for a snapshot that does not open; also through the promise.
   */
  locate(call: CallKey, asked: Asked): Located | Promise<Located>;
  /** A forwarded turn came back from there; the next `locate` asks anew. */
  lost(call: CallKey, home: Peer, why: ForwardLoss): void;
  /** Whether a call lives here. @param callId - of `callId` in dialog. */
  has(callId: string): boolean;
}

/** Of a server that is alone: every call lives here. */
export const SOLE_HOME: CallHomes = {
  locate: () => HERE,
  lost: () => undefined,
  has: () => false,
};
