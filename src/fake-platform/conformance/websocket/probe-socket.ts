// One socket to a server: sends any message, even messages that no honest platform sends, and
// keeps, within limits, the answer to the upgrade, the messages, and the close. Knows no call and no rule.
import type { IncomingMessage } from 'node:http';
import { WebSocket, type RawData } from 'ws';
import type { Clock } from '../../../base/clock.ts';
import type { PlatformProfile } from '../../../contract/profile.ts';
import type { Failure } from '../../lines/failure.ts';
import { dial, type DialOptions } from '../../lines/dial.ts';
import { targetText, type Target } from '../../lines/target.ts';
import { failureOfConnection } from '../../lines/socket/socket-failure.ts';
import { Awaited } from '../awaited.ts';
import { quoted, type ExchangeLog } from '../exchange.ts';
import { redactor, type Redactor } from '../tokens.ts';
import { errorsIn, messageText, readMessage, type Message } from './message.ts';

/** How to reach a server, and the token to present. */
export interface SocketOptions extends DialOptions {
  readonly target: Target;
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  /** The channel; an unknown path begins with a slash (W-01). */
  readonly channel: 'voice' | 'list' | `/${string}`;
  /** Value of the header as sent; undefined sends none. */
  readonly authorization: string | undefined;
  /** The good token, which is never shown, even if the server repeats it. */
  readonly token?: string | undefined;
  /** Whether compressed messages are offered. Default false. */
  readonly isCompressing?: boolean;
  /** Longest wait for the answer to the upgrade, ms. */
  readonly handshakeMs: number;
}

export type Handshake =
  | { readonly kind: 'open'; readonly extensions: string }
  /** The upgrade was answered with another status than 101; `words` is the text of the body. */
  | { readonly kind: 'refused'; readonly status: number; readonly words: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** How a socket was closed: 1005 without a code, 1006 without a close frame. */
export interface Closing {
  readonly code: number;
  /** When the socket was closed, monotonic, ms. */
  readonly atMs: number;
  /** Whether the server closed the socket without our asking. */
  readonly isByServer: boolean;
}

/** Most messages of one socket, and most bytes; a server that sends more is cut off. */
const [MAX_RECEIVED, MAX_BYTES] = [20_000, 24 * 1024 * 1024];
/** Largest message accepted, bytes. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Most characters read from the body of a rejection. */
const MAX_WORDS = 2000;
/** How long the server may take to answer our close, ms. */
const CLOSE_MS = 3000;
/** Status codes and close code with which a server says that it has no room. */
const [NO_ROOM_STATUS, NO_ROOM_CODE] = [[429, 503], 1013];

/** One socket. Close it after use. Sending on a closed socket does nothing. */
export class ProbeSocket {
  readonly name: string;
  readonly received: Message[] = [];
  /** The answer to the upgrade; undefined until it comes. */
  handshake: Handshake | undefined;
  closing: Closing | undefined;
  /** Number of pongs at the level of the WebSocket protocol (W-42). */
  pongs = 0;
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #log: ExchangeLog;
  readonly #redact: Redactor;
  readonly #awaited: Awaited;
  #bytes = 0;
  #hasAskedToClose = false;
  #isGivenUp = false;
  #isFlooded = false;

  constructor(name: string, options: SocketOptions, log: ExchangeLog) {
    this.name = name;
    this.#clock = options.clock;
    this.#log = log;
    this.#redact = redactor(options.authorization, options.token);
    this.#awaited = new Awaited(options.clock, () => this.#isGivenUp);
    log.add('platform', name, `upgrade of ${pathOf(options)}${options.authorization === undefined ? ' without a token' : ''}`);
    this.#socket = new WebSocket(`${targetText({ ...options.target, pathPrefix: '' })}${pathOf(options)}`, socketOptions(options));
    this.#listen(options);
  }

  /** Whether the server said that it has no room. Then its behaviour says nothing about a rule. */
  get isOverloaded(): boolean {
    const { handshake, closing } = this;
    if (handshake?.kind === 'refused' && NO_ROOM_STATUS.includes(handshake.status)) return true;
    return closing?.code === NO_ROOM_CODE || errorsIn(this.received).some(({ code }) => code === 'rate_limit');
  }

  get isOpen(): boolean {
    return this.handshake?.kind === 'open' && this.closing === undefined && !this.#isGivenUp;
  }

  /** Whether no more messages can come. */
  get isOver(): boolean {
    return this.closing !== undefined || this.#isGivenUp || (this.handshake !== undefined && this.handshake.kind !== 'open');
  }

  /** The state of the socket, as the rest of a sentence that begins with the socket's name. */
  get stateText(): string {
    const { handshake, closing } = this;
    if (handshake?.kind === 'refused') return `was answered with HTTP ${String(handshake.status)}`;
    if (handshake?.kind === 'failed') return `was not upgraded: ${handshake.failure.message}`;
    if (handshake === undefined) return 'got no answer to the upgrade';
    if (this.#isFlooded) return 'was flooded with more than any call can be';
    return closing?.isByServer === true ? `was closed with ${String(closing.code)}` : 'was left without an answer';
  }

  /** Waits for the answer to the upgrade. */
  async upgraded(): Promise<Handshake> {
    // No limit here: the library ends every upgrade within its own time limit.
    await this.#awaited.until(() => this.handshake !== undefined, 2 ** 30);
    return this.handshake ?? { kind: 'failed', failure: { code: 'closed_early', message: 'the upgrade was given up' } };
  }

  /** Waits until the condition holds or `limitMs` have passed. @returns whether the condition holds. */
  until(condition: () => boolean, limitMs: number): Promise<boolean> {
    return this.#awaited.until(condition, limitMs);
  }

  /** Sends a text frame. @param what - describes the frame in the exchange. */
  sendText(text: string, what: string): void {
    if (!this.isOpen) return;
    this.#log.add('platform', this.name, what);
    this.#socket.send(text);
  }

  sendBinary(bytes: Uint8Array, what: string): void {
    if (!this.isOpen) return;
    this.#log.add('platform', this.name, what);
    this.#socket.send(bytes, { binary: true });
  }

  ping(): void {
    if (!this.isOpen) return;
    this.#log.add('platform', this.name, 'ping of the protocol');
    this.#socket.ping();
  }

  /** Closes the socket as the platform does, and waits for the server's close frame. */
  async close(): Promise<void> {
    if (this.isOpen) {
      this.#log.add('platform', this.name, 'close 1000');
      this.#hasAskedToClose = true;
      this.#socket.close(1000);
      await this.until(() => this.closing !== undefined, CLOSE_MS);
    }
    this.drop();
  }

  /** Drops the connection without a close frame. */
  drop(): void {
    if (this.closing !== undefined || this.#isGivenUp) return;
    this.#isGivenUp = true;
    this.#socket.terminate();
    this.#awaited.check();
  }

  #listen({ handshakeMs }: SocketOptions): void {
    const socket = this.#socket;
    socket.on('open', () => this.#shake({ kind: 'open', extensions: socket.extensions }, 'the socket is open'));
    socket.on('unexpected-response', (request, response) => {
      this.#refused(response, () => request.destroy());
    });
    socket.on('error', (error) => {
      if (this.handshake !== undefined) return;
      const isLate = error.message.includes('timed out');
      const failure: Failure = isLate
        ? { code: 'no_answer', message: `the server did not answer the upgrade within ${String(handshakeMs)} ms` }
        : failureOfConnection(this.#redact(error.message));
      this.#shake({ kind: 'failed', failure }, `the upgrade failed: ${failure.code}`);
    });
    socket.on('message', (data, isBinary) => this.#take(bytesOf(data), isBinary));
    socket.on('pong', () => {
      this.pongs += 1;
      this.#log.add('server', this.name, 'pong of the protocol');
      this.#awaited.check();
    });
    socket.on('close', (code, reason) => {
      if (this.handshake?.kind !== 'open' || this.#isGivenUp) return;
      this.closing = { code, atMs: this.#clock.monotonicMs(), isByServer: !this.#hasAskedToClose };
      this.#log.add('server', this.name, `closed ${String(code)} ${quoted(this.#redact(reason.toString()))}`);
      this.#awaited.check();
    });
  }

  #shake(handshake: Handshake, what: string): void {
    if (this.handshake !== undefined || this.#isGivenUp) return;
    this.handshake = handshake;
    this.#log.add('server', this.name, what);
    this.#awaited.check();
  }

  #refused(response: IncomingMessage, end: () => void): void {
    let words = '';
    const settle = (): void => {
      const code = response.statusCode ?? 0;
      this.#shake({ kind: 'refused', status: code, words: this.#redact(words) }, `HTTP ${String(code)} ${quoted(this.#redact(words))}`);
      end();
    };
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      words = (words + part).slice(0, MAX_WORDS);
    });
    response.on('error', settle);
    response.on('close', settle);
    // The status is enough when the body is not complete in time.
    this.#clock.after(CLOSE_MS, settle);
  }

  #take(data: Uint8Array, isBinary: boolean): void {
    if (this.#isGivenUp) return;
    const message = readMessage(data, isBinary, this.#clock.monotonicMs());
    this.#bytes += message.bytes;
    this.received.push(message);
    this.#log.add('server', this.name, this.#redact(messageText(message)));
    if (this.received.length > MAX_RECEIVED || this.#bytes > MAX_BYTES) {
      this.#isFlooded = true;
      this.#log.add('suite', this.name, `the server flooded it with ${String(this.received.length)} messages: cut off`);
      this.drop();
    }
    this.#awaited.check();
  }
}

function pathOf({ channel, profile, target }: SocketOptions): string {
  const paths = profile.websocket;
  const path = channel === 'voice' ? paths?.voicePath : channel === 'list' ? paths?.listPath : channel;
  return `${target.pathPrefix ?? ''}${path ?? '/'}`;
}

function socketOptions(options: SocketOptions): ConstructorParameters<typeof WebSocket>[2] {
  const { authorization, isCompressing = false, handshakeMs } = options;
  return {
    createConnection: () => dial(options, 'http/1.1').stream,
    headers: authorization === undefined ? {} : { authorization },
    perMessageDeflate: isCompressing ? { threshold: 0 } : false,
    handshakeTimeout: handshakeMs,
    maxPayload: MAX_MESSAGE_BYTES,
    followRedirects: false,
  };
}

function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
