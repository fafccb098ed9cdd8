// A gRPC client for one server: it dials the given address, checks the certificate, and retries nothing.
// Knows no method.
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { Client, credentials, type ChannelCredentials, type ClientOptions } from '@grpc/grpc-js';
import type { Target } from './target.ts';

/** How to reach a server. */
export interface ChannelOptions {
  readonly target: Target;
  /** PEM of the only authorities trusted; default the authorities of Node. Checking cannot be switched off. */
  readonly certificateAuthority?: Uint8Array;
  /** Name the certificate must carry; default the target's host. */
  readonly serverName?: string;
}

/** Largest message accepted: what the official gateway allows, 50 MB each way. */
const MAX_MESSAGE_BYTES = 50 * 1024 * 1024;

/** Makes a client, which connects at its first use. Whoever makes it closes it. */
export function openClient(options: ChannelOptions): Client {
  const { host, port } = options.target;
  const address = `dns:${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
  return new Client(address, channelCredentials(options), clientOptions(options));
}

function channelCredentials({ target, certificateAuthority, serverName }: ChannelOptions): ChannelCredentials {
  if (!target.isSecure) return credentials.createInsecure();
  const authority = certificateAuthority === undefined ? null : Buffer.from(certificateAuthority);
  const checked = serverName ?? target.host;
  return credentials.createSsl(authority, null, null, {
    checkServerIdentity: (_, certificate) => checkServerIdentity(checked, certificate),
  });
}

function clientOptions({ target, serverName }: ChannelOptions): ClientOptions {
  // Node 26 rejects an IP address as TLS server name, so a name without effect is set here;
  // the name that the certificate must carry is checked in channelCredentials.
  const handshakeName = serverName ?? (isIP(target.host) === 0 ? undefined : 'localhost');
  return {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    // A repeated turn would hide a failure and count the caller's input twice.
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    // Dials the given address, whatever proxy the environment names.
    'grpc.enable_http_proxy': 0,
    // One connection per caller, never shared with another caller of this process.
    'grpc.use_local_subchannel_pool': 1,
    ...(handshakeName === undefined || isIP(handshakeName) !== 0 ? {} : { 'grpc.ssl_target_name_override': handshakeName }),
  };
}
