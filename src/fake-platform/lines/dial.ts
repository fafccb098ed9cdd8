// The TCP connection to a server, with TLS if its address asks for it. Knows no protocol above.
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { Target } from './target.ts';

export interface DialOptions {
  readonly target: Pick<Target, 'host' | 'port' | 'isSecure'>;
  /** PEM of the only authorities trusted; default those of Node. Checking cannot be switched off. */
  readonly certificateAuthority?: Uint8Array;
  /** Name the certificate must carry; default the target's host. */
  readonly serverName?: string;
}

/** A connection that is being made. `stream` carries the protocol: `tcp` itself, or TLS over it. */
export interface Dialled {
  readonly tcp: Socket;
  readonly stream: Socket;
}

/** Dials. Every failure is an error of `stream`. @param protocol - offered in TLS. */
export function dial({ target, certificateAuthority, serverName }: DialOptions, protocol: 'h2' | 'http/1.1'): Dialled {
  const { host, port, isSecure } = target;
  const tcp = connectTcp({ host, port, noDelay: true });
  if (!isSecure) return { tcp, stream: tcp };
  const checked = serverName ?? host;
  const secure = connectTls({
    socket: tcp,
    ...(certificateAuthority === undefined ? {} : { ca: Buffer.from(certificateAuthority) }),
    // TLS does not allow an IP address as server name, and Node 26 rejects one; the name that counts is checked below.
    ...(isIP(checked) === 0 ? { servername: checked } : {}),
    checkServerIdentity: (_, certificate) => checkServerIdentity(checked, certificate),
    ALPNProtocols: [protocol],
  });
  tcp.on('error', (error) => secure.destroy(error));
  return { tcp, stream: secure };
}
