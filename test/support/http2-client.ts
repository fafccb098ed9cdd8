// An HTTP/2 client below gRPC: for what no gRPC library would do, such as never half-closing, broken frames of messages
// and connections that vanish.
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { until } from './until.ts';

/** One request whose body is written piece by piece. */
export class Http2Stream {
  /** Status, once the server has sent it. */
  code: number | undefined;
  details: string | undefined;
  /** Bytes of the body received so far. */
  receivedBytes = 0;
  /** True when both sides are done or the stream was reset. */
  isClosed = false;
  readonly #stream: ClientHttp2Stream;

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      const code = headers['grpc-status'];
      if (code === undefined) return;
      this.code = Number(code);
      this.details = typeof headers['grpc-message'] === 'string' ? decodeURIComponent(headers['grpc-message']) : '';
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('data', (chunk: Buffer) => {
      this.receivedBytes += chunk.length;
    });
    stream.on('close', () => {
      this.isClosed = true;
    });
    stream.on('error', () => undefined);
  }

  /** Writes bytes as they are. */
  write(bytes: Uint8Array): this {
    this.#stream.write(bytes);
    return this;
  }

  /** Writes a message with its gRPC prefix. */
  send(message: Uint8Array): this {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    return this.write(Buffer.concat([prefix, message]));
  }

  halfClose(): this {
    this.#stream.end();
    return this;
  }

  /** Waits for the status. */
  async ended(): Promise<{ readonly code: number | undefined; readonly details: string | undefined }> {
    await until('the RPC has a status', () => this.code !== undefined || this.isClosed);
    return { code: this.code, details: this.details };
  }
}

/** One connection. Whoever opens it destroys it. */
export class Http2Client {
  readonly #socket: net.Socket;
  readonly #session: ClientHttp2Session;
  readonly #headers: OutgoingHttpHeaders;
  isClosed = false;

  /** @param options.authority - PEM to trust; plaintext without. */
  constructor(target: string, options: { readonly authority?: string; readonly authorization?: string } = {}) {
    const { hostname: host, port } = new URL(`http://${target}`);
    // The socket is kept, because the session's own is closed to us.
    this.#socket = net.connect({ host, port: Number(port) });
    const { authority } = options;
    this.#session =
      authority === undefined
        ? http2.connect(`http://${target}`, { createConnection: () => this.#socket })
        : http2.connect(`https://${target}`, {
            createConnection: () => tls.connect({ socket: this.#socket, servername: host, ca: authority, ALPNProtocols: ['h2'] }),
          });
    this.#headers = options.authorization === undefined ? {} : { authorization: options.authorization };
    this.#session.on('error', () => undefined);
    this.#session.on('close', () => {
      this.isClosed = true;
    });
  }

  /** Opens a request. */
  open(path: string, headers: OutgoingHttpHeaders = {}): Http2Stream {
    return new Http2Stream(
      this.#session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...this.#headers,
        ...headers,
      }),
    );
  }

  /** Waits until the connection stands. */
  async connected(): Promise<void> {
    await until(
      'the connection stands',
      () => !this.#session.connecting && this.#session.remoteSettings.maxConcurrentStreams !== undefined,
    );
  }

  /** Cuts the connection without a word, as a machine that loses power does. */
  vanish(): void {
    this.#socket.resetAndDestroy();
    this.#session.destroy();
  }

  destroy(): void {
    this.#session.destroy();
  }
}
