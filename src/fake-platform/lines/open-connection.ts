// The way to a server, whichever interface its address names: calls that take place over it know no other file of a wire.
import { GrpcConnection, type GrpcLineOptions } from './grpc-line.ts';
import type { Failure } from './failure.ts';
import type { Line, ListedAgent } from './line.ts';
import { listSocketAgents } from './socket/list-agents.ts';
import { SocketLine, type SocketLineOptions } from './socket/socket-line.ts';
import type { CallIdentity } from './to-wire.ts';

/** How to reach a server and who to be there. What an interface does not know has no effect on it. */
export type ConnectionOptions = GrpcLineOptions & SocketLineOptions;

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

/** Opens the way to a server. It dials when it is first used. */
export function openConnection(options: ConnectionOptions): Connection {
  return options.target.transport === 'grpc' ? grpcConnection(options) : socketConnection(options);
}

function grpcConnection(options: GrpcLineOptions): Connection {
  const connection = new GrpcConnection(options);
  return {
    connect: (signal) => connection.connect(signal),
    line: (identity) => connection.line(identity),
    listAgents: (organizationId, limitMs, signal) => connection.listAgents(organizationId, limitMs, signal),
    close: () => {
      connection.close();
      return Promise.resolve();
    },
  };
}

function socketConnection(options: SocketLineOptions): Connection {
  const lines: SocketLine[] = [];
  return {
    connect: async (signal) => {
      const stop = new AbortController();
      const dialling = Promise.all(lines.map((line) => line.dial()));
      await Promise.race([dialling, aborted(signal, stop.signal)]);
      stop.abort();
    },
    line: (identity) => {
      const line = new SocketLine(options, identity);
      lines.push(line);
      return line;
    },
    listAgents: (organizationId, limitMs, signal) => listSocketAgents(options, organizationId, limitMs, signal),
    close: async () => {
      await Promise.all(lines.map((line) => line.closed()));
    },
  };
}

/** Resolves when the signal is aborted; listens no more once `forget` is. */
function aborted(signal: AbortSignal | undefined, forget: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      resolve();
    };
    if (signal?.aborted === true) settle();
    else signal?.addEventListener('abort', settle, { once: true, signal: forget });
  });
}
