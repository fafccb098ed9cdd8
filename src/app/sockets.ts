// Calls over WebSocket, where the operator has switched them on: the server of the transport, joined with a port of its own or
// with that of the operations server.
import type { TokenVerifier } from '../auth/jws-verifier.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { DoorSecurity } from '../transport/door.ts';
import { Gate } from '../transport/gate.ts';
import { createSocketServer, type SocketServer, type SocketServerParts } from '../transport/ws/server.ts';
import type { Settings } from './config/settings.ts';
import { socketPaths, socketServerSettings, soleOrganization } from './room-settings.ts';

/** Where calls are taken over WebSocket. */
export interface SocketAddress {
  /** `host:port`. */
  readonly address: string;
  readonly port: number;
  readonly security: 'TLS' | 'plaintext';
}

/** The server, and its address. */
export interface OpenSockets {
  readonly server: SocketServer;
  /** Undefined: connections come from the operations server, and so does the address. */
  readonly own: SocketAddress | undefined;
}

/** What the rest of the program brings. */
export interface SocketSurroundings extends Pick<
  SocketServerParts,
  'sessions' | 'homes' | 'catalog' | 'admission' | 'mayTake' | 'clock' | 'log'
> {
  readonly profile: PlatformProfile;
  /** Undefined: the token check is off. */
  readonly verifier: TokenVerifier | undefined;
  readonly metrics: Pick<Metrics, 'organizationRefused' | 'streamRefused' | 'watchSockets'>;
  /** Of a port of its own. */
  readonly security: DoorSecurity;
}

/**
 * Opens it; undefined where it is switched off.
 *
 * @throws AppError `config_invalid` when the profile names no paths, or `listen_failed`.
 */
export async function openSockets(
  settings: Settings,
  { profile, verifier, metrics, security, ...rest }: SocketSurroundings,
): Promise<OpenSockets | undefined> {
  if (!settings.websocket.enabled) return undefined;
  const server = createSocketServer({
    ...rest,
    settings: socketServerSettings(settings, security),
    paths: socketPaths(profile),
    trackingHeader: profile.metadata.trackingId,
    gate: new Gate(verifier, 'websocket', {
      soleOrganization: soleOrganization(settings),
      onForeign: () => {
        metrics.organizationRefused('websocket');
      },
    }),
    onRefused: (code) => {
      metrics.streamRefused('websocket', code);
    },
  });
  metrics.watchSockets(() => server.openSockets);
  if (settings.websocket.listen === 'ops') {
    warnOfPlaintext(settings, rest.log);
    return { server, own: undefined };
  }
  const { address, port } = await server.listen();
  return { server, own: { address, port, security: settings.tls.mode === 'files' ? 'TLS' : 'plaintext' } };
}

/** Where calls come in; beside health checks, which are never over TLS, neither are they. */
export function socketAddress(
  sockets: OpenSockets | undefined,
  ops: Pick<SocketAddress, 'address' | 'port'> | undefined,
): SocketAddress | undefined {
  if (sockets === undefined || sockets.own !== undefined || ops === undefined) return sockets?.own;
  return { address: ops.address, port: ops.port, security: 'plaintext' };
}

/** Not refused: inside a container every address is reachable, and what stands in front is not known here. */
function warnOfPlaintext({ auth, ops }: Settings, log: Logger): void {
  if (!auth.enabled || isLoopback(ops.host)) return;
  const setting = `ops.host ${ops.host}`;
  log.warn({ setting }, 'tokens and sound of calls over WebSocket come in without TLS at an address that other machines can reach');
}
