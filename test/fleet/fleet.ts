// A fleet as it stands in production: servers behind a load balancer, a Redis server that they share, and a key server for the
// tokens; all of them real processes of this machine. Faults are done to it from outside.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeThrowAwayCertificate } from '../../src/cli/throw-away-certificate.ts';
import { packageRoot } from '../../src/base/package-root.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { startIssuer, type Issuer } from '../../src/fake-platform/platform/issuer.ts';
import type { DebianNeeds } from '../support/debian.ts';
import { freePorts } from '../support/free-port.ts';
import { dataSource } from '../support/server-flags.ts';
import { socketDataSource, socketToken } from '../support/socket-peer.ts';
import { SPOKEN_PROMPTS } from '../support/spoken-prompts.ts';
import { Balancer, HAPROXY } from './balancer.ts';
import type { FleetAccess } from './caller-messages.ts';
import { KeptRedis } from './kept-redis.ts';
import { LineRelay } from './line-relay.ts';
import { Replica, type Program, type ReplicaPorts, type StartChange } from './replica.ts';

/** For `requireDebian`. */
export const FLEET_NEEDS: DebianNeeds = {
  commands: ['redis-server', 'redis-cli'],
  files: [HAPROXY],
  packages: ['redis-server', 'haproxy'],
};

/** What stands. */
export interface FleetOptions {
  readonly replicas: number;
  readonly program: Program;
  /** Beside those that join a server to the fleet; later ones win. */
  readonly flags?: readonly string[];
  /** How the first start of one server differs from those of the others. */
  readonly startOf?: (
    replica: number,
    beside: { readonly ports: ReplicaPorts; readonly redis: KeptRedis },
  ) => StartChange | Promise<StartChange>;
  /** Whether calls lie in Redis; default true. One replica alone can do without. */
  readonly isShared?: boolean;
  /** In place of one data source in the settings: flags of servers that look after theirs themselves, and the token of a call. */
  readonly administration?: (fleet: { readonly issuer: Issuer; readonly redis: KeptRedis }) => Promise<FleetAdministration>;
}

/** What servers get that look after their data sources themselves. */
export interface FleetAdministration {
  readonly flags: readonly string[];
  readonly organizationId: string;
  /** Asked for when the servers take calls. */
  readonly token: () => Promise<string>;
  close(): Promise<void>;
}

/** Longer than any check. */
const TOKEN_MINUTES = 600;
const BOTS = path.join(packageRoot(), 'test', 'fixtures', 'fleet-bots');

/** Everything that was started; whoever starts it closes it. */
export class Fleet {
  readonly folder: string;
  readonly replicas: readonly Replica[];
  readonly redis: KeptRedis;
  /** Between the servers and Redis. */
  readonly redisLine: LineRelay;
  /** Between the servers and the key server. */
  readonly keyLine: LineRelay;
  readonly access: FleetAccess;
  /** The same over WebSocket, where `websocket.enabled` is among the flags. */
  readonly socketAccess: FleetAccess;
  readonly #balancer: Balancer;
  readonly #issuer: Issuer;
  readonly #administration: FleetAdministration | undefined;
  readonly #alsoClosed: (() => Promise<void>)[] = [];

  private constructor(parts: {
    readonly folder: string;
    readonly replicas: readonly Replica[];
    readonly redis: KeptRedis;
    readonly redisLine: LineRelay;
    readonly keyLine: LineRelay;
    readonly access: FleetAccess;
    readonly socketAccess: FleetAccess;
    readonly balancer: Balancer;
    readonly issuer: Issuer;
    readonly administration: FleetAdministration | undefined;
  }) {
    this.folder = parts.folder;
    this.replicas = parts.replicas;
    this.redis = parts.redis;
    this.redisLine = parts.redisLine;
    this.keyLine = parts.keyLine;
    this.access = parts.access;
    this.socketAccess = parts.socketAccess;
    this.#balancer = parts.balancer;
    this.#issuer = parts.issuer;
    this.#administration = parts.administration;
  }

  /** Starts everything and waits until all servers take calls. */
  static async start({
    replicas: count,
    program,
    flags = [],
    startOf,
    isShared = true,
    administration: administer,
  }: FleetOptions): Promise<Fleet> {
    const folder = await mkdtemp(path.join(tmpdir(), 'parley-fleet-'));
    const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
    const opened = <T>(what: T, close: () => Promise<unknown>): T => {
      undo.unshift(close);
      return what;
    };
    try {
      const issuer = await startIssuer({ profile: loadProfile('fake'), lifetimeMinutes: TOKEN_MINUTES });
      opened(issuer, () => issuer.close());
      const keyLine = await LineRelay.start(Number(new URL(issuer.origin).port));
      opened(keyLine, () => keyLine.close());
      const reached = throughRelay(issuer, keyLine);
      const redis = await KeptRedis.start();
      opened(redis, () => redis.stop());
      const redisLine = await LineRelay.start(redis.port);
      opened(redisLine, () => redisLine.close());
      const administration = await administer?.({ issuer: reached, redis });
      if (administration !== undefined) opened(administration, () => administration.close());
      const store = [
        `--store.kind=redis`,
        `--store.redis.url=redis://127.0.0.1:${String(redisLine.port)}`,
        `--store.keys=["${randomBytes(32).toString('hex')}"]`,
      ];
      const shared = [
        ...commonFlags(reached),
        ...(isShared ? store : []),
        ...(administration === undefined
          ? [`--auth.data_sources=${JSON.stringify([dataSource(issuer), socketDataSource(issuer)])}`]
          : administration.flags),
        ...flags,
      ];
      const ports = await freePorts(4 * count);
      const replicas = Array.from({ length: count }, (_, index) => {
        const [grpc = 0, ops = 0, peer = 0, socket = 0] = ports.slice(4 * index);
        return new Replica({
          program,
          ports: { grpc, ops, peer, socket },
          flags: shared,
          logFile: path.join(folder, `replica-${String(index)}.log`),
        });
      });
      opened(replicas, () => Promise.all(replicas.map((replica) => replica.kill())));
      await Promise.all(replicas.map(async (replica, index) => replica.start(await startOf?.(index, { ports: replica.ports, redis }))));
      const { certificateFile, keyFile, certificatePem } = await writeThrowAwayCertificate(folder, Date.now());
      const pem = certificatePem + (await readFile(keyFile, 'utf8'));
      if (certificateFile === keyFile) throw new TypeError('certificate and key lie in one file');
      const balancer = await Balancer.start(
        folder,
        replicas.map((replica) => replica.ports),
        pem,
      );
      opened(balancer, () => balancer.stop());
      const access = {
        target: `grpcs://localhost:${String(balancer.port)}`,
        certificatePem,
        token: await (administration?.token() ?? reached.issueToken()),
        organizationId: administration?.organizationId ?? issuer.claims.organizationId,
      };
      const socketAccess = { ...access, target: access.target.replace('grpcs', 'wss'), token: await socketToken(reached) };
      return new Fleet({ folder, replicas, redis, redisLine, keyLine, access, socketAccess, balancer, issuer, administration });
    } catch (error) {
      for (const close of undo) await close().catch(() => undefined);
      throw error;
    }
  }

  /** How callers reach one server without the load balancer. */
  accessTo(replica: Replica): FleetAccess {
    return { ...this.access, target: `grpc://127.0.0.1:${String(replica.ports.grpc)}`, certificatePem: '' };
  }

  /** What the load balancer has logged lately. */
  get balancerLog(): string {
    return this.#balancer.log;
  }

  /** The log of all starts of one server. */
  async logOf(replica: Replica): Promise<string> {
    return readFile(path.join(this.folder, `replica-${String(this.replicas.indexOf(replica))}.log`), 'utf8');
  }

  /** What a fault has brought along ends with the fleet. */
  onClosed(close: () => Promise<void>): void {
    this.#alsoClosed.push(close);
  }

  /** Closes everything. */
  async close(): Promise<void> {
    for (const close of this.#alsoClosed) await close();
    await this.#balancer.stop();
    await Promise.all(this.replicas.map((replica) => replica.kill()));
    await this.redisLine.close();
    await this.redis.stop();
    await this.#administration?.close();
    await this.keyLine.close();
    await this.#issuer.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The same issuer at the address of the relay before it, so that it can be away. */
function throughRelay(issuer: Issuer, relay: LineRelay): Issuer {
  const address = `http://127.0.0.1:${String(relay.port)}${new URL(issuer.issuer).pathname}`;
  const { jws } = loadProfile('fake');
  return {
    ...issuer,
    issuer: address,
    issueToken: (overrides = {}, nowMs = Date.now()) => {
      const said = { ...issuer.claims, ...overrides };
      const iat = Math.floor(nowMs / 1000);
      return Promise.resolve(
        issuer.forge({
          claims: {
            ...{ iss: address, aud: said.audience, sub: said.subject, jti: said.nonce, iat, exp: iat + said.lifetimeMinutes * 60 },
            [jws.claims.url]: said.url,
            [jws.claims.schema]: said.schemaId,
            [jws.claims.org]: said.organizationId,
          },
          by: 'newest',
        }),
      );
    },
  };
}

function commonFlags(issuer: Issuer): readonly string[] {
  return [
    '--platform.profile=fake',
    `--platform.extra_issuers=${JSON.stringify([issuer.issuer])}`,
    '--grpc.host=127.0.0.1',
    // The load balancer ends TLS, and opens a connection for each RPC.
    '--tls.mode=off',
    '--grpc.reflection=false',
    '--grpc.max_connections=5000',
    `--bots.folder=${BOTS}`,
    '--bots.default_bot=counter',
    `--synthesizer.cache_folder=${SPOKEN_PROMPTS}`,
    // On a machine on which everything runs, the first words take their time.
    '--synthesizer.timeout_ms=60000',
    // Callers read there what they hear.
    '--media.reveal_prompt_text=true',
    // A machine on which everything runs is busy; that must refuse no call.
    '--overload.max_loop_delay_ms=0',
    '--sessions.max_per_organization=0',
    '--sessions.max_new_per_s_per_organization=0',
    '--log.level=info',
  ];
}
