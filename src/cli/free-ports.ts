// Ports of this machine that nobody listens on, for servers whose address others must know before they are started.
import { createServer, type Server } from 'node:net';

/** So many free ports of 127.0.0.1, all different. They are let go again: whoever wants them should take them soon. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  try {
    for (let left = count; left > 0; left -= 1) {
      const server = createServer();
      servers.push(server);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', resolve);
      });
    }
    return servers.map(portOf);
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function portOf(server: Server): number {
  const bound = server.address();
  // A server that listens on TCP has an address of this shape.
  if (typeof bound !== 'object' || bound === null) throw new TypeError('a listening server has an address');
  return bound.port;
}
