// How the server is set up in each measurement of capacity: one thing at a time beside plain calls over gRPC.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { fakeModels } from '../../src/cli/platform.ts';
import { RedisServer } from '../../test/support/redis-server.ts';
import { CORES } from './measured-process.ts';
import { recordingFlags, startParley, startParleyWithSockets, type Ground, type Target } from './servers.ts';

/** Servers that take calls, and what they need. Whoever starts it closes it. */
export interface Stage {
  readonly target: Target;
  close(): Promise<void>;
}

/** One way to run the server. */
export interface Variant {
  readonly name: string;
  /** As the table calls it. */
  readonly title: string;
  /** Default: whether it is there. */
  readonly isThere?: () => Promise<boolean>;
  readonly start: (ground: Ground) => Promise<Stage>;
}

/** More calls than one core takes. */
const MOST_CALLS = 2000;
const WITH_TLS = '--tls.mode=files';

/** All of them, in the order of the table. */
export const VARIANTS: readonly Variant[] = [
  { name: 'grpc', title: 'gRPC, cleartext', start: alone(startParley) },
  { name: 'grpc-tls', title: 'gRPC, TLS', start: alone((ground) => secured(startParley(ground, [WITH_TLS]), ground)) },
  {
    name: 'websocket-tls',
    title: 'WebSocket, TLS',
    start: alone((ground) => secured(startParleyWithSockets(ground, MOST_CALLS, [WITH_TLS]), ground)),
  },
  { name: 'recognizer', title: 'gRPC, whole utterances to a recognizer', start: (ground) => withRecognizer(ground, false) },
  { name: 'recognizer-stream', title: 'gRPC, a recognizer that hears the caller speak', start: (ground) => withRecognizer(ground, true) },
  { name: 'recordings', title: 'gRPC, every call recorded', start: withRecordings },
  { name: 'traces', title: 'gRPC, every call traced', isThere: hasTraces, start: withTraces },
  { name: 'shared', title: 'two servers, calls kept together', start: (ground) => sharing(ground, [CORES.server, CORES.server]) },
  { name: 'forwarded-half', title: 'two servers, half the turns forwarded', start: (ground) => forwarding(ground, 0.5) },
  { name: 'forwarded-all', title: 'two servers, all turns forwarded', start: (ground) => forwarding(ground, 1) },
];

/** Servers with one Redis server, each bound to one of these cores; every turn comes to the home of its call. */
export async function sharing(
  ground: Ground,
  cores: readonly (number | undefined)[],
  forwardedShare = 0,
): Promise<Stage & { readonly redis: RedisServer }> {
  const redis = await RedisServer.start();
  const flags = ['--store.kind=redis', `--store.redis.url=${redis.url}`, `--store.keys=["${'cd'.repeat(32)}"]`];
  const [target, ...beside] = await Promise.all(cores.map((core) => startParley(ground, flags, core)));
  if (target === undefined) throw new RangeError('a fleet has a server');
  const close = async (): Promise<void> => {
    await Promise.all([target, ...beside].map((server) => server.process.stop()));
    await redis.stop();
  };
  return { target: { ...target, beside, forwardedShare }, redis, close };
}

function forwarding(ground: Ground, share: number): Promise<Stage> {
  return sharing(ground, [CORES.server, CORES.server], share);
}

function alone(start: (ground: Ground) => Promise<Target>, closeMore?: () => Promise<unknown>): Variant['start'] {
  return async (ground) => {
    const target = await start(ground);
    const close = async (): Promise<void> => {
      await target.process.stop();
      await closeMore?.();
    };
    return { target, close };
  };
}

async function secured(target: Promise<Target>, { surroundings }: Ground): Promise<Target> {
  return { ...(await target), certificatePem: surroundings.certificatePem };
}

async function withRecognizer(ground: Ground, isStreamed: boolean): Promise<Stage> {
  const models = await fakeModels({ heard: Array.from({ length: 10_000 }, () => 'when are you open') });
  const flags = ['--recognizer.engine=http', `--recognizer.http.url=${models.url}`, '--recognizer.http.model=fake'];
  if (isStreamed) flags.push(`--recognizer.stream.url=${models.transcriptionUrl}`, '--recognizer.stream.model=fake');
  return alone(
    () => startParley(ground, flags),
    () => models.close(),
  )(ground);
}

async function withRecordings(ground: Ground): Promise<Stage> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'parley-recordings-'));
  return alone(
    () => startParley(ground, recordingFlags(folder)),
    () => rm(folder, { recursive: true, force: true }),
  )(ground);
}

async function hasTraces(): Promise<boolean> {
  return /^traces:$/mu.test(await readFile(path.join(packageRoot(), 'config', 'default.yaml'), 'utf8'));
}

async function withTraces(ground: Ground): Promise<Stage> {
  const collector = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address object; only pipes have a string.
  const { port } = collector.address() as AddressInfo;
  const flags = [`--traces.endpoint=http://127.0.0.1:${String(port)}`, '--traces.share=1'];
  return alone(
    () => startParley(ground, flags),
    () => {
      collector.closeAllConnections();
      return new Promise((resolve) => collector.close(resolve));
    },
  )(ground);
}
