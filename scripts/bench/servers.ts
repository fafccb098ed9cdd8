// The two servers that are compared: the built server as an operator starts it, and the bare pass-through.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { prepareSurroundings, type Surroundings } from '../surroundings.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { rpcHeaders } from '../../src/fake-platform/lines/rpc-connection.ts';
import { builtMain } from './built-main.ts';
import { CORES, MeasuredProcess } from './measured-process.ts';
import type { SocketAccess } from './socket-call.ts';
import { promptFiles, RPC_PATH } from './traffic.ts';

/** The agent that is called. */
export const AGENT_ID = 'ready-made';

/** A server that takes calls. Whoever starts it stops it. */
export interface Target {
  readonly process: MeasuredProcess;
  readonly port: number;
  /** Port of health checks and metrics; undefined for the pass-through. */
  readonly opsPort: number | undefined;
  /** Where it takes calls over WebSocket; undefined: nowhere. */
  readonly socketPort?: number | undefined;
  /** Given: calls come over WebSocket, to this path with this token. */
  readonly sockets?: SocketAccess;
  /** Given: it speaks TLS, with a certificate of this authority. */
  readonly certificatePem?: string;
  /** Further servers that share its calls. */
  readonly beside?: readonly Target[];
  /** Share of the turns that come to another of them than the home of their call. Default 0. */
  readonly forwardedShare?: number;
  /** Whether it sends back what it gets, and hears nobody. Default false. */
  readonly isEcho?: boolean;
}

/** What the servers share: a folder for files, the issuer and its token. `close` must be called. */
export interface Ground {
  readonly surroundings: Surroundings;
  readonly promptsFolder: string;
  /** Headers of every RPC, the same to both servers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly organizationId: string;
  close(): Promise<void>;
}

/** Prepares issuer, configuration and recordings in a folder of their own. */
export async function prepareGround(): Promise<Ground> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-bench-'));
  const surroundings = await prepareSurroundings(folder);
  const promptsFolder = path.join(folder, 'prompts');
  await mkdir(promptsFolder);
  for (const [name, bytes] of promptFiles()) await writeFile(path.join(promptsFolder, name), bytes);
  const { metadata } = loadProfile('fake');
  return {
    surroundings,
    promptsFolder,
    organizationId: surroundings.issuer.claims.organizationId,
    headers: rpcHeaders(RPC_PATH, {
      [metadata.authorization]: await surroundings.issuer.issueToken({ lifetimeMinutes: 600 }),
      [metadata.trackingId]: 'bench',
    }),
    close: async () => {
      await surroundings.issuer.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the built server with the token check on and without TLS, as the pass-through has none. */
export function startParley(ground: Ground, flags: readonly string[] = [], core = CORES.server): Promise<Target> {
  const server = [builtMain(), 'serve', '--json', `--config=${ground.surroundings.configFile}`, '--tls.mode=off'];
  const bots = path.join(packageRoot(), 'scripts', 'bench', 'bots');
  const bot = [
    `--bots.folder=${bots}`,
    `--bots.prompts_folder=${ground.promptsFolder}`,
    '--media.reveal_prompt_text=false',
    '--log.level=error',
  ];
  // A server that turns calls away because it is busy would be measured at another size.
  const noLimits = ['--overload.max_loop_delay_ms=0', '--sessions.max_per_organization=0', '--sessions.max_new_per_s_per_organization=0'];
  return start([...server, ...bot, ...noLimits, ...flags], core);
}

/** As {@link startParley}, for calls over WebSocket. @param calls - at once. */
export async function startParleyWithSockets(ground: Ground, calls: number, flags: readonly string[] = []): Promise<Target> {
  const { issuer } = ground.surroundings;
  const { schemas, websocket } = loadProfile('fake');
  if (websocket === undefined) throw new Error('the platform of the bench does not call over WebSocket');
  const { organizationId: organization_id, audience, subject, nonce } = issuer.claims;
  const source = { id: 'bench', organization_id, url: 'wss://localhost', schema_id: schemas.websocket, audience, subject, nonce };
  const target = await startParley(ground, [
    ...['--websocket.enabled=true', '--websocket.host=127.0.0.1', '--websocket.port=0'],
    `--sessions.max=${String(calls + 50)}`,
    `--websocket.max_connections=${String(calls + 100)}`,
    // The load answers none.
    '--websocket.ping_interval_ms=7200000',
    `--auth.data_sources=${JSON.stringify([{ ...source, transport: 'websocket' }])}`,
    ...flags,
  ]);
  if (target.socketPort === undefined) throw new Error('the server did not say where it takes calls over WebSocket');
  const token = await issuer.issueToken({ url: source.url, schemaId: schemas.websocket, lifetimeMinutes: 600 });
  return { ...target, port: target.socketPort, sockets: { path: websocket.voicePath, token } };
}

/** Settings with which every call is recorded. */
export function recordingFlags(folder: string): readonly string[] {
  return ['--recordings.enabled=true', `--recordings.folder=${folder}`, `--recordings.keys=["${'ab'.repeat(32)}"]`];
}

/** Starts the reference for calls over WebSocket. It takes every path and token. */
export async function startSocketEcho(): Promise<Target> {
  const echo = await start(['--import=tsx', '--conditions=@parley/source', path.join(import.meta.dirname, 'socket-echo.ts')], CORES.server);
  return { ...echo, sockets: { path: '/', token: 'none' }, isEcho: true };
}

/** Starts the reference. @param frames - after which start and end of speech are reported. */
export function startPassThrough(core: number | undefined, frames: { readonly start: number; readonly end: number }): Promise<Target> {
  const script = path.join(import.meta.dirname, 'pass-through.ts');
  return start(['--import=tsx', '--conditions=@parley/source', script, String(frames.start), String(frames.end)], core);
}

async function start(args: readonly string[], core: number | undefined): Promise<Target> {
  const process = new MeasuredProcess({ args, core });
  const ready = await process.line();
  if (typeof ready !== 'object' || ready === null || !('port' in ready) || typeof ready.port !== 'number') {
    process.kill();
    throw new Error('the server did not say on which port it listens');
  }
  const opsPort = 'opsPort' in ready && typeof ready.opsPort === 'number' ? ready.opsPort : undefined;
  return { process, port: ready.port, opsPort, socketPort: socketPortIn(ready) };
}

function socketPortIn(ready: object): number | undefined {
  const websocket: unknown = 'websocket' in ready ? ready.websocket : undefined;
  return typeof websocket === 'object' && websocket !== null && 'port' in websocket && typeof websocket.port === 'number'
    ? websocket.port
    : undefined;
}
