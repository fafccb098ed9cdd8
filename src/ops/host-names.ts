// The allowed host names for calls and metrics. Protects against DNS rebinding: a web page can point its own name at
// this machine, but cannot omit that name from the Host header. IP addresses are safe.
import { isIP } from 'node:net';

/**
 * @param host - the Host header; undefined: absent, which is never a browser.
 * @param names - the configured names.
 */
export function isExpectedHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true;
  const name = nameOf(host);
  if (isIP(name) !== 0) return true;
  return ['localhost', ...names].some((expected) => expected.toLowerCase() === name);
}

/** Without port, brackets and trailing dot, in lower case. */
function nameOf(host: string): string {
  const { bracketed, name = '' } = /^(?:\[(?<bracketed>[^\]]*)\]|(?<name>[^:]*))(?::\d*)?$/u.exec(host)?.groups ?? {};
  return (bracketed ?? name).toLowerCase().replace(/\.$/u, '');
}
