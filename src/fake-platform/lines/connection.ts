// A way to one server as calls see it, whichever interface it speaks.
import type { Failure } from './failure.ts';
import type { Line, ListedAgent } from './line.ts';
import type { CallIdentity } from './to-wire.ts';

/** A way to one server. `close` must be called. */
export interface Connection {
  /**
   * Waits until the connection stands, for the lines made before, so that no latency is measured from before. Also comes back
   * when it cannot be made or takes too long: the first turn then says why.
   *
   * @param signal - stops the waiting.
   */
  connect(signal?: AbortSignal): Promise<void>;
  /** The line of one call. */
  line(identity: CallIdentity): Line;
  /**
   * Asks for the agents of an organization (G-05, W-50).
   *
   * @param limitMs - longest wait for the answer, ms.
   * @param signal - gives up before.
   * @returns the agents, or why there is no answer.
   */
  listAgents(organizationId: string, limitMs: number, signal?: AbortSignal): Promise<readonly ListedAgent[] | Failure>;
  /** Closes it. Open turns must be cancelled before. Resolves when nothing of it is left. */
  close(): Promise<void>;
}
