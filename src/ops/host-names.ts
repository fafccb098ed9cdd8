// By which names the operations server may be asked for calls and metrics. A page in somebody's browser can have its own name point at this machine (DNS
// rebinding) and would read the answers; it cannot leave its name out of the Host header. An IP address is no such name.
import { isIP } from 'node:net';

/**
 * @param host - the Host header; undefined: none was sent, which no browser does.
 * @param names - of this server.
 */
export function isExpectedHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = nameOf(host);
  if (isIP(name) !== 0) return true;
  return ['localhost', ...names].some((expected) => expected.toLowerCase() === name);
}

/** Without port, brackets and the dot of a whole name, in lower case. */
function nameOf(host: string): string {
  const { bracketed, name = '' } = /^(?:\[(?<bracketed>[^\]]*)\]|(?<name>[^:]*))(?::\d*)?$/u.exec(host)?.groups ?? {};
  return (bracketed ?? name).toLowerCase().replace(/\.$/u, '');
}
