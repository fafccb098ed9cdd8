// The connection to a server on the interface that its address names: other code needs no other file of a wire.
import type { Connection } from './connection.ts';
import { GrpcConnection, type GrpcLineOptions } from './grpc-line.ts';
import { SocketConnection } from './socket/socket-connection.ts';
import type { SocketLineOptions } from './socket/socket-line.ts';

/** How to reach a server, and the caller's identity. Options that an interface does not know are ignored. */
export type ConnectionOptions = GrpcLineOptions & SocketLineOptions;

/** Opens the connection, which is dialled at its first use. */
export function openConnection(options: ConnectionOptions): Connection {
  return options.target.transport === 'grpc' ? new GrpcConnection(options) : new SocketConnection(options);
}
