// A connection to one server as calls use it, on any interface.
import type { Failure } from './failure.ts';
import type { Line, ListedAgent } from './line.ts';
import type { CallIdentity } from './to-wire.ts';

/** A connection to one server. `close` must be called. */
export interface Connection {
  /**
   * Waits until the lines that were made before are connected, so that no latency includes the time to connect. Also resolves when a
   * connection fails or takes too long: the first turn then reports why.
   * @param signal - ends the wait.
   */
  connect(signal?: AbortSignal): Promise<void>;
  /** The line of one call. */
  line(identity: CallIdentity): Line;
  /**
   * Asks for the agents of an organization (G-05, W-50).
   *
   * @param limitMs - longest wait for the answer, ms.
   * @param signal - ends the wait.
   * @returns the agents, or why there is no answer.
   */
  listAgents(organizationId: string, limitMs: number, signal?: AbortSignal): Promise<readonly ListedAgent[] | Failure>;
  /** Closes the connection; cancel open turns first. Resolves when everything is closed. */
  close(): Promise<void>;
}
