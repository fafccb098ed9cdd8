// What an operator reads when the server is ready.
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
  /** Those that want words and get none, because there is no recognizer; absent: none of them. */
  readonly botsWithoutWords?: readonly string[];
  /** How many the token check knows: of the settings, and those that the administration has kept from before. */
  readonly dataSources: number;
  /** More data sources are registered as organizations authorize the app. */
  readonly isRegistering: boolean;
  readonly hasTokenCheck: boolean;
  /** 0: this process has none. */
  readonly opsPort: number;
  /** Where calls are taken over WebSocket; absent: nowhere. */
  readonly websocket?: SocketAddress;
}

export interface ReadyParts extends Servers {
  readonly operations: OpsServer | undefined;
  /** The catalogue of the start. */
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
    ...(websocket !== undefined && { websocket }),
  };
}
