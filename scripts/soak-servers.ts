// What `npm run check -- soak` holds calls against: one server alone, or two with everything that a server can do beside calls.
import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fakeModels } from '../src/cli/platform.ts';
import { APPOINTMENTS_SCRIPT } from '../src/fake-platform/models/script.ts';
import { Balancer } from '../test/fleet/balancer.ts';
import { KeptRedis } from '../test/fleet/kept-redis.ts';
import { TraceCollector } from '../test/support/trace-collector.ts';
import { gauge } from './soak-watch.ts';
import { startBuilt, type BuiltServer, type Surroundings } from './surroundings.ts';

/** What was started. The caller closes it. */
export interface SoakedServers {
  readonly servers: readonly BuiltServer[];
  /** Where callers reach them, with TLS. */
  readonly port: number;
  /** The bots that are called. */
  readonly agents: readonly string[];
  /** That what is on was used, for the report. */
  facts(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

const FLAGS = [
  '--listen.no_input_ms=3000',
  '--sessions.sweep_ms=2000',
  '--sessions.idle_timeout_ms=60000',
  // What is kept on purpose, up to a limit, must be full when the watching begins.
  '--synthesizer.cache_max_bytes=2097152',
  '--synthesizer.cache_folder=',
  '--telemetry.timeline_calls=20',
  // A busy machine is no reason to refuse calls here.
  '--overload.max_loop_delay_ms=0',
  '--sessions.max_per_organization=0',
  '--sessions.max_new_per_s_per_organization=0',
];
const BOTS = ['echo', 'front-desk', 'code-line'];
const HEARD = ['when do you open', 'tuesday at nine, please', 'yes', 'is friday free?', 'I would like to speak to a person', 'bye'];

/** One server alone with the embedded voice. */
export async function startOne(surroundings: Surroundings, _folder: string, onStderr: (line: string) => void): Promise<SoakedServers> {
  const server = await startBuilt(surroundings, FLAGS, onStderr);
  const close = async (): Promise<void> => void (await server.process.stop());
  return { servers: [server], port: server.port, agents: BOTS, facts: () => Promise.resolve({}), close };
}

/** Two servers of one fleet behind a load balancer, with recordings, traces and models. @param folder - for their files. */
export async function startEverything(
  surroundings: Surroundings,
  folder: string,
  onStderr: (line: string) => void,
): Promise<SoakedServers> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of undo.splice(0)) await each();
  };
  try {
    const redis = await KeptRedis.start();
    undo.unshift(() => redis.stop());
    const heard = Array.from({ length: 10_000 }, (_, nth) => HEARD[nth % HEARD.length] ?? '');
    const models = await fakeModels({
      ...APPOINTMENTS_SCRIPT,
      heard,
      delays: { recognition: [60, 90], first_token: [100, 200], speech: [50, 80] },
    });
    undo.unshift(() => models.close());
    process.env['MODEL_URL'] = models.url;
    const collector = await TraceCollector.start();
    undo.unshift(() => collector.close());
    // More come in an hour than this process should keep.
    collector.does = 'drop';
    const recordings = path.join(folder, 'recordings');
    await mkdir(recordings);
    const flags = [
      ...FLAGS,
      // The load balancer ends TLS, and opens a connection for each RPC.
      ...['--tls.mode=off', '--grpc.max_connections=5000'],
      ...['--store.kind=redis', `--store.redis.url=redis://127.0.0.1:${String(redis.port)}`],
      `--store.keys=["${randomBytes(32).toString('hex')}"]`,
      ...['--recordings.enabled=true', `--recordings.folder=${recordings}`, '--recordings.max_calls=200'],
      `--recordings.keys=["${randomBytes(32).toString('hex')}"]`,
      `--traces.endpoint=${collector.url}`,
      ...['--recognizer.engine=http', `--recognizer.http.url=${models.url}`, '--recognizer.http.model=fake'],
    ];
    const servers: BuiltServer[] = [];
    undo.unshift(() => Promise.all(servers.map(({ process: child }) => child.stop())));
    for (let nth = 0; nth < 2; nth += 1) servers.push(await startBuilt(surroundings, flags, onStderr));
    const pem = surroundings.certificatePem + (await readFile(surroundings.keyFile, 'utf8'));
    const behind = servers.map(({ port, opsPort }) => ({ grpc: port, ops: opsPort }));
    const balancer = await Balancer.start(folder, behind, pem);
    undo.unshift(() => balancer.stop());
    const facts = async () => {
      const all = async (name: string): Promise<number> =>
        (await Promise.all(servers.map(({ opsPort }) => gauge(opsPort, name)))).reduce((sum, count) => sum + count, 0);
      return {
        forwardedTurns: await all('parley_forwarded_streams_total'),
        recordedCalls: await all('parley_recordings_total'),
        traceRequests: collector.requests,
      };
    };
    return { servers, port: balancer.port, agents: [...BOTS, 'appointments'], facts, close };
  } catch (error) {
    await close();
    throw error;
  }
}
