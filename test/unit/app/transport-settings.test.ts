// What the rooms of both transports get of the operator's settings and of the platform's profile.
import { describe, expect, it } from 'vitest';
import { wantedDataSources } from '../../../src/app/admin-settings.ts';
import { loadSettings } from '../../../src/app/config/load-settings.ts';
import type { Settings } from '../../../src/app/config/settings.ts';
import { socketPaths, socketServerSettings } from '../../../src/app/room-settings.ts';
import { loadProfile } from '../../../src/contract/profile.ts';

const PROFILE = loadProfile('fake');
const OFF = { mode: 'off' } as const;
const OPEN = ['--auth.enabled=false', '--grpc.host=127.0.0.1', '--platform.profile=fake'];

function settingsOf(...argv: string[]): Settings {
  return loadSettings({ argv: [...OPEN, ...argv], env: {}, cwd: '/here' }).settings;
}

describe('the settings of the WebSocket server', () => {
  it('are as safe as those of gRPC by default, and W-14 do not mention silence', () => {
    expect(socketServerSettings(settingsOf('--tls.mode=off'), OFF)).toMatchObject({
      host: '0.0.0.0',
      port: 8088,
      security: OFF,
      pathPrefix: '',
      maxMessageBytes: 131_072,
      maxConnections: 6000,
      unverifiedTimeoutMs: 5000,
      maxUnverifiedPerAddress: 1000,
      handshakeTimeoutMs: 10_000,
      firstMessageTimeoutMs: 10_000,
      pingIntervalMs: 30_000,
      pongTimeoutMs: 10_000,
      listIdleMs: 5000,
      peerCloseMs: 5000,
      maxQueuedBytes: 4_194_304,
      sendsNoInputTimeout: false,
      isRevealingText: false,
    });
  });

  it('are what the operator sets, each where it belongs', () => {
    const set = {
      host: '127.0.0.2',
      port: 1,
      path_prefix: '/voice',
      max_message_bytes: 98_304,
      max_connections: 3,
      unverified_timeout_ms: 107,
      max_unverified_per_address: 2,
      handshake_timeout_ms: 104,
      first_message_timeout_ms: 105,
      ping_interval_ms: 106,
      pong_timeout_ms: 107,
      list_idle_ms: 108,
      peer_close_ms: 109,
      send_no_input_timeout: true,
    };
    const flags = Object.entries(set).map(([key, value]) => `--websocket.${key}=${String(value)}`);
    const others = ['--tls.mode=off', '--turns.max_queued_bytes=65536', '--media.reveal_prompt_text'];
    expect(socketServerSettings(settingsOf(...flags, ...others), OFF)).toMatchObject({
      ...{ host: '127.0.0.2', port: 1, security: OFF, pathPrefix: '/voice', maxMessageBytes: 98_304, maxConnections: 3 },
      ...{ unverifiedTimeoutMs: 107, maxUnverifiedPerAddress: 2 },
      ...{ handshakeTimeoutMs: 104, firstMessageTimeoutMs: 105, pingIntervalMs: 106, pongTimeoutMs: 107, listIdleMs: 108 },
      ...{ peerCloseMs: 109, maxQueuedBytes: 65_536, sendsNoInputTimeout: true, isRevealingText: true },
    });
  });

  it('W-01 have the paths of the platform, which must have some', () => {
    expect(socketPaths(PROFILE)).toEqual({ voicePath: '/v1/va', listPath: '/v1/listVirtualAgents' });
    expect(() => socketPaths({ ...PROFILE, websocket: undefined })).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining('websocket.enabled') as string }) as Error,
    );
  });
});

describe('the data sources that are wanted', () => {
  const wanted = (...argv: string[]) =>
    wantedDataSources(
      settingsOf('--tls.mode=off', '--admin.data_sources.audience=a', '--admin.data_sources.subject=s', ...argv).admin,
      PROFILE,
    );

  it('W-03, W-04 have the address and the schema of their transport', () => {
    const both = ['--admin.data_sources.url=https://voice.example.com:8443', '--admin.data_sources.websocket_url=wss://voice.example.com'];
    const found = wanted('--admin.data_sources.transports=grpc,websocket', ...both);
    expect(found.map(({ transport, url, schemaId }) => ({ transport, url, schemaId }))).toEqual([
      { transport: 'grpc', url: 'https://voice.example.com:8443', schemaId: PROFILE.schemas.grpc },
      { transport: 'websocket', url: 'wss://voice.example.com', schemaId: PROFILE.schemas.websocket },
    ]);
  });

  it.each([
    ['grpc', 'admin.data_sources.url'],
    ['websocket', 'admin.data_sources.websocket_url'],
  ])('for %s cannot be without %s', (transport, key) => {
    const other = transport === 'grpc' ? 'websocket_url=wss://voice.example.com' : 'url=https://voice.example.com';
    const make = (): unknown => wanted(`--admin.data_sources.transports=${transport}`, `--admin.data_sources.${other}`);
    expect(make).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(`set ${key}`) as string }) as Error,
    );
  });
});
