// A command that shows what the platform sees at a registered address, because the doctor itself connects from inside. The command needs
// only curl, and no token.
import type { AdminWork } from './admin/run.ts';

/** A command to run outside, and its expected result. */
export interface OutsideCommand {
  readonly command: string;
  /** A part of the command's output when the address is right. */
  readonly shows: string;
}

/** The command for the first address of the configuration, gRPC before WebSocket; undefined without an address. */
export function outsideCommand({ settings, profile }: Pick<AdminWork, 'settings' | 'profile'>): OutsideCommand | undefined {
  const { admin, auth, websocket } = settings;
  const addressFor = (transport: 'grpc' | 'websocket'): string | undefined =>
    admin.enabled
      ? admin.dataSources.transports.includes(transport)
        ? admin.dataSources[transport === 'grpc' ? 'url' : 'websocketUrl']
        : undefined
      : auth.dataSources.find((source) => source.transport === transport)?.url;
  const grpc = originOf(addressFor('grpc'));
  if (grpc !== undefined) return { command: healthCheck(grpc), shows: '`HTTP/2 200` and, at the end, `grpc-status: 0`' };
  const socket = originOf(addressFor('websocket')?.replace(/^ws/u, 'http'));
  if (socket === undefined || profile.websocket === undefined) return undefined;
  return {
    command: upgrade(`${socket}${websocket.pathPrefix ?? ''}${profile.websocket.voicePath}`),
    shows: '`HTTP/1.1 401`: no token was sent',
  };
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** A call of gRPC's standard health check. The message is empty: five bytes of zero. */
function healthCheck(origin: string): string {
  const version = origin.startsWith('https:') ? '--http2' : '--http2-prior-knowledge';
  const headers = "-H 'content-type: application/grpc' -H 'te: trailers'";
  return `printf '\\0\\0\\0\\0\\0' | curl -sS ${version} -D - -o /dev/null ${headers} --data-binary @- '${origin}/grpc.health.v1.Health/Check'`;
}

function upgrade(url: string): string {
  const headers = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA=='];
  return `curl -sS --http1.1 -D - -o /dev/null ${headers.map((header) => `-H '${header}'`).join(' ')} '${url}'`;
}
