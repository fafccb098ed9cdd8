// Ports of this machine that nobody listens on, for a server whose address others must know before it is started, and for
// addresses where nobody is to be found. Test files that run at the same time look in different places.
import * as parley from '../../src/cli/free-ports.ts';

/** Test files that run at the same time, at most. */
const WORKERS = 11;
const { from, count } = parley.NAMED_PORTS;
const OURS = { from: from + (Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS) * (count / WORKERS), count: count / WORKERS };
/** Somebody who was given one may not listen on it yet. */
const given = new Set<number>();

/** A free port of 127.0.0.1, soon to be taken. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no port is free');
  return port;
}

/** So many of them, all different. @throws Error when a test file has been given half of all there are. */
export async function freePorts(wanted: number): Promise<readonly number[]> {
  if (given.size + wanted > OURS.count / 2) throw new Error('a test file wants more ports than there are for it');
  const ports: number[] = [];
  while (ports.length < wanted) {
    for (const port of await parley.freePorts(wanted - ports.length, OURS)) {
      if (given.has(port)) continue;
      given.add(port);
      ports.push(port);
    }
  }
  return ports;
}
