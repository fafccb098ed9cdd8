// Opens the connection to a server over the interface that the address names. Other code needs no other file of a wire.
import type { Connection } from './connection.ts';
import { GrpcConnection, type GrpcLineOptions } from './grpc-line.ts';
import { SocketConnection } from './socket/socket-connection.ts';
import type { SocketLineOptions } from './socket/socket-line.ts';

/** How to reach a server, and the caller's identity. Each interface ignores the options of the other. */
export type ConnectionOptions = GrpcLineOptions & SocketLineOptions;

/** Makes the connection, which dials at its first use. */
export function openConnection(options: ConnectionOptions): Connection {
  return options.target.transport === 'grpc' ? new GrpcConnection(options) : new SocketConnection(options);
}
