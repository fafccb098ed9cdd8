// Decides where calls live: all in this process, or in one of several servers that share Redis and forward turns to each other.
import { networkInterfaces } from 'node:os';
import { AppError } from '../base/errors.ts';
import { CallHomes } from '../cluster/call-homes.ts';
import type { InstanceEntry } from '../cluster/instance-table.ts';
import { Instances } from '../cluster/instances.ts';
import { RedisDirectory } from '../cluster/redis-directory.ts';
import { RedisInstances } from '../cluster/redis-instances.ts';
import type { Admission } from '../session/admission.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Snapshots } from '../session/ports.ts';
import { SNAPSHOT_FORM } from '../session/snapshot/snapshot.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { CallTraces } from '../telemetry/traces/call-traces.ts';
import { createPeerIdentity } from '../transport/forward/identity.ts';
import { Links } from '../transport/forward/links.ts';
import { openPeerPort } from '../transport/forward/peer-port.ts';
import { askPeer, probe, type AnswerQuestion } from '../transport/forward/peer-service.ts';
import { Relays, type RelayObserver } from '../transport/forward/relays.ts';
import type { Peers } from '../transport/grpc/server.ts';
import { SOLE_HOME, type CallHomes as Homes } from '../transport/homes.ts';
import type { Settings } from './config/settings.ts';
import type { ProcessParts } from './process-parts.ts';
import type { SharedStore } from './shared-store.ts';
import { timedDirectory, timedTable } from './timed-directory.ts';

/** Time that the entry of a call is kept beyond the call's idle limit, ms, so that the home can end the call and notify the bot. */
const KEPT_AFTER_IDLE_MS = 300_000;
/** Longest wait for forwarded turns when this server closes, ms. */
const PEER_CLOSE_MS = 5000;

export interface OpenedHomes {
  readonly snapshots: Snapshots;
  readonly homes: Homes;
  /** Undefined when no calls are shared. */
  readonly peers: Peers | undefined;
  /** Joins the other instances. Call it before the first call. @param answer - answers questions of other instances. */
  join(sessions: Pick<Sessions, 'lose' | 'has'>, answer: AnswerQuestion): Promise<void>;
  /** Asks all other instances an operator's question. Bounded in time; never rejects. */
  askOthers(question: string): Promise<OthersAnswers>;
  /** Stops claiming calls, which then go to other servers, or starts again when `isDraining` is false. */
  drain(isDraining?: boolean): void;
}

/** The answers of other instances, and the instances that did not answer. */
export interface OthersAnswers {
  readonly answers: readonly string[];
  readonly silent: readonly InstanceEntry[];
}

export interface HomesParts extends ProcessParts {
  /** A new id for each start of the process. */
  readonly instanceId: string;
  /** Undefined when no calls are shared. */
  readonly shared: SharedStore | undefined;
  readonly metrics: Pick<Metrics, 'store' | 'forward'>;
  /** Gets what organizations use on other servers, and is asked what they use here. */
  readonly admission: Pick<Admission, 'use' | 'hear'>;
  /** Undefined when calls are not traced. */
  readonly traces: Pick<CallTraces, 'forwarded'> | undefined;
}

const ALONE: OpenedHomes = {
  snapshots: {
    ...{ isShared: false, canMove: false, save: () => undefined, forget: () => undefined },
    ...{ saved: () => Promise.resolve(), release: () => Promise.resolve() },
  },
  homes: SOLE_HOME,
  peers: undefined,
  join: () => Promise.resolve(),
  askOthers: () => Promise.resolve({ answers: [], silent: [] }),
  drain: () => undefined,
};

/** Opens the peer port with its parts if calls are shared. @throws AppError `listen_failed` for the peer port. */
export async function openHomes(
  { peers: settings, sessions, grpc }: Pick<Settings, 'peers' | 'sessions' | 'grpc'>,
  { instanceId, shared, metrics, admission, traces, clock, log, lifecycle }: HomesParts,
): Promise<OpenedHomes> {
  if (shared === undefined) return ALONE;
  const { connection, keyPrefix, seal } = shared;
  const host = settings.host ?? grpc.host;
  const identity = await createPeerIdentity(clock.nowMs());
  const links = new Links({ identity, clock, log });
  let answer: AnswerQuestion = () => Promise.reject(new AppError('internal', 'this server has not joined the others'));
  const port = await openPeerPort({
    ...{ host, port: settings.port, identity, instanceId, clock, log },
    maxMessageBytes: grpc.maxMessageBytes,
    answer: (question) => answer(question),
    known: {
      has: (fingerprint) => instances.peers.some(({ certificate }) => certificate === fingerprint) || fingerprint === identity.fingerprint,
      refresh: () => instances.beat(),
    },
  });
  const instances: Instances = new Instances({
    table: timedTable(new RedisInstances({ connection, seal, keyPrefix, log }), metrics.store),
    self: {
      id: instanceId,
      address: `${addressOf(host, settings.address)}:${String(port.port)}`,
      certificate: identity.fingerprint,
      version: SNAPSHOT_FORM,
    },
    use: () => admission.use,
    clock,
    log,
  });
  const ttlMs = sessions.idleTimeoutMs + KEPT_AFTER_IDLE_MS;
  let joined: Pick<Sessions, 'has'> | undefined;
  const homes = new CallHomes({
    directory: timedDirectory(new RedisDirectory({ connection, seal, keyPrefix, ttlMs }), metrics.store),
    probe: (peer, callId) => probe(links, peer, callId, clock),
    maxSnapshotBytes: sessions.maxSnapshotBytes,
    isInUse: (call) => joined?.has(call) === true,
    ...{ instances, clock, log, ttlMs, sweepMs: sessions.sweepMs },
  });
  const observer: RelayObserver = {
    ...metrics.forward,
    forwardEnded: (outcome, bytes, turn) => {
      metrics.forward.forwardEnded(outcome, bytes);
      traces?.forwarded(turn, outcome);
    },
  };
  const relays = new Relays({ homes, links, maxOpen: settings.maxTurns, observer, clock, log });
  instances.listen({
    onDead: ({ id }) => {
      relays.peerDied(id);
    },
    onBeat: ({ wasAway }) => {
      admission.hear(
        instances.peers.map(({ id, use = [] }) => ({ id, organizations: use })),
        wasAway,
      );
    },
  });
  // Closed last, because a refusing peer port makes an instance count as dead.
  lifecycle.opened('peer port', () => port.close(PEER_CLOSE_MS));
  lifecycle.opened('instances', () => instances.close());
  lifecycle.opened('links to peers', () => {
    links.close();
  });
  lifecycle.opened('homes of calls', () => homes.close());
  return {
    snapshots: homes,
    homes,
    peers: { port, relays },
    join: async (sessions, answerQuestion) => {
      joined = sessions;
      answer = answerQuestion;
      homes.onTaken((call) => {
        sessions.lose(call);
      });
      await instances.start();
    },
    askOthers: async (question) => {
      const all = await Promise.all(
        instances.peers.map(async (peer) => ({ peer, said: await askPeer(links, peer, question, clock).catch(() => undefined) })),
      );
      return {
        answers: all.flatMap(({ said }) => said ?? []),
        silent: all.flatMap(({ peer, said }) => (said === undefined ? peer : [])),
      };
    },
    drain: (isDraining) => {
      homes.drain(isDraining);
    },
  };
}

/** The address that peers dial. */
function addressOf(host: string, address: string | undefined): string {
  if (address !== undefined) return address;
  if (host !== '0.0.0.0' && host !== '::') return host.includes(':') ? `[${host}]` : host;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const reachable = addresses.find(({ internal, family }) => !internal && family === 'IPv4') ?? addresses.find(({ internal }) => !internal);
  return reachable === undefined ? '127.0.0.1' : reachable.family === 'IPv6' ? `[${reachable.address}]` : reachable.address;
}
