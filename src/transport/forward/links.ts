// The connections to other instances for forwarded turns: a few per instance, opened when needed and closed when
// idle. Before a request is sent, the peer must show the certificate that it has in the table of instances.
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';
import tls, { type TLSSocket } from 'node:tls';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { LinePacer } from '../../base/line-pacer.ts';
import type { Logger } from '../../base/log.ts';
import type { Peer } from '../../dialog/home.ts';
import type { PeerIdentity } from './identity.ts';
import { Keepalive } from './keepalive.ts';

/** Most connections to one instance. */
const LINKS_PER_PEER = 4;
/** Streams on one connection before the next is opened. */
const STREAMS_PER_LINK = 400;
/** Flow-control window of one stream, bytes; far more than half a second of 16 kHz audio. */
const WINDOW_BYTES = 131_072;
/** Flow-control window of a connection, bytes: a slow reader must not stop the other streams. */
const LINK_WINDOW_BYTES = 4 * 1024 * 1024;
/** Longest wait for a connection, ms. A closed port refuses at once. */
const CONNECT_LIMIT_MS = 1000;
/** A connection without streams is closed after this long, ms. */
const IDLE_MS = 60_000;

/** Why there is no stream. `refused`: the address has no listening process, or one of another instance. */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';
  readonly why: 'refused' | 'broken';

  constructor(why: 'refused' | 'broken', message: string, cause?: unknown) {
    super(message, { cause });
    this.why = why;
  }
}

export interface LinksOptions {
  readonly identity: PeerIdentity;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Link {
  readonly session: Promise<ClientHttp2Session>;
  streams: number;
  cancelIdle: CancelTimer | undefined;
  /** Undefined: not connected yet. */
  keepalive: Keepalive | undefined;
}

/** All links of one process. The creator closes them. */
export class Links {
  readonly #options: LinksOptions;
  /** By instance id. */
  readonly #links = new Map<string, Set<Link>>();
  readonly #sessions = new Set<ClientHttp2Session>();
  readonly #pacer: LinePacer<'other certificate' | 'silent'>;
  #isClosed = false;

  constructor(options: LinksOptions) {
    this.#options = options;
    this.#pacer = new LinePacer(options.clock);
  }

  /** Connections that are open or being opened. */
  get size(): number {
    return [...this.#links.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Opens a stream to an instance. @throws LinkFailure. */
  async open(peer: Peer, headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream> {
    if (this.#isClosed) throw new LinkFailure('broken', 'this process no longer forwards turns');
    const link = this.#roomFor(peer);
    link.streams += 1;
    link.cancelIdle?.();
    try {
      const stream = (await link.session).request({ ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers', ...headers });
      stream.once('close', () => {
        this.#left(peer, link);
      });
      link.keepalive?.start();
      return stream;
    } catch (thrown) {
      this.#left(peer, link);
      if (thrown instanceof LinkFailure) throw thrown;
      // The connection has just received its GOAWAY.
      this.#forget(peer, link);
      throw new LinkFailure('broken', 'the connection to a peer accepts no more streams', thrown);
    }
  }

  /** Destroys the connections to a dead instance. */
  drop(instanceId: string): void {
    for (const link of this.#links.get(instanceId) ?? []) {
      link.cancelIdle?.();
      link.session.then(
        (session) => {
          session.destroy();
        },
        () => undefined,
      );
    }
    this.#links.delete(instanceId);
  }

  /** Destroys all connections. */
  close(): void {
    this.#isClosed = true;
    for (const links of this.#links.values()) for (const link of links) link.cancelIdle?.();
    this.#links.clear();
    for (const session of this.#sessions) session.destroy();
  }

  /** The link with the fewest streams, or a new one when all are busy. */
  #roomFor(peer: Peer): Link {
    const links = this.#links.get(peer.id) ?? new Set();
    this.#links.set(peer.id, links);
    const [least] = [...links].sort((one, other) => one.streams - other.streams);
    if (least !== undefined && (least.streams < STREAMS_PER_LINK || links.size >= LINKS_PER_PEER)) return least;
    const link: Link = { session: this.#connect(peer), streams: 0, cancelIdle: undefined, keepalive: undefined };
    links.add(link);
    link.session.then(
      (session) => {
        link.keepalive = this.#keepalive(session, peer, link);
        // Open streams may finish; the next stream gets a new connection.
        session.once('goaway', () => {
          this.#forget(peer, link);
        });
        session.once('close', () => {
          this.#forget(peer, link);
        });
        if (session.closed || session.destroyed) this.#forget(peer, link);
      },
      () => {
        this.#forget(peer, link);
      },
    );
    return link;
  }

  #keepalive(session: ClientHttp2Session, peer: Peer, link: Link): Keepalive {
    return new Keepalive(session, {
      clock: this.#options.clock,
      isNeeded: () => link.streams > 0,
      onSilent: () => {
        const leftOut = this.#pacer.next('silent');
        if (leftOut !== undefined)
          this.#options.log.warn({ peer: peer.id, leftOut }, 'a peer does not answer on its connection: its forwarded turns move on');
        this.#forget(peer, link);
        session.destroy();
      },
    });
  }

  async #connect(peer: Peer): Promise<ClientHttp2Session> {
    const socket = await this.#connected(peer);
    if (this.#isClosed) {
      socket.destroy();
      throw new LinkFailure('broken', 'this process no longer forwards turns');
    }
    const session = http2.connect(`https://${peer.address}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
    });
    this.#sessions.add(session);
    session.on('error', (error) => {
      this.#options.log.debug({ err: error, peer: peer.id }, 'a connection to a peer broke');
    });
    session.once('close', () => {
      this.#sessions.delete(session);
    });
    session.setLocalWindowSize(LINK_WINDOW_BYTES);
    return session;
  }

  /** A connection to exactly this peer. @throws LinkFailure. */
  #connected(peer: Peer): Promise<TLSSocket> {
    const { identity, clock, log } = this.#options;
    const { hostname, port } = new URL(`https://${peer.address}`);
    return new Promise((resolve, reject) => {
      // Self-signed: the certificate is compared with the table of instances below.
      const socket = tls.connect({
        host: hostname.replace(/^\[|\]$/gu, ''),
        port: Number(port === '' ? 443 : port),
        cert: identity.certificate,
        key: identity.key,
        ALPNProtocols: ['h2'],
        minVersion: 'TLSv1.3',
        rejectUnauthorized: false,
      });
      const fail = (failure: LinkFailure): void => {
        cancelTimer();
        socket.destroy();
        reject(failure);
      };
      const cancelTimer = clock.after(CONNECT_LIMIT_MS, () => {
        fail(new LinkFailure('broken', 'a peer did not answer in time'));
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        const isRefused = error.code === 'ECONNREFUSED';
        fail(new LinkFailure(isRefused ? 'refused' : 'broken', 'no connection to a peer', error));
      });
      socket.once('close', () => {
        fail(new LinkFailure('broken', 'a peer closed the connection'));
      });
      socket.once('secureConnect', () => {
        if (socket.getPeerX509Certificate()?.fingerprint256 === peer.certificate) {
          cancelTimer();
          socket.setNoDelay(true);
          resolve(socket);
          return;
        }
        const leftOut = this.#pacer.next('other certificate');
        if (leftOut !== undefined)
          log.warn({ peer: peer.id, leftOut }, 'another process listens at the address of a peer: nothing was sent');
        fail(new LinkFailure('refused', 'another process listens at the address of a peer'));
      });
    });
  }

  #left(peer: Peer, link: Link): void {
    link.streams -= 1;
    if (link.streams > 0 || this.#links.get(peer.id)?.has(link) !== true) return;
    link.cancelIdle = this.#options.clock.after(IDLE_MS, () => {
      this.#forget(peer, link);
      void link.session.then((session) => {
        session.close();
      });
    });
  }

  #forget(peer: Peer, link: Link): void {
    link.cancelIdle?.();
    const links = this.#links.get(peer.id);
    links?.delete(link);
    if (links?.size === 0) this.#links.delete(peer.id);
  }
}
