// One attempt to have a turn answered by the home of its call: a stream to the peer, its messages, and exactly one end. The
// relay decides what follows.
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { Metadata, status } from '@grpc/grpc-js';
import { toAppError } from '../../base/errors.ts';
import type { ForwardLoss, Peer } from '../../dialog/home.ts';
import { FrameReader } from './frames.ts';
import { isNotMine } from './headers.ts';
import { LinkFailure, type Links } from './links.ts';

/** The status of a successful turn. */
export const OK: number = status.OK;

/** The status with which a home ends a turn. */
export interface HomeStatus {
  readonly code: number;
  readonly details: string;
  readonly trailers?: Metadata;
}

/** How an attempt ends. `unsent`: the connection was closing, and the peer has seen nothing of the turn. */
export type AttemptEnd = { readonly kind: 'status'; readonly status: HomeStatus } | { readonly kind: ForwardLoss | 'unsent' };

export interface AttemptOwner {
  /** The stream is open and can be written. */
  onOpen(): void;
  onMessage(message: Buffer): void;
  /** More can be written. */
  onDrained(): void;
  /** Called once and last, unless the attempt was cancelled. */
  onEnd(end: AttemptEnd): void;
}

/** Trailers of gRPC itself, which are not metadata. */
const OF_THE_WIRE = ['grpc-status', 'grpc-message', 'grpc-encoding', 'grpc-accept-encoding', 'content-type', 'date'];

/** One at a time for each forwarded turn. */
export class Attempt {
  readonly home: Peer;
  readonly #owner: AttemptOwner;
  readonly #frames = new FrameReader();
  #stream: ClientHttp2Stream | undefined;
  #trailers: Readonly<Record<string, unknown>> | undefined;
  #isPaused = false;
  #isOver = false;

  constructor(links: Links, home: Peer, headers: OutgoingHttpHeaders, owner: AttemptOwner) {
    this.home = home;
    this.#owner = owner;
    links.open(home, headers).then(this.#opened, (thrown: unknown) => {
      this.#end({ kind: thrown instanceof LinkFailure ? thrown.why : 'broken' });
    });
  }

  /** Whether the stream is open. */
  get isOpen(): boolean {
    return this.#stream !== undefined && !this.#isOver;
  }

  /** Sends a frame. @returns false when the next frame should wait for `onDrained`. */
  write(frame: Buffer): boolean {
    return this.#stream?.write(frame) !== false;
  }

  halfClose(): void {
    this.#stream?.end();
  }

  /** Stops reading, which slows the home down. */
  pause(): void {
    this.#isPaused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#stream?.resume();
  }

  /** Cancels the stream. */
  cancel(): void {
    this.#isOver = true;
    this.#stream?.close(constants.NGHTTP2_CANCEL);
  }

  /** Ends the attempt because the home is dead, even if its connection is still open. */
  giveUp(): void {
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    this.#end({ kind: 'broken' });
  }

  readonly #opened = (stream: ClientHttp2Stream): void => {
    stream.on('error', () => undefined);
    if (this.#isOver) {
      stream.close(constants.NGHTTP2_CANCEL);
      return;
    }
    this.#stream = stream;
    stream.on('response', (headers) => {
      // A trailers-only response.
      if (headers['grpc-status'] !== undefined || headers[':status'] !== 200) this.#trailers = headers;
    });
    stream.on('trailers', (trailers: IncomingHttpHeaders) => {
      this.#trailers = trailers;
    });
    stream.on('data', this.#received);
    stream.on('drain', () => {
      if (!this.#isOver) this.#owner.onDrained();
    });
    // Not on `close`: the platform's half of the stream may stay open for long.
    stream.on('end', () => {
      this.#end(this.#answer());
    });
    stream.on('close', () => {
      this.#end({ kind: stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? 'unsent' : 'broken' });
    });
    if (this.#isPaused) stream.pause();
    this.#owner.onOpen();
  };

  readonly #received = (chunk: Buffer): void => {
    if (this.#isOver) return;
    try {
      for (const message of this.#frames.read(chunk)) this.#owner.onMessage(message);
    } catch (thrown) {
      const { code, message } = toAppError(thrown);
      this.#stream?.close(constants.NGHTTP2_CANCEL);
      this.#end({ kind: 'status', status: { code: status.INTERNAL, details: `${code}: ${message}`, trailers: new Metadata() } });
    }
  };

  #answer(): AttemptEnd {
    const trailers = this.#trailers;
    const code = trailers?.['grpc-status'];
    if (trailers === undefined || code === undefined || this.#frames.isInside) return { kind: 'broken' };
    if (isNotMine(trailers)) return { kind: 'not_mine' };
    return { kind: 'status', status: { code: Number(code), details: textOf(trailers['grpc-message']), trailers: metadataOf(trailers) } };
  }

  #end(end: AttemptEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Not reset: after 1,000 resets at once, or more than 33 a second, a peer cuts the connection with all its turns (nghttp2 1.61).
    if (this.#stream?.closed === false) this.#stream.end();
    this.#owner.onEnd(end);
  }
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  try {
    return decodeURI(value);
  } catch {
    return value;
  }
}

function metadataOf(trailers: Readonly<Record<string, unknown>>): Metadata {
  const own = Object.entries(trailers).filter(([name]) => !OF_THE_WIRE.includes(name));
  return Metadata.fromHttp2Headers(Object.fromEntries(own) as Record<string, string | string[]>);
}
