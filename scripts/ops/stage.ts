// Real servers of a fleet with everything that metrics count: a shared store, data sources of their own, TLS at one, workers at the other,
// and speech services and a language model that are fakes.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageRoot } from '../../src/base/package-root.ts';
import { fakeModels, type ModelScript } from '../../src/cli/platform.ts';
import { writeThrowAwayCertificate, type ThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import { loadProfile } from '../../src/fake-platform/platform/profile.ts';
import type { FleetAccess } from '../../test/fleet/caller-messages.ts';
import { KeptRedis } from '../../test/fleet/kept-redis.ts';
import { LineRelay } from '../../test/fleet/line-relay.ts';
import { Replica, type Program } from '../../test/fleet/replica.ts';
import { freePorts } from '../../test/support/free-port.ts';
import { TraceCollector } from '../../test/support/trace-collector.ts';
import { fleetAdministration, type AwayAdministration } from '../fleet/administration.ts';

/** More calls of one organization are refused. */
export const MOST_CALLS = 10;
const TOKEN_MINUTES = 600;
/** What the models say when nothing is wrong with them. */
export const CALM_MODEL: ModelScript = {
  rules: [
    { when: String.raw`/1\]$/`, use: 'look', input: {} },
    { after: 'look', say: 'We are open until six.' },
    { say: 'I can say when we are open. Press one for that.' },
  ],
  heard: Array.from({ length: 1000 }, () => 'when are you open'),
  delays: { recognition: [60, 90], first_token: [100, 200], speech: [50, 80] },
};
const MODEL: ModelScript = {
  ...CALM_MODEL,
  // A prompt that is not spoken, and a model that is asked again.
  faults: [
    { on: 'speech', nth: 5, kind: 'error', status: 400 },
    { on: 'chat', nth: 3, kind: 'error' },
  ],
};

/** What was started; whoever starts it closes it. */
export interface Stage {
  /** How callers reach each server over gRPC: the first with TLS, the second with workers. */
  readonly accesses: readonly [FleetAccess, FleetAccess];
  /** How they reach the second over WebSocket. */
  readonly socket: FleetAccess;
  /** Where Prometheus asks them. */
  readonly opsPorts: readonly number[];
  /** Where their traces go. */
  readonly collector: TraceCollector;
  /** In the order of {@link accesses}. */
  readonly replicas: readonly [Replica, Replica];
  readonly redis: KeptRedis;
  /** Whose tokens both trust. */
  readonly issuer: Issuer;
  readonly administration: AwayAdministration;
  /** Of the first. */
  readonly certificate: ThrowAwayCertificate;
  /** Between the first and the server that forwards turns to it. */
  readonly peerLine: LineRelay;
  /** Of the second. */
  readonly controlSocket: string;
  /** Where both keep their recordings. */
  readonly recordings: string;
  /** The models follow another script from now on. */
  readonly play: (script: ModelScript) => Promise<void>;
  close(): Promise<void>;
}

/** Starts everything and waits until both servers take calls. @param ownFlags - win over those of the stage. */
export async function openStage(program: Program, ownFlags: readonly string[] = []): Promise<Stage> {
  const folder = await mkdtemp(path.join(tmpdir(), 'parley-ops-'));
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const each of undo.splice(0)) await each();
  };
  try {
    const issuer = await startIssuer({ profile: loadProfile('fake'), lifetimeMinutes: TOKEN_MINUTES });
    undo.unshift(() => issuer.close());
    const redis = await KeptRedis.start();
    undo.unshift(() => redis.stop());
    const administration = await fleetAdministration({ issuer, redis });
    undo.unshift(() => administration.close());
    let models = await fakeModels(MODEL);
    undo.unshift(() => models.close());
    const collector = await TraceCollector.start();
    undo.unshift(() => collector.close());
    const certificate = await writeThrowAwayCertificate(folder, Date.now());
    const { certificateFile, keyFile, certificatePem } = certificate;
    const [grpc = 0, ops = 0, peer = 0, secondGrpc = 0, secondOps = 0, socketPort = 0, webhooks = 0] = await freePorts(7);
    // Its peers dial another address of loopback.
    const peerLine = await LineRelay.start(peer, { host: '127.0.0.2', port: peer });
    undo.unshift(() => peerLine.close());
    const recordings = path.join(folder, 'recordings');
    const controlSocket = path.join(folder, 'control', 'second.sock');
    const flags = [
      ...['--platform.profile=fake', `--platform.extra_issuers=${JSON.stringify([issuer.issuer])}`, '--grpc.host=127.0.0.1'],
      ...['--store.kind=redis', `--store.redis.url=redis://127.0.0.1:${String(redis.port)}`],
      `--store.keys=["${randomBytes(32).toString('hex')}"]`,
      ...administration.flags,
      ...['--admin.data_sources.transports=["grpc","websocket"]', '--admin.data_sources.websocket_url=wss://localhost'],
      ...['--synthesizer.engine=http', `--synthesizer.http.url=${models.url}`, '--synthesizer.http.model=fake'],
      ...['--synthesizer.http.format=pcm', '--synthesizer.cache_folder='],
      ...['--recognizer.engine=http', `--recognizer.http.url=${models.url}`, '--recognizer.http.model=fake'],
      `--bots.folder=${path.join(packageRoot(), 'test', 'fixtures', 'ops-bots')}`,
      ...['--bots.default_bot=desk', '--websocket.enabled=true', '--websocket.host=127.0.0.1', '--log.level=warn'],
      `--traces.endpoint=${collector.url}`,
      `--admin.webhooks.target_url=http://127.0.0.1:${String(webhooks)}/webhooks`,
      ...['--recordings.enabled=true', `--recordings.folder=${recordings}`],
      `--recordings.keys=["${randomBytes(32).toString('hex')}"]`,
      // A machine on which everything runs is busy.
      ...['--overload.max_loop_delay_ms=0', `--sessions.max_per_organization=${String(MOST_CALLS)}`],
      ...ownFlags,
    ];
    const server = (ports: Replica['ports'], name: string): Replica => {
      const replica = new Replica({ program, ports, flags, logFile: path.join(folder, `${name}.log`) });
      undo.unshift(() => replica.kill());
      return replica;
    };
    const env = { MODEL_URL: models.url };
    const replicas = [server({ grpc, ops, peer }, 'tls'), server({ grpc: secondGrpc, ops: secondOps, peer: 0 }, 'workers')] as const;
    const [first, second] = replicas;
    const tls = [`--tls.certificate_file=${certificateFile}`, `--tls.key_file=${keyFile}`, '--websocket.port=0'];
    const reached = ['--peers.host=127.0.0.1', '--peers.address=127.0.0.2', `--admin.webhooks.port=${String(webhooks)}`];
    await first.start({ env, flags: [...tls, ...reached] });
    const workers = ['--tls.mode=off', '--workers=2', `--websocket.port=${String(socketPort)}`];
    await second.start({ env, flags: [...workers, '--admin.webhooks.port=0', `--control.socket=${controlSocket}`] });
    const access = { token: await administration.token(), organizationId: administration.organizationId };
    return {
      accesses: [
        { ...access, target: `grpcs://localhost:${String(grpc)}`, certificatePem },
        { ...access, target: `grpc://127.0.0.1:${String(secondGrpc)}`, certificatePem: '' },
      ],
      socket: {
        ...{ ...access, token: await administration.socketToken() },
        ...{ target: `ws://127.0.0.1:${String(socketPort)}`, certificatePem: '' },
      },
      opsPorts: [ops, secondOps],
      ...{ collector, replicas, redis, issuer, administration, certificate, peerLine, controlSocket, recordings },
      play: async (script) => {
        const port = Number(new URL(models.url).port);
        await models.close();
        models = await fakeModels(script, { port });
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
