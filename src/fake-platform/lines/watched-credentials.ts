// Credentials that see every socket a channel connects with, and can cut it. The library hands its sockets to nobody else.
import type { Socket } from 'node:net';
import { ChannelCredentials } from '@grpc/grpc-js';

type SecureConnector = ReturnType<ChannelCredentials['_createSecureConnector']>;

/** Other credentials, watched. */
export class WatchedCredentials extends ChannelCredentials {
  readonly #credentials: ChannelCredentials;
  readonly #sockets = new Set<Socket>();

  constructor(credentials: ChannelCredentials) {
    super();
    this.#credentials = credentials;
  }

  /** Resets every connection that stands. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  override _isSecure(): boolean {
    return this.#credentials._isSecure();
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(...how: Parameters<ChannelCredentials['_createSecureConnector']>): SecureConnector {
    const connector = this.#credentials._createSecureConnector(...how);
    return {
      connect: (socket) => {
        this.#sockets.add(socket);
        socket.once('close', () => this.#sockets.delete(socket));
        return connector.connect(socket);
      },
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => {
        connector.destroy();
      },
    };
  }
}
