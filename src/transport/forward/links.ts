// The connections to other instances on which turns are forwarded: a few for each, opened when they are needed and closed when they
// are idle. Before a request is sent, the other side has shown the very certificate that the table of instances names.
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
/** What one stream may have sent that nobody here has read yet, bytes: half a second behind a reader of 16 kHz is far less. */
const WINDOW_BYTES = 131_072;
/** The same for all streams of a connection: a slow reader must not stop the others. */
const LINK_WINDOW_BYTES = 4 * 1024 * 1024;
/** Longest time for a connection, ms. Where nobody listens, the answer comes at once. */
const CONNECT_LIMIT_MS = 1000;
/** A connection without streams is closed after this long, ms. */
const IDLE_MS = 60_000;

/** Why there is no stream. `refused`: nobody listens at the address any more, or another process. */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';
  readonly why: 'refused' | 'broken';

  constructor(why: 'refused' | 'broken', message: string, cause?: unknown) {
    super(message, { cause });
    this.why = why;
  }
}

/** What they are made with. */
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

/** All of one process. Whoever made them closes them. */
export class Links {
  readonly #options: LinksOptions;
  /** By the id of the instance. */
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

  /** Opens a stream to an instance. @throws LinkFailure */
  async open(peer: Peer, headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream> {
    if (this.#isClosed) throw new LinkFailure('broken', 'this process forwards nothing any more');
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
      // The connection got its GOAWAY between two turns of the event loop.
      this.#forget(peer, link);
      throw new LinkFailure('broken', 'the connection to a peer takes no more streams', thrown);
    }
  }

  /** Breaks the connections to an instance that is dead. */
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

  /** Breaks all connections. */
  close(): void {
    this.#isClosed = true;
    for (const links of this.#links.values()) for (const link of links) link.cancelIdle?.();
    this.#links.clear();
    for (const session of this.#sessions) session.destroy();
  }

  /** The one with the fewest streams, or a new one where all have many. */
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
        // Open streams end well on it; the next one gets a new connection.
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
          this.#options.log.warn({ peer: peer.id, leftOut }, 'a peer answers nothing on its connection: what was forwarded there moves on');
        this.#forget(peer, link);
        session.destroy();
      },
    });
  }

  async #connect(peer: Peer): Promise<ClientHttp2Session> {
    const socket = await this.#connected(peer);
    if (this.#isClosed) {
      socket.destroy();
      throw new LinkFailure('broken', 'this process forwards nothing any more');
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

  /** A connection to the process that is meant, and to no other. @throws LinkFailure */
  #connected(peer: Peer): Promise<TLSSocket> {
    const { identity, clock, log } = this.#options;
    const { hostname, port } = new URL(`https://${peer.address}`);
    return new Promise((resolve, reject) => {
      // No authority has signed it: it must be the one that is written in the table of instances.
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
