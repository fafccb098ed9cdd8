// The real media server with a real engine and a peer port, in this process: what it is told of homes is what the test says.
import { onTestFinished } from 'vitest';
import type { Bot } from '../../src/bot/bot.ts';
import { AppError } from '../../src/base/errors.ts';
import { Catalog } from '../../src/bot/catalog.ts';
import { loadContract } from '../../src/contract/grpc.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { Admission } from '../../src/session/admission.ts';
import { createPeerIdentity } from '../../src/transport/forward/identity.ts';
import { Links } from '../../src/transport/forward/links.ts';
import { openPeerPort } from '../../src/transport/forward/peer-port.ts';
import { Relays } from '../../src/transport/forward/relays.ts';
import { Gate } from '../../src/transport/gate.ts';
import { startMediaServer } from '../../src/transport/grpc/server.ts';
import type { DeliveryMode } from '../../src/dialog/output.ts';
import type { Peer } from '../../src/dialog/home.ts';
import { CALM } from './call-events.ts';
import { CountedClock } from './counted-clock.ts';
import { FakeVoice, testEngine, type TestEngine } from './engine.ts';
import { ScriptedHomes, SILENT, type Table } from './forwarding.ts';
import { PlatformClient } from './platform-client.ts';

const UNLIMITED = { maxSessions: 100, perOrganization: { maxSessions: 0, maxNewPerSecond: 0 }, organizations: new Map() };
const NO_LOAD_LIMITS = { maxStreams: 1000, maxLoopDelayMs: 0, maxRssBytes: 0, maxHeapPercent: 0 };

/** Streams that count as turns of a server. */
class CountedAdmission extends Admission {
  streams = 0;

  override streamOpened(): boolean {
    this.streams += 1;
    return super.streamOpened();
  }

  override streamClosed(): void {
    this.streams -= 1;
    super.streamClosed();
  }
}

/** How a server is started. */
export interface ForwardingServerOptions {
  readonly table: Table;
  readonly bots: readonly Bot[];
  /** Whether a token is good; default: no token is asked for. */
  readonly isGood?: (authorization: string | undefined) => boolean;
  /** Turns that it forwards at once; default 100. */
  readonly maxForwarded?: number;
  /** Default `wav`. */
  readonly mode?: DeliveryMode;
  readonly voice?: FakeVoice;
}

/** One of several servers. Closed with the test. */
export class ForwardingServer {
  readonly homes: ScriptedHomes;
  readonly admission: CountedAdmission;
  readonly engine: TestEngine;
  readonly peer: Peer;
  readonly links: Links;
  readonly relays: Relays;
  readonly #port: number;

  private constructor(
    homes: ScriptedHomes,
    engine: TestEngine,
    admission: CountedAdmission,
    peer: Peer,
    links: Links,
    relays: Relays,
    port: number,
  ) {
    this.homes = homes;
    this.engine = engine;
    this.admission = admission;
    this.peer = peer;
    this.links = links;
    this.relays = relays;
    this.#port = port;
  }

  static async start(id: string, options: ForwardingServerOptions): Promise<ForwardingServer> {
    const { table, bots, isGood, maxForwarded = 100, mode = 'wav', voice = new FakeVoice() } = options;
    const clock = new CountedClock();
    const identity = await createPeerIdentity(clock.nowMs());
    table.fingerprints.add(identity.fingerprint);
    const log = SILENT;
    const port = await openPeerPort({
      ...{ host: '127.0.0.1', port: 0, identity, instanceId: id, known: table, maxMessageBytes: 1_000_000, clock, log },
    });
    const links = new Links({ identity, clock, log });
    const homes = new ScriptedHomes({ kind: 'here' });
    const observer = { forwardOpened: () => undefined, homeAnswered: () => undefined, forwardEnded: () => undefined };
    const relays = new Relays({ homes, links, clock, log, observer, maxOpen: maxForwarded });
    const engine = await testEngine(bots, { settings: { mode }, voice });
    const admission = new CountedAdmission({ limits: { ...UNLIMITED, ...NO_LOAD_LIMITS }, load: CALM, clock });
    const verify = (authorization: string | undefined) => {
      if (isGood?.(authorization) !== false) return { organizationId: 'org', dataSourceId: 'ds', transport: 'grpc' } as const;
      throw new AppError('unauthenticated', 'no');
    };
    const profile = loadProfile('fake');
    const server = await startMediaServer({
      settings: {
        ...{ host: '127.0.0.1', port: 0, security: { mode: 'off' }, handshakeTimeoutMs: 1000 },
        ...{ maxConnections: 100, unverifiedTimeoutMs: 60_000, maxUnverifiedPerAddress: 100, maxMessageBytes: 1_000_000 },
        ...{ maxStreamsPerConnection: 1000, maxConnectionIdleMs: 60_000, keepaliveMs: 60_000, keepaliveTimeoutMs: 20_000 },
        ...{ firstMessageTimeoutMs: 5000, maxQueuedBytes: 1_000_000, hasReflection: false, isRevealingText: true },
      },
      contract: loadContract(profile),
      gate: new Gate(isGood === undefined ? undefined : { verify }, 'grpc'),
      ...{ sessions: engine.sessions, homes, peers: { port, relays }, catalog: { current: new Catalog(bots) }, clock, log, admission },
      metadataKeys: profile.metadata,
      mayTake: () => true,
      onRefused: () => undefined,
    });
    const started = new ForwardingServer(
      homes,
      engine,
      admission,
      { id, address: `127.0.0.1:${String(port.port)}`, certificate: identity.fingerprint },
      links,
      relays,
      server.port,
    );
    onTestFinished(async () => {
      await engine.sessions.close(0);
      await server.close(0);
      links.close();
      await port.close(0);
    });
    return started;
  }

  /** A platform of this server; closed with the test. */
  platform(authorization?: string): PlatformClient {
    const client = new PlatformClient({ target: `127.0.0.1:${String(this.#port)}`, organizationId: 'org', authorization });
    onTestFinished(() => {
      client.close();
    });
    return client;
  }
}
