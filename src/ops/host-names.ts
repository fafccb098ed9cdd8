// The allowed host names for calls and metrics. Protects against DNS rebinding: a web page can point its own host name at this machine, but
// its requests have that name in the Host header. IP addresses are safe.
import { isIP } from 'node:net';

/**
 * @param host - the Host header; undefined: absent, which browsers never send.
 * @param names - the configured names.
 */
export function isExpectedHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = nameOf(host);
  if (isIP(name) !== 0) return true;
  return ['localhost', ...names].some((expected) => expected.toLowerCase() === name);
}

/** The host in lower case, without port, brackets and trailing dot. */
function nameOf(host: string): string {
  const { bracketed, name = '' } = /^(?:\[(?<bracketed>[^\]]*)\]|(?<name>[^:]*))(?::\d*)?$/u.exec(host)?.groups ?? {};
  return (bracketed ?? name).toLowerCase().replace(/\.$/u, '');
}
