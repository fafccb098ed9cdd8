// Free ports of this machine, for servers whose address others must know before they start.
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Ports below Linux's automatic range (from 32,768) that no browser refuses. */
export const NAMED_PORTS = { from: 10_100, count: 22_000 };
/** More taken ports than this mean that something else is wrong. */
const MAX_TAKEN = 200;

/**
 * Finds free ports of 127.0.0.1, all different. They are not reserved, so use them soon.
 * @param among - the range to search.
 * @throws Error when the range has hardly a free port.
 */
export async function freePorts(count: number, among = NAMED_PORTS): Promise<readonly number[]> {
  const held = new Map<number, Server>();
  try {
    for (let tries = 0; held.size < count; tries += 1) {
      if (tries === count + MAX_TAKEN) throw new Error('hardly a port of this machine is free');
      const port = randomInt(among.from, among.from + among.count);
      const server = held.has(port) ? undefined : await listening(port);
      if (server !== undefined) held.set(port, server);
    }
    return [...held.keys()];
  } finally {
    await Promise.all([...held.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** A server on the port; undefined: the port is taken. */
function listening(port: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}
