// One HTTP/2 connection with its own gRPC framing, for one call or many. A load test must spend less on a frame than the server, and the
// gRPC library spends as much. Carries messages as bytes; knows no call.
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { isIP, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { dial, type DialOptions } from './dial.ts';
import { failureOf, statusOfHttp, statusOfReset, type Failure, type GrpcStatus } from './failure.ts';
import { MessageReader } from './grpc-framing.ts';

export interface RpcConnectionOptions extends DialOptions {
  readonly clock: Clock;
  /** Longest wait for a connection, ms. */
  readonly connectLimitMs: number;
  /** Receive window of each RPC, bytes. Default 4 MiB. */
  readonly streamWindowBytes?: number;
}

/** How an RPC ended: `completed` with the status OK, or `broken`. */
export type RpcEnd =
  | { readonly kind: 'completed'; readonly trailers: IncomingHttpHeaders }
  | { readonly kind: 'broken'; readonly failure: Failure; readonly status: GrpcStatus };

/** Receives what comes back on one RPC. */
export interface RpcListener {
  /** One message. An error thrown here breaks the RPC. */
  message(bytes: Buffer): void;
  /** All messages and the half-close were sent. */
  sent?(): void;
  /** Called exactly once, as the last call. */
  ended(end: RpcEnd): void;
}

/** The sending side of one RPC. Calls after its end do nothing. */
export interface Rpc {
  /** @param message - with its framing; its bytes must not change afterwards. */
  readonly send: (message: Buffer) => void;
  /** Whether messages still wait to be sent, because the server or the network accepts no more at the moment. */
  readonly isHeldBack: () => boolean;
  readonly halfClose: () => void;
  /** Cancels the RPC; `ended` follows. */
  readonly cancel: () => void;
  /** Stops reading messages, so that the server has to wait. One more may come. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Numbers of the gRPC statuses that are made here. */
const STATUS = { ok: 0, unknown: 2, internal: 13, unavailable: 14 } as const;
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
/** Receive window of all RPCs together, bytes. */
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;

/** Memory of a session, MB: a long prompt may be larger than Node's default of 10 MB. */
const MAX_SESSION_MB = 1000;

/** The headers of every RPC of a method. @param metadata - the other headers. */
export function rpcHeaders(path: string, metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    ':method': 'POST',
    ':path': path,
    te: 'trailers',
    'content-type': 'application/grpc',
    'user-agent': 'parley-fake-platform',
    ...metadata,
  };
}

/** A connection to a server; `close` must be called. */
export class RpcConnection {
  readonly #session: ClientHttp2Session;
  readonly #tcp: Socket;
  readonly #cancelLimit: () => void;
  readonly #settled: Promise<void>;
  #whyBroken: string | undefined;
  #openRpcs = 0;
  #isReady = false;

  /** Dials at once. When that fails, the RPCs report the failure. */
  constructor(options: RpcConnectionOptions) {
    const { tcp, stream } = dial(options, 'h2');
    this.#tcp = tcp;
    this.#session = sessionOver(stream, options);
    const broke = (why: string): void => {
      this.#whyBroken ??= why;
    };
    this.#session.on('error', (error: Error) => broke(error.message));
    this.#session.on('goaway', (code) => broke(`GOAWAY ${String(code)}`));
    this.#session.on('connect', () => {
      // The session may have been destroyed just before.
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    });
    // Receiving settings proves that the server speaks HTTP/2; a TCP connection alone proves nothing.
    this.#session.once('remoteSettings', () => {
      this.#isReady = true;
      this.#cancelLimit();
    });
    this.#settled = new Promise((resolve) => {
      this.#session.once('remoteSettings', () => resolve());
      this.#session.once('close', resolve);
    });
    this.#cancelLimit = options.clock.after(options.connectLimitMs, () => {
      broke(`ETIMEDOUT: no connection within ${String(options.connectLimitMs)} ms`);
      this.#session.destroy();
    });
  }

  /** Resolves when the server is connected or the connection has failed; the RPCs report a failure. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  get openRpcs(): number {
    return this.#openRpcs;
  }

  /** Whether the server has answered in HTTP/2, and the connection still works. */
  get isConnected(): boolean {
    return this.#isReady && this.isUsable;
  }

  /** Whether a new RPC may use this connection: it works, and the server has not ended it with GOAWAY. */
  get isUsable(): boolean {
    return this.#whyBroken === undefined && !this.#session.closed && !this.#session.destroyed;
  }

  /** Most parallel RPCs that the server allows; Infinity until the server has named a limit. */
  get maxRpcs(): number {
    return this.#isReady && !this.#session.destroyed
      ? (this.#session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY)
      : Number.POSITIVE_INFINITY;
  }

  /** Ends the connection and every open RPC. */
  close(): void {
    this.#cancelLimit();
    this.#session.destroy();
  }

  /** Cuts the connection with a TCP reset and without GOAWAY, as a failing network does. */
  cut(): void {
    this.#tcp.resetAndDestroy();
  }

  /** Opens an RPC. A lost connection is never thrown: the RPC ends with it. @param headers - see {@link rpcHeaders}. */
  open(headers: Readonly<Record<string, string>>, listener: RpcListener): Rpc {
    if (!this.isUsable) return deadRpc(listener, brokenBy({ code: STATUS.unavailable, details: this.#whyBroken ?? 'closed' }));
    const stream = this.#session.request(headers, { endStream: false });
    this.#openRpcs += 1;
    let isOver = false;
    let halfClosed = false;
    let trailers: IncomingHttpHeaders | undefined;
    let whyBroken: string | undefined;
    const end = (how: RpcEnd): void => {
      if (isOver) return;
      isOver = true;
      // A server may complete an RPC while the caller still speaks.
      if (!halfClosed && !stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
      listener.ended(how);
    };
    const giveUp = (broken: RpcEnd): void => {
      end(broken);
      cancel(stream);
    };
    const reader = new MessageReader((message) => {
      if (!isOver) listener.message(message);
    });
    stream.on('response', (fields) => {
      if (fields['grpc-status'] !== undefined) trailers = fields;
      else if (fields[':status'] !== 200) giveUp(brokenBy(statusOfHttp(Number(fields[':status']))));
    });
    stream.on('trailers', (fields: IncomingHttpHeaders) => {
      trailers = fields;
    });
    stream.on('data', (bytes: Buffer) => {
      if (isOver) return;
      try {
        reader.push(bytes);
      } catch (error) {
        const why = error instanceof Error ? error.message : 'no reason given';
        const failure: Failure = { code: 'garbage', message: `an answer cannot be read: ${why}` };
        giveUp({ kind: 'broken', failure, status: { code: STATUS.internal, details: failure.message } });
      }
    });
    stream.on('finish', () => listener.sent?.());
    stream.on('end', () => {
      if (trailers !== undefined) end(endOf(trailers));
    });
    stream.on('error', (error: Error) => {
      whyBroken = error.message;
    });
    stream.on('close', () => {
      this.#openRpcs -= 1;
      if (trailers !== undefined) end(endOf(trailers));
      end(this.#whyClosed(stream.rstCode, whyBroken));
    });
    return {
      send: (message) => {
        if (!isOver && !halfClosed) stream.write(message);
      },
      isHeldBack: () => stream.writableLength > 0,
      halfClose: () => {
        if (isOver || halfClosed) return;
        halfClosed = true;
        stream.end();
      },
      cancel: () => {
        if (!isOver) cancel(stream);
      },
      pause: () => stream.pause(),
      resume: () => stream.resume(),
    };
  }

  #whyClosed(rstCode: number, whyBroken: string | undefined): RpcEnd {
    // A lost connection resets its own streams; REFUSED_STREAM marks those that GOAWAY excluded and the server never processed.
    const isOfServer = rstCode === constants.NGHTTP2_REFUSED_STREAM || (this.#whyBroken === undefined && !this.#session.destroyed);
    const details = this.#whyBroken ?? whyBroken ?? `closed without status, RST_STREAM ${String(rstCode)}`;
    const status = (isOfServer ? statusOfReset(rstCode) : undefined) ?? { code: STATUS.unavailable, details };
    const refused = isOfServer && rstCode === constants.NGHTTP2_REFUSED_STREAM ? { loss: 'refused' as const } : {};
    const failure = { ...failureOf(status), ...refused };
    // gRPC clients wait for the server's settings, so without settings they would have sent nothing.
    return { kind: 'broken', status, failure: this.#isReady || failure.loss === undefined ? failure : { ...failure, loss: 'unreached' } };
  }
}

function sessionOver(stream: Socket, { target, streamWindowBytes = STREAM_WINDOW_BYTES }: RpcConnectionOptions): ClientHttp2Session {
  const { host, port, isSecure } = target;
  const authority = `${isSecure ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
  return connect(authority, {
    createConnection: () => stream,
    settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    maxSessionMemory: MAX_SESSION_MB,
  });
}

/** An RPC on a lost connection. It ends like any other, but only after `open` has returned. */
function deadRpc(listener: RpcListener, end: RpcEnd): Rpc {
  queueMicrotask(() => listener.ended(end));
  const nothing = (): undefined => undefined;
  return { send: nothing, isHeldBack: () => true, halfClose: nothing, cancel: nothing, pause: nothing, resume: nothing };
}

function cancel(stream: ClientHttp2Stream): void {
  stream.close(constants.NGHTTP2_CANCEL);
}

function endOf(trailers: IncomingHttpHeaders): RpcEnd {
  const code = Number(trailers['grpc-status'] ?? STATUS.unknown);
  if (code === STATUS.ok) return { kind: 'completed', trailers };
  const details = trailers['grpc-message'];
  return brokenBy({ code, details: typeof details === 'string' ? decoded(details) : '' });
}

function brokenBy(status: GrpcStatus): RpcEnd {
  return { kind: 'broken', failure: failureOf(status), status };
}

function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    // A message that the server has not percent-encoded is quoted as it is.
    return message;
  }
}
