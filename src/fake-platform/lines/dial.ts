// The TCP connection to a server, with TLS if the address asks for TLS. Knows no protocol above.
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { Target } from './target.ts';

export interface DialOptions {
  readonly target: Pick<Target, 'host' | 'port' | 'isSecure'>;
  /** PEM of the only certificate authorities that are trusted. Default: those of Node. Certificates are always checked. */
  readonly certificateAuthority?: Uint8Array;
  /** Host name that the certificate must be valid for. Default: the host of the target. */
  readonly serverName?: string;
}

/** A connection that is being made. `stream` carries the protocol: it is `tcp` itself, or TLS over `tcp`. */
export interface Dialled {
  readonly tcp: Socket;
  readonly stream: Socket;
}

/** Dials. Every failure is an error of `stream`. @param protocol - the protocol that TLS offers (ALPN). */
export function dial({ target, certificateAuthority, serverName }: DialOptions, protocol: 'h2' | 'http/1.1'): Dialled {
  const { host, port, isSecure } = target;
  const tcp = connectTcp({ host, port, noDelay: true });
  if (!isSecure) return { tcp, stream: tcp };
  const checked = serverName ?? host;
  const secure = connectTls({
    socket: tcp,
    ...(certificateAuthority === undefined ? {} : { ca: Buffer.from(certificateAuthority) }),
    // TLS forbids an IP address as server name, and Node 26 refuses one. `checkServerIdentity` below checks the name that counts.
    ...(isIP(checked) === 0 ? { servername: checked } : {}),
    checkServerIdentity: (_, certificate) => checkServerIdentity(checked, certificate),
    ALPNProtocols: [protocol],
  });
  tcp.on('error', (error) => secure.destroy(error));
  return { tcp, stream: secure };
}
