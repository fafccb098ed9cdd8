// The servers for calls: the media server and, if enabled, the WebSocket server, with its own port or on the port of the operations server.
import type { TokenVerifier } from '../auth/jws-verifier.ts';
import type { Principal } from '../auth/principal.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { Lifecycle } from '../base/lifecycle.ts';
import type { Logger } from '../base/log.ts';
import { isLoopback } from '../base/loopback.ts';
import { loadContract } from '../contract/grpc.ts';
import type { PlatformProfile } from '../contract/profile.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Gate } from '../transport/gate.ts';
import { startMediaServer, type MediaServer, type MediaServerParts } from '../transport/grpc/server.ts';
import { createSocketServer, type SocketServer } from '../transport/ws/server.ts';
import type { Settings } from './config/settings.ts';
import { mediaServerSettings, socketPaths, socketServerSettings, soleOrganization } from './room-settings.ts';
import type { ServerTls } from './server-tls.ts';

/** Limit for closing open connections after the grace time, ms. */
const CLOSE_MS = 5000;

/** The address for WebSocket calls. */
export interface SocketAddress {
  /** `host:port`. */
  readonly address: string;
  readonly port: number;
  readonly security: 'TLS' | 'plaintext';
}

/** The server with its address. */
export interface OpenSockets {
  readonly server: SocketServer;
  /** Undefined when the operations server passes connections on; then its address applies. */
  readonly own: SocketAddress | undefined;
}

export interface Servers {
  readonly media: MediaServer;
  /** Undefined without WebSocket calls. */
  readonly sockets: OpenSockets | undefined;
}

export interface ServersParts extends Pick<
  MediaServerParts,
  'sessions' | 'homes' | 'peers' | 'catalog' | 'admission' | 'mayTake' | 'clock' | 'log'
> {
  readonly profile: PlatformProfile;
  /** Undefined when tokens are not checked. */
  readonly verifier: TokenVerifier | undefined;
  readonly tls: ServerTls;
  readonly metrics: Pick<Metrics, 'organizationRefused' | 'streamRefused' | 'watchSockets'>;
  readonly lifecycle: Lifecycle;
}

/** Opens the servers. @throws AppError `config_invalid` when the profile has no WebSocket paths; `listen_failed`. */
export async function openServers(settings: Settings, parts: ServersParts): Promise<Servers> {
  const { profile, tls, lifecycle } = parts;
  const media = await startMediaServer({
    ...parts,
    ...guarded('grpc', settings, parts),
    contract: loadContract(profile),
    metadataKeys: profile.metadata,
    settings: mediaServerSettings(settings, tls.media),
  });
  lifecycle.opened('media server', () => media.close(CLOSE_MS));
  const sockets = settings.websocket.enabled ? await openSockets(settings, parts) : undefined;
  if (sockets !== undefined) lifecycle.opened('WebSocket server', () => sockets.server.close(CLOSE_MS), 2 * CLOSE_MS);
  return { media, sockets };
}

async function openSockets(settings: Settings, parts: ServersParts): Promise<OpenSockets> {
  const { profile, tls, metrics, log } = parts;
  const server = createSocketServer({
    ...parts,
    ...guarded('websocket', settings, parts),
    settings: socketServerSettings(settings, tls.sockets),
    paths: socketPaths(profile),
    trackingHeader: profile.metadata.trackingId,
  });
  metrics.watchSockets(() => server.openSockets);
  if (settings.websocket.listen === 'ops') {
    warnOfPlaintext(settings, log);
    return { server, own: undefined };
  }
  const { address, port } = await server.listen();
  return { server, own: { address, port, security: settings.tls.mode === 'files' ? 'TLS' : 'plaintext' } };
}

/** The authentication of callers, with a counter of refusals. */
function guarded(
  transport: Principal['transport'],
  settings: Settings,
  { verifier, metrics }: ServersParts,
): { readonly gate: Gate; readonly onRefused: (code: ErrorCode) => void } {
  return {
    gate: new Gate(verifier, transport, {
      soleOrganization: soleOrganization(settings),
      onForeign: () => {
        metrics.organizationRefused(transport);
      },
    }),
    onRefused: (code) => {
      metrics.streamRefused(transport, code);
    },
  };
}

/** The address of WebSocket calls. On the port of the operations server they have no TLS, because health checks have none. */
export function socketAddress(
  sockets: OpenSockets | undefined,
  ops: Pick<SocketAddress, 'address' | 'port'> | undefined,
): SocketAddress | undefined {
  if (sockets === undefined || sockets.own !== undefined || ops === undefined) return sockets?.own;
  return { address: ops.address, port: ops.port, security: 'plaintext' };
}

/** Only a warning: in a container every address is reachable, and a proxy in front is not visible from here. */
function warnOfPlaintext({ auth, ops }: Settings, log: Logger): void {
  if (!auth.enabled || isLoopback(ops.host)) return;
  const setting = `ops.host ${ops.host}`;
  log.warn({ setting }, 'tokens and sound of calls over WebSocket come in without TLS at an address that other machines can reach');
}
