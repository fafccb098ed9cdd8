// The address of a server as a user writes it. Knows no connection.
import { isIP } from 'node:net';

/** The interface of the platform over which a server is called. */
export type Transport = 'grpc' | 'websocket';

export interface Target {
  readonly transport: Transport;
  /** Host name or IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** Prefix of all paths of a WebSocket server (W-02): begins with a slash and ends without one. Undefined: none. */
  readonly pathPrefix?: string;
}

const SCHEMES: ReadonlyMap<string, { readonly transport: Transport; readonly isSecure: boolean }> = new Map([
  ['grpc', { transport: 'grpc', isSecure: false }],
  ['grpcs', { transport: 'grpc', isSecure: true }],
  ['ws', { transport: 'websocket', isSecure: false }],
  ['wss', { transport: 'websocket', isSecure: true }],
]);

/** Port of a secure address without a port. */
const SECURE_PORT = 443;

/**
 * Reads `grpc://host:port` and `ws://host:port` (plaintext), `grpcs://host:port` and `wss://host:port` (TLS), or `host:port` (gRPC, TLS
 * unless `plaintext`). A secure address without a port means port 443, as on the platform. A WebSocket address may have a path: the prefix
 * of all paths of the server.
 * @throws RangeError with a sentence for the user when the text is not such an address.
 */
export function parseTarget(text: string, plaintext = false): Target {
  const match =
    /^(?:(?<scheme>[a-z]+):\/\/)?(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[\p{L}\p{N}_.-]+))(?::(?<port>\d{1,5}))?(?<path>(?:\/[\w.~-]+)*)\/?$/iu.exec(
      text.trim(),
    );
  const parts = match?.groups;
  const host = parts?.['v6'] ?? parts?.['name'];
  const scheme = parts?.['scheme']?.toLowerCase();
  const known = scheme === undefined ? { transport: 'grpc' as const, isSecure: !plaintext } : SCHEMES.get(scheme);
  const pathPrefix = parts?.['path'] ?? '';
  if (
    host === undefined ||
    known === undefined ||
    (pathPrefix !== '' && known.transport !== 'websocket') ||
    (parts?.['v6'] !== undefined && isIP(host) !== 6) ||
    // The host is no valid address, such as 256.1.1.1.
    !URL.canParse(`http://${isIP(host) === 6 ? `[${host}]` : host}/`)
  ) {
    // Hides the part before an @, which may be a password.
    throw new RangeError(
      `"${text.replace(/[^/]*@/u, '…@')}" is no target: write host:port, grpcs://host:port or wss://host:port (TLS), grpc://host:port or ws://host:port (no TLS)`,
    );
  }
  const { transport, isSecure } = known;
  if (scheme !== undefined && isSecure && plaintext) {
    throw new RangeError(`${scheme}:// asks for TLS and --plaintext for none: use one of them`);
  }
  const port = parts?.['port'] === undefined ? (isSecure ? SECURE_PORT : undefined) : Number(parts['port']);
  if (port === undefined) throw new RangeError(`"${text}" names no port, and an address without TLS has no usual one`);
  if (port < 1 || port > 65_535) throw new RangeError(`"${text}" has port ${String(port)}; ports go from 1 to 65535`);
  return { transport, host, port, isSecure, ...(pathPrefix === '' ? {} : { pathPrefix }) };
}

/** The address as text, with brackets around an IPv6 address. */
export function targetText({ transport, host, port, isSecure, pathPrefix = '' }: Target): string {
  const scheme = `${transport === 'grpc' ? 'grpc' : 'ws'}${isSecure ? 's' : ''}`;
  return `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}${pathPrefix}`;
}
