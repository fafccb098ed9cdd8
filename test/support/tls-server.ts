// A server with TLS for a test: its files in a folder of its own, an authority that signs, and a server that says everything back.
// Its clock stands still unless a test moves it.
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { ClientCertificateSettings } from '../../src/app/config/settings.ts';
import { openServerTls, type ServerTls } from '../../src/app/server-tls.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { WatchedFiles } from '../../src/base/watched-files.ts';
import { loadProfile, type PlatformProfile } from '../../src/contract/profile.ts';
import type { Watched } from '../../src/telemetry/file-metrics.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { openSocketListener, type ListenerSecurity } from '../../src/transport/socket-listener.ts';
import { CALM } from './call-events.ts';
import { certificateAuthority, type Authority, type ServerCertificate } from './certificate-authority.ts';
import { FakeClock } from './fake-clock.ts';
import { WatchedFolder } from './watched-folder.ts';

/** A line of the log. */
export type Line = Readonly<Record<string, unknown>>;

const PROFILE = loadProfile('fake');

/** A folder with the files of a server, and the authority that signed its certificate. */
export interface Ground {
  readonly folder: WatchedFolder;
  readonly authority: Authority;
  readonly first: ServerCertificate;
}

/** Makes them. */
export async function ground(): Promise<Ground> {
  const authority = await certificateAuthority(systemClock.nowMs());
  const first = await authority.issue();
  const folder = new WatchedFolder();
  put({ folder }, first);
  return { folder, authority, first };
}

/** Puts certificate and key in their places at once. */
export function put({ folder }: Pick<Ground, 'folder'>, { cert, key }: ServerCertificate): void {
  folder.swap({ 'tls.crt': cert, 'tls.key': key });
}

function echo(connection: Duplex): void {
  connection.on('error', () => undefined).pipe(connection);
}

/** What a server has of its files, and a server that says everything back. */
export async function serve({ folder }: Ground, clients?: ClientCertificateSettings, profile: PlatformProfile = PROFILE) {
  const clock = new FakeClock(systemClock.nowMs());
  const lines: Line[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line: string) => void lines.push(JSON.parse(line) as Line) } });
  const metrics = createMetrics({ knownBots: [], clock, load: CALM, processMetrics: false });
  const files = new WatchedFiles<Watched>({ clock, log, onChecked: metrics.files.checked });
  onTestFinished(() => files.close());
  const settings = { mode: 'files', certificateFile: folder.file('tls.crt'), keyFile: folder.file('tls.key'), clients } as const;
  const tls: ServerTls = await openServerTls({ tls: settings }, { profile, files, metrics: metrics.files, clock, log });
  const open = async (security: ListenerSecurity): Promise<number> => {
    const listener = await openSocketListener({
      ...{
        name: 'test server',
        protocols: ['http/1.1'],
        host: '127.0.0.1',
        port: 0,
        security,
        maxConnections: 100,
        unverifiedTimeoutMs: 5000,
        maxUnverifiedPerAddress: 100,
        handshakeTimeoutMs: 5000,
      },
      ...{ clock, log, onConnection: echo },
    });
    onTestFinished(async () => {
      listener.cut();
      await listener.close();
    });
    return listener.port;
  };
  const metric = async (name: string): Promise<number | undefined> => {
    const line = (await metrics.text()).split('\n').find((text) => text.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };
  const logged = (event: string): readonly Line[] => lines.filter((line) => line['event'] === event);
  return { clock, files, lines, logged, metric, open, tls, port: await open(tls.media) };
}
