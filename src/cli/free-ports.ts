// Ports of this machine that nobody listens on, for servers whose address others must know before they are started.
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Ports that the system gives to nobody who has not asked for them by number, on Linux below 32,768, and that no browser refuses. */
export const NAMED_PORTS = { from: 10_100, count: 22_000 };
/** So many that are taken, one after the other, mean that something else is wrong. */
const MAX_TAKEN = 200;

/**
 * So many free ports of 127.0.0.1, all different. They are let go again: whoever wants them should take them soon.
 *
 * @param among - where to look.
 * @throws Error when hardly one is free there.
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

/** Undefined when somebody else has the port. */
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
