// A TCP relay before servers: what a load balancer is to a caller, as far as connections go. Passes bytes on and knows no
// protocol; a test says which server is next, and cuts what stands.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { systemClock } from '../../src/base/clock.ts';

/** A running one. `close` must be called. */
export interface Relay {
  /** `grpc://127.0.0.1:PORT`. */
  readonly target: string;
  /** Connections taken so far. */
  readonly taken: number;
  /** Connections from now on go to this port. */
  turnTo(port: number): void;
  /** Resets all connections that stand. */
  cut(): void;
  /** What is sent on connections that stand arrives nowhere from now on, and nobody is told. */
  swallow(): void;
  close(): void;
}

/**
 * Starts it on a free port of 127.0.0.1.
 *
 * @param port - of the first server.
 * @param lateMs - how late everything comes that a server sends; default: at once.
 */
export async function startRelay(port: number, lateMs = 0): Promise<Relay> {
  const sockets = new Set<Socket>();
  let next = port;
  let taken = 0;
  const server = createServer((near) => {
    taken += 1;
    const far = connect(next, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      if (socket === near || lateMs === 0) socket.pipe(other);
      // Timers of one length fire in their order.
      else socket.on('data', (bytes) => systemClock.after(lateMs, () => near.write(bytes)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  // A server that listens on TCP has an address of this shape.
  return {
    target: `grpc://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    get taken() {
      return taken;
    },
    turnTo: (port) => {
      next = port;
    },
    cut,
    swallow: () => {
      for (const socket of sockets) socket.unpipe().resume();
    },
    close: () => {
      server.close();
      cut();
    },
  };
}
