// The way to a server, whichever interface its address names: calls that take place over it know no other file of a wire.
import type { Connection } from './connection.ts';
import { GrpcConnection, type GrpcLineOptions } from './grpc-line.ts';
import { SocketConnection } from './socket/socket-connection.ts';
import type { SocketLineOptions } from './socket/socket-line.ts';

/** How to reach a server and who to be there. What an interface does not know has no effect on it. */
export type ConnectionOptions = GrpcLineOptions & SocketLineOptions;

/** Opens the way to a server. It dials when it is first used. */
export function openConnection(options: ConnectionOptions): Connection {
  return options.target.transport === 'grpc' ? new GrpcConnection(options) : new SocketConnection(options);
}
