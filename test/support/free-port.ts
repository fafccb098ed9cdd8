// A port of this machine that nobody listens on, for a server whose address others must know before it is started, and for
// addresses where nobody is to be found.
import { freePorts } from '../../src/cli/free-ports.ts';

/** A free port of 127.0.0.1, soon to be taken. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no port is free');
  return port;
}
