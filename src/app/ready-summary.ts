// What the server prints when it is ready.
import { wantingWords, type Catalog } from '../bot/catalog.ts';
import type { OpsServer } from '../ops/http-server.ts';
import type { Settings } from './config/settings.ts';
import { socketAddress, type Servers, type SocketAddress } from './servers.ts';
import type { Trusted } from './trusted.ts';
import type { Voices } from './voices.ts';

export interface ReadySummary {
  readonly address: string;
  readonly port: number;
  readonly security: 'TLS' | 'plaintext';
  readonly bots: readonly string[];
  /** Bots that need the caller's words but get none, because no recognizer is configured; absent without such bots. */
  readonly botsWithoutWords?: readonly string[];
  /** Number of data sources that the token check trusts: in the settings and in the store. */
  readonly dataSources: number;
  /** Whether further data sources are registered when organizations authorize the app. */
  readonly isRegistering: boolean;
  readonly hasTokenCheck: boolean;
  /** 0 when this process has no operations server. */
  readonly opsPort: number;
  /** `host:port` of the operations server; empty when this process has none. */
  readonly opsAddress: string;
  /** The address of WebSocket calls; absent without WebSocket calls. */
  readonly websocket?: SocketAddress;
}

export interface ReadyParts extends Servers {
  readonly operations: OpsServer | undefined;
  /** The catalogue at start. */
  readonly first: Catalog;
  readonly voices: Voices;
  readonly trusted: Trusted;
}

export function readySummary(settings: Settings, { media, sockets, operations, first, voices, trusted }: ReadyParts): ReadySummary {
  const websocket = socketAddress(sockets, operations);
  const withoutWords = voices.recognizer === undefined ? wantingWords(first.bots) : [];
  return {
    address: media.address,
    port: media.port,
    security: settings.tls.mode === 'files' ? 'TLS' : 'plaintext',
    bots: first.bots.map(({ id }) => id),
    ...(withoutWords.length > 0 && { botsWithoutWords: withoutWords }),
    dataSources: trusted.trust.sources.size,
    isRegistering: trusted.administration !== undefined,
    hasTokenCheck: trusted.verifier !== undefined,
    opsPort: operations?.port ?? 0,
    opsAddress: operations?.address ?? '',
    ...(websocket !== undefined && { websocket }),
  };
}
