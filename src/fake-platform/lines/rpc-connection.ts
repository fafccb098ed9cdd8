// One HTTP/2 connection with its own gRPC framing, which one call or many may use: a load must spend less on a frame than the
// server does, and the gRPC library spends as much. Carries messages as bytes; knows no call.
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { isIP, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { dial, type DialOptions } from './dial.ts';
import { failureOf, failureOfHttp, failureOfReset, type Failure } from './failure.ts';
import { MessageReader } from './grpc-framing.ts';

/** How to reach a server. */
export interface RpcConnectionOptions extends DialOptions {
  readonly clock: Clock;
  /** Longest wait for a connection, ms. */
  readonly connectLimitMs: number;
  /** Room for what a server sends ahead on each RPC, bytes. Default 4 MiB. */
  readonly streamWindowBytes?: number;
}

/** How an RPC ended: with the status OK, or otherwise. */
export type RpcEnd =
  | { readonly kind: 'completed'; readonly trailers: IncomingHttpHeaders }
  | { readonly kind: 'broken'; readonly failure: Failure };

/** Hears what comes back on one RPC. */
export interface RpcListener {
  /** One message. What it throws breaks the RPC. */
  message(bytes: Buffer): void;
  /** Called exactly once, and nothing after it. */
  ended(end: RpcEnd): void;
}

/** The sending side of one RPC. Everything is harmless after its end. */
export interface Rpc {
  /** @param message - framed; its bytes must not change any more. */
  readonly send: (message: Buffer) => void;
  /** Whether what was sent has not left yet: the server, or the network, takes no more now. */
  readonly isHeldBack: () => boolean;
  readonly halfClose: () => void;
  /** Gives it up. `ended` still comes. */
  readonly cancel: () => void;
  /** Takes no more messages, so that the server has to wait. One may be on its way. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Numbers of the gRPC statuses made here. */
const STATUS = { ok: 0, unknown: 2, unavailable: 14 } as const;
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
/** Room for what a server sends ahead on all RPCs together, bytes. */
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;

/** A long prompt may be larger than all that Node lets a session hold by default, 10 MB. */
const MAX_SESSION_MB = 1000;

/** What every RPC of a method begins with. @param metadata - of this RPC. */
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

/** A connection; `close` must be called. */
export class RpcConnection {
  readonly #session: ClientHttp2Session;
  readonly #tcp: Socket;
  readonly #cancelLimit: () => void;
  readonly #settled: Promise<void>;
  #whyBroken: string | undefined;
  #openRpcs = 0;
  #isReady = false;

  /** Dials at once; whether it succeeds, the RPCs report. */
  constructor(options: RpcConnectionOptions) {
    const { tcp, stream } = dial(options, 'h2');
    this.#tcp = tcp;
    this.#session = sessionOver(stream, options);
    const broke = (why: string): void => {
      this.#whyBroken ??= why;
    };
    this.#session.on('error', (error: Error) => {
      broke(error.message);
    });
    this.#session.on('goaway', (code) => {
      broke(`GOAWAY ${String(code)}`);
    });
    this.#session.on('connect', () => {
      this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    });
    // Only a server that speaks HTTP/2 says what it allows; a bare TCP connection proves nothing.
    this.#session.once('remoteSettings', () => {
      this.#isReady = true;
      this.#cancelLimit();
    });
    this.#settled = new Promise((resolve) => {
      this.#session.once('remoteSettings', () => {
        resolve();
      });
      this.#session.once('close', resolve);
    });
    this.#cancelLimit = options.clock.after(options.connectLimitMs, () => {
      broke(`ETIMEDOUT: no connection within ${String(options.connectLimitMs)} ms`);
      this.#session.destroy();
    });
  }

  /** Resolves when the server can be asked, or the connection is gone: the RPCs report why. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** RPCs that are open on it. */
  get openRpcs(): number {
    return this.#openRpcs;
  }

  /** Whether a new RPC may use it: it is not broken, and the server has not asked for another one (GOAWAY). */
  get isUsable(): boolean {
    return this.#whyBroken === undefined && !this.#session.closed && !this.#session.destroyed;
  }

  /** RPCs the server allows at once, as far as it has said. */
  get maxRpcs(): number {
    return this.#isReady && !this.#session.destroyed
      ? (this.#session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY)
      : Number.POSITIVE_INFINITY;
  }

  /** Ends the connection with whatever is open on it. */
  close(): void {
    this.#cancelLimit();
    this.#session.destroy();
  }

  /** Cuts the connection as a failing network does: a reset, nothing said before. */
  cut(): void {
    this.#tcp.resetAndDestroy();
  }

  /** Opens an RPC. A connection that is gone is reported as its end, never thrown. @param headers - see {@link rpcHeaders}. */
  open(headers: Readonly<Record<string, string>>, listener: RpcListener): Rpc {
    if (!this.isUsable) return deadRpc(listener, failureOf({ code: STATUS.unavailable, details: this.#whyBroken ?? 'closed' }));
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
    const giveUp = (failure: Failure): void => {
      end({ kind: 'broken', failure });
      cancel(stream);
    };
    const reader = new MessageReader((message) => {
      if (!isOver) listener.message(message);
    });
    stream.on('response', (fields) => {
      if (fields['grpc-status'] !== undefined) trailers = fields;
      else if (fields[':status'] !== 200) giveUp(failureOfHttp(Number(fields[':status'])));
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
        giveUp({ code: 'garbage', message: `an answer cannot be read: ${why}` });
      }
    });
    stream.on('end', () => {
      if (trailers !== undefined) end(endOf(trailers));
    });
    stream.on('error', (error: Error) => {
      whyBroken = error.message;
    });
    stream.on('close', () => {
      this.#openRpcs -= 1;
      if (trailers !== undefined) end(endOf(trailers));
      end({ kind: 'broken', failure: this.#whyClosed(stream.rstCode, whyBroken) });
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
      pause: () => {
        stream.pause();
      },
      resume: () => {
        stream.resume();
      },
    };
  }

  #whyClosed(rstCode: number, whyBroken: string | undefined): Failure {
    // A connection that is gone resets its streams by itself, but the server never saw those that its GOAWAY left out.
    const isOfServer = rstCode === constants.NGHTTP2_REFUSED_STREAM || (this.#whyBroken === undefined && !this.#session.destroyed);
    const details = this.#whyBroken ?? whyBroken ?? `closed without status, RST_STREAM ${String(rstCode)}`;
    const failure = (isOfServer ? failureOfReset(rstCode) : undefined) ?? failureOf({ code: STATUS.unavailable, details });
    // Whoever waits for the server's settings, as clients of gRPC do, would have sent nothing.
    return this.#isReady || failure.loss === undefined ? failure : { ...failure, loss: 'unreached' };
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

/** An RPC on a connection that is gone: it ends as any other, once whoever opened it has it. */
function deadRpc(listener: RpcListener, failure: Failure): Rpc {
  queueMicrotask(() => {
    listener.ended({ kind: 'broken', failure });
  });
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
  return { kind: 'broken', failure: failureOf({ code, details: typeof details === 'string' ? decoded(details) : '' }) };
}

function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    // A server that does not escape what it says is quoted as it is.
    return message;
  }
}
