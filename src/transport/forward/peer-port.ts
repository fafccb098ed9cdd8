// The port on which other instances forward turns to this one. A connection whose certificate is not in the table of
// instances is cut before a byte reaches HTTP. The limits of the public listeners do not apply here.
import { constants } from 'node:crypto';
import net from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { pause, waitAtMost } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { LinePacer } from '../../base/line-pacer.ts';
import type { Logger } from '../../base/log.ts';
import { listen } from '../socket-listener.ts';
import type { CallHomes } from '../homes.ts';
import { Deliveries } from './deliveries.ts';
import type { PeerIdentity } from './identity.ts';
import { OpenSet } from './open-set.ts';
import { bytesMethod, peerService, type AnswerQuestion } from './peer-service.ts';

/** Streams per connection: more than a peer's link opens, so no stream waits for another. */
const STREAMS_PER_CONNECTION = 4000;
/** Interval of pings and longest wait for an answer, ms: turns from a lost machine must end. */
const KEEPALIVE_MS = 10_000;
const HANDSHAKE_LIMIT_MS = 5000;
/** Most unauthenticated connections. A further one cuts the oldest: a real peer authenticates within a few ms. */
const MAX_UNAUTHENTICATED = 256;
/** Longest wait for a refresh of the table of instances, ms. */
const REFRESH_LIMIT_MS = 1000;
/** Shortest time between two refreshes, ms: many bad connections must not load the table. */
const REFRESH_PAUSE_MS = 100;
/** Most connections that wait for a refresh. */
const MAX_WAITING = 64;
/** Never: only `close` cuts connections, ms. */
const NEVER_MS = 2 ** 31 - 1;
/** Longest wait for peers to read the last bytes, ms. */
const FLUSH_LIMIT_MS = 500;

/** The certificates of all instances. */
export interface KnownCertificates {
  /** @param fingerprint - as `X509Certificate.fingerprint256` has it. */
  has(fingerprint: string): boolean;
  /** Refreshes the table of instances. May reject. */
  refresh(): Promise<unknown>;
}

export interface PeerPortOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly identity: PeerIdentity;
  /** The id that forwarded turns must name. */
  readonly instanceId: string;
  readonly known: KnownCertificates;
  /** Largest message read. */
  readonly maxMessageBytes: number;
  /** Answers questions of operators. Default: they are refused. */
  readonly answer?: AnswerQuestion;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A forwarded turn; its messages are bytes. */
type PeerTurn = ServerDuplexStream<Buffer, Buffer>;

/** An open peer port. Close it last, because a process that accepts connections counts as alive. */
export interface PeerPort {
  readonly instanceId: string;
  readonly port: number;
  /**
   * Starts to serve turns and probes.
   *
   * @param path - of the RPC for turns.
   * @param handler - handles a turn. `delivered` tells whether the reply reached the platform; see {@link Deliveries.wait}.
   */
  serve(
    path: string,
    handler: (turn: PeerTurn, delivered: (turnId: string) => Promise<boolean>) => void,
    homes: Pick<CallHomes, 'has'>,
  ): void;
  /** Lets open turns finish until `limitMs`, then cuts them. Accepts connections until the last turn is over. */
  close(limitMs: number): Promise<void>;
}

/** Opens the peer port. @throws AppError `listen_failed`. */
export async function openPeerPort(options: PeerPortOptions): Promise<PeerPort> {
  const { host, port, identity, instanceId, maxMessageBytes, clock, log } = options;
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': STREAMS_PER_CONNECTION,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_MS,
    'grpc.enable_channelz': 0,
  });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const sockets = new OpenSet<net.Socket>();
  /** Unauthenticated connections by peer address, the oldest first. */
  const unauthenticated = new Map<string, net.Socket>();
  /** Authenticated connections by peer address. */
  const authenticated = new Map<string, TLSSocket>();
  const turns = new OpenSet<PeerTurn>();
  const deliveries = new Deliveries(clock);
  const check = new PeerCheck(options);
  const state = { isServing: false };
  const secure = tls.createServer(
    {
      cert: identity.certificate,
      key: identity.key,
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.3',
      handshakeTimeout: HANDSHAKE_LIMIT_MS,
      // Self-signed: the check below compares the certificate with the table of instances.
      requestCert: true,
      rejectUnauthorized: false,
      // Without session tickets every handshake shows the peer's certificate.
      secureOptions: constants.SSL_OP_NO_TICKET,
    },
    (socket) => {
      const take = (isKnown: boolean): void => {
        if (!isKnown || !state.isServing || socket.destroyed) {
          socket.destroy();
          return;
        }
        const peer = otherEnd(socket);
        unauthenticated.delete(peer);
        authenticated.set(peer, socket);
        socket.once('close', () => {
          authenticated.delete(peer);
          deliveries.cut(socket);
        });
        injector.injectConnection(socket);
      };
      const isKnown = check.lets(socket);
      if (typeof isKnown === 'boolean') take(isKnown);
      else void isKnown.then(take);
    },
  );
  secure.on('tlsClientError', (error, socket) => {
    log.debug({ err: error }, 'a TLS handshake on the peer port failed');
    socket.destroy();
  });
  const listener = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    sockets.add(socket);
    const from = otherEnd(socket);
    unauthenticated.set(from, socket);
    socket.once('close', () => {
      sockets.delete(socket);
      if (unauthenticated.get(from) === socket) unauthenticated.delete(from);
    });
    const [oldest] = unauthenticated;
    if (unauthenticated.size > MAX_UNAUTHENTICATED && oldest !== undefined) {
      unauthenticated.delete(oldest[0]);
      oldest[1].destroy();
    }
    secure.emit('connection', socket);
  });
  // Exclusive: on a port shared by workers, a connection would reach any of them.
  const bound = await listen(listener, host, port, true);
  listener.on('error', (error) => {
    log.error({ err: error }, 'the socket of the peer port failed');
  });
  return {
    instanceId,
    port: bound.port,
    serve: (path, handler, homes) => {
      const Turn = (turn: PeerTurn): void => {
        turns.add(turn);
        // The turn has ended already.
        turn.on('cancelled', () => {
          turns.delete(turn);
        });
        const socket = authenticated.get(turn.getPeer());
        handler(turn, (turnId) => deliveries.wait(turnId, socket));
      };
      server.addService({ Turn: bytesMethod(path, true) }, { Turn });
      const others = peerService(instanceId, homes, deliveries, options.answer ?? (() => Promise.reject(new Error('nobody answers'))));
      server.addService(others.definition, others.handlers);
      state.isServing = true;
    },
    close: async (limitMs) => {
      injector.drain(NEVER_MS);
      await waitAtMost(turns.gone(), limitMs, clock);
      // Includes connections that were accepted meanwhile.
      injector.drain(NEVER_MS);
      listener.close();
      await waitAtMost(sockets.gone(), Math.min(limitMs, FLUSH_LIMIT_MS), clock);
      for (const socket of sockets.all) socket.destroy();
      await sockets.gone();
      server.forceShutdown();
      secure.close();
    },
  };
}

function otherEnd({ remoteAddress, remotePort }: net.Socket): string {
  return `${String(remoteAddress)}:${String(remotePort)}`;
}

/** Checks the certificates of peers. */
class PeerCheck {
  readonly #options: Pick<PeerPortOptions, 'known' | 'clock' | 'log'>;
  readonly #pacer: LinePacer<'unknown'>;
  #refreshing: Promise<void> | undefined;
  #waiting = 0;
  #mayRefreshAtMs = 0;

  constructor(options: Pick<PeerPortOptions, 'known' | 'clock' | 'log'>) {
    this.#options = options;
    this.#pacer = new LinePacer(options.clock);
  }

  /** Synchronous for a known certificate; otherwise the table is refreshed first. Never rejects. */
  lets(socket: TLSSocket): boolean | Promise<boolean> {
    socket.on('error', () => undefined);
    const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
    if (fingerprint !== undefined && this.#options.known.has(fingerprint)) return true;
    if (fingerprint === undefined || this.#waiting >= MAX_WAITING) return this.#refuse();
    return this.#checkAgain(fingerprint);
  }

  async #checkAgain(fingerprint: string): Promise<boolean> {
    this.#waiting += 1;
    this.#refreshing ??= this.#refresh();
    await this.#refreshing;
    this.#waiting -= 1;
    return this.#options.known.has(fingerprint) || this.#refuse();
  }

  async #refresh(): Promise<void> {
    const { known, clock } = this.#options;
    await pause(Math.max(0, this.#mayRefreshAtMs - clock.monotonicMs()), clock);
    await waitAtMost(
      known.refresh().catch(() => undefined),
      REFRESH_LIMIT_MS,
      clock,
    );
    this.#mayRefreshAtMs = clock.monotonicMs() + REFRESH_PAUSE_MS;
    this.#refreshing = undefined;
  }

  #refuse(): false {
    const leftOut = this.#pacer.next('unknown');
    if (leftOut !== undefined)
      this.#options.log.warn({ leftOut }, 'a connection to the peer port was refused: no instance has its certificate');
    return false;
  }
}
