// The address of a server as a user writes it. Knows no connection.
import { isIP } from 'node:net';

/** Where to dial and how. */
export interface Target {
  /** Host name or IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
}

/** Ports taken when the address names none. */
const SECURE_PORT = 443;

/**
 * Reads `grpc://host:port` (plaintext), `grpcs://host:port` (TLS) or `host:port` (TLS unless `plaintext`). A secure
 * address may leave the port out; it is 443 then, as the platform dials.
 *
 * @throws RangeError with a sentence for the user when the text is no such address.
 */
export function parseTarget(text: string, plaintext = false): Target {
  const match = /^(?:(?<scheme>[a-z]+):\/\/)?(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^\s:/[\]]+))(?::(?<port>\d{1,5}))?\/?$/iu.exec(text.trim());
  const parts = match?.groups;
  const host = parts?.['v6'] ?? parts?.['name'];
  const scheme = parts?.['scheme']?.toLowerCase();
  if (
    host === undefined ||
    (scheme !== undefined && scheme !== 'grpc' && scheme !== 'grpcs') ||
    (parts?.['v6'] !== undefined && isIP(host) !== 6)
  ) {
    throw new RangeError(`"${text}" is no target: write host:port, grpcs://host:port (TLS) or grpc://host:port (no TLS)`);
  }
  if (scheme === 'grpcs' && plaintext) throw new RangeError('grpcs:// asks for TLS and --plaintext for none: use one of them');
  const isSecure = scheme === 'grpcs' || (scheme === undefined && !plaintext);
  const port = parts?.['port'] === undefined ? (isSecure ? SECURE_PORT : undefined) : Number(parts['port']);
  if (port === undefined) throw new RangeError(`"${text}" names no port, and an address without TLS has no usual one`);
  if (port < 1 || port > 65_535) throw new RangeError(`"${text}" has port ${String(port)}; ports go from 1 to 65535`);
  return { host, port, isSecure };
}

/** The address as text, with brackets around an IPv6 address. */
export function targetText({ host, port, isSecure }: Target): string {
  return `${isSecure ? 'grpcs' : 'grpc'}://${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
}
