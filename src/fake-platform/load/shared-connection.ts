// One HTTP/2 connection that many calls share, with its own gRPC framing: a load must spend less on a frame than the
// server does, and the gRPC library spends as much. Speaks to the same port as the other lines; knows no turn grammar.
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { loadContract, type Contract } from '../../contract/grpc.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { FRAME_SAMPLES } from '../../speech/audio-format.ts';
import { failureOf, failureOfHttp, failureOfReset, type Failure } from '../lines/failure.ts';
import { answerFromWire } from '../lines/from-wire.ts';
import type { Line, LineEnd, LineTurn, PlatformInput, TurnListener } from '../lines/line.ts';
import { PROMPT_TEXT_KEY, readPromptTexts } from '../caller/prompt-texts.ts';
import type { Target } from '../lines/target.ts';
import { requestMaker, type CallIdentity } from '../lines/to-wire.ts';
import { MessageReader, framed } from './grpc-framing.ts';

/** How to reach a server and who to be there. */
export interface SharedConnectionOptions {
  readonly target: Target;
  readonly profile: PlatformProfile;
  /** The data-source token; none sends no authorization. */
  readonly token?: string;
  /** Send `Bearer TOKEN` and not the token alone (G-03). Default false. */
  readonly bearer?: boolean;
  /** PEM of the only authorities trusted; default those of Node. */
  readonly certificateAuthority?: Uint8Array;
  /** Name the certificate must carry; default the target's host. */
  readonly serverName?: string;
  readonly clock: Clock;
  /** Longest wait for a connection, ms. */
  readonly connectLimitMs: number;
}

/** Numbers of the gRPC statuses made here. */
const STATUS = { ok: 0, unknown: 2, unavailable: 14 } as const;
/** Room for what a server sends ahead, on each turn and on all together, bytes. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;

/** A connection; `close` must be called. */
export class SharedConnection {
  readonly #options: SharedConnectionOptions;
  readonly #contract: Contract;
  readonly #session: ClientHttp2Session;
  readonly #cancelLimit: () => void;
  #whyBroken: string | undefined;
  #calls = 0;
  #turns = 0;
  #isReady = false;

  /** Dials at once; whether it succeeds, the turns tell. */
  constructor(options: SharedConnectionOptions) {
    this.#options = options;
    this.#contract = loadContract(options.profile);
    this.#session = dial(options);
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
    this.#cancelLimit = options.clock.after(options.connectLimitMs, () => {
      broke(`ETIMEDOUT: no connection within ${String(options.connectLimitMs)} ms`);
      this.#session.destroy();
    });
  }

  /** Calls that use it now. */
  get calls(): number {
    return this.#calls;
  }

  /** Turns that are open on it. */
  get turns(): number {
    return this.#turns;
  }

  /** Whether a new turn may use it: it is not broken, and the server has not asked for another one (GOAWAY). */
  get isUsable(): boolean {
    return this.#whyBroken === undefined && !this.#session.closed && !this.#session.destroyed;
  }

  /** Turns the server allows at once, as far as it has said. */
  get maxTurns(): number {
    return this.#isReady && !this.#session.destroyed
      ? (this.#session.remoteSettings.maxConcurrentStreams ?? Number.POSITIVE_INFINITY)
      : Number.POSITIVE_INFINITY;
  }

  /** The line of one call; its `close` gives the place on the connection free. */
  line(identity: CallIdentity): Line {
    const encode = encoderOf(identity, this.#contract);
    const headers = this.#headers(identity.conversationId);
    let isOpen = true;
    this.#calls += 1;
    return {
      open: (listener) => this.#open(listener, encode, headers),
      close: () => {
        if (isOpen) this.#calls -= 1;
        isOpen = false;
      },
    };
  }

  /** Ends the connection with whatever is open on it. */
  close(): void {
    this.#cancelLimit();
    this.#session.destroy();
  }

  #open(listener: TurnListener, encode: (input: PlatformInput) => Buffer, headers: Readonly<Record<string, string>>): LineTurn {
    if (!this.isUsable) return deadTurn(listener, failureOf({ code: STATUS.unavailable, details: this.#whyBroken ?? 'closed' }));
    const stream = this.#session.request(headers, { endStream: false });
    this.#turns += 1;
    const read = this.#contract.media.definition.ProcessCallerInput.responseDeserialize;
    let isOver = false;
    let halfClosed = false;
    let trailers: IncomingHttpHeaders | undefined;
    let whyBroken: string | undefined;
    const end = (how: LineEnd): void => {
      if (isOver) return;
      isOver = true;
      // A server may complete a turn while the caller still speaks.
      if (!halfClosed && !stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
      listener.ended(how);
    };
    const giveUp = (failure: Failure): void => {
      end({ kind: 'broken', failure });
      cancel(stream);
    };
    const reader = new MessageReader((message) => {
      if (!isOver) listener.answered(answerFromWire(read(message)));
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
      this.#turns -= 1;
      if (trailers !== undefined) end(endOf(trailers));
      end({ kind: 'broken', failure: this.#whyClosed(stream.rstCode, whyBroken) });
    });
    return {
      send: (input) => {
        if (!isOver && !halfClosed) stream.write(encode(input));
      },
      halfClose: () => {
        if (isOver || halfClosed) return;
        halfClosed = true;
        stream.end();
      },
      cancel: () => {
        if (!isOver) cancel(stream);
      },
    };
  }

  #whyClosed(rstCode: number, whyBroken: string | undefined): Failure {
    // A connection that is gone resets its streams by itself, but those that its GOAWAY left out were never looked at.
    const isOfServer = rstCode === constants.NGHTTP2_REFUSED_STREAM || (this.#whyBroken === undefined && !this.#session.destroyed);
    const details = this.#whyBroken ?? whyBroken ?? `closed without status, RST_STREAM ${String(rstCode)}`;
    const failure = (isOfServer ? failureOfReset(rstCode) : undefined) ?? failureOf({ code: STATUS.unavailable, details });
    // Whoever waits for the server's settings, as clients of gRPC do, would have sent nothing.
    return this.#isReady || failure.loss === undefined ? failure : { ...failure, loss: 'unreached' };
  }

  #headers(conversationId: string): Readonly<Record<string, string>> {
    const { token, bearer, profile } = this.#options;
    return {
      ':method': 'POST',
      ':path': this.#contract.media.processCallerInputPath,
      te: 'trailers',
      'content-type': 'application/grpc',
      'user-agent': 'parley-load',
      ...(token === undefined ? {} : { [profile.metadata.authorization]: bearer === true ? `Bearer ${token}` : token }),
      [profile.metadata.trackingId]: conversationId,
    };
  }
}

function dial({ target, certificateAuthority, serverName }: SharedConnectionOptions): ClientHttp2Session {
  const { host, port, isSecure } = target;
  const settings = { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES };
  const authority = `${isSecure ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
  if (!isSecure) return connect(authority, { settings });
  const checked = serverName ?? host;
  return connect(authority, {
    settings,
    ...(certificateAuthority === undefined ? {} : { ca: Buffer.from(certificateAuthority) }),
    // Node 26 refuses an IP address as the name in the handshake; which name counts is checked below.
    servername: isIP(checked) === 0 ? checked : 'localhost',
    checkServerIdentity: (_, certificate) => checkServerIdentity(checked, certificate),
  });
}

/**
 * Encodes what one call sends. Frames of audio are a template with other bytes in it: they are nearly all that is sent, and
 * encoding each anew would cost more than everything else about them.
 */
function encoderOf(identity: CallIdentity, contract: Contract): (input: PlatformInput) => Buffer {
  const { requestSerialize } = contract.media.definition.ProcessCallerInput;
  const request = requestMaker(identity);
  const mark = new Uint8Array(FRAME_SAMPLES).fill(0x5a);
  const template = framed(requestSerialize(request({ kind: 'audio', audio: mark })));
  const audioAt = template.indexOf(mark);
  return (input) => {
    if (input.kind !== 'audio' || input.audio.length !== FRAME_SAMPLES) return framed(requestSerialize(request(input)));
    // Not `Buffer.from`, which copies what it is given byte by byte.
    const message = Buffer.allocUnsafe(template.length);
    template.copy(message);
    message.set(input.audio, audioAt);
    return message;
  };
}

/** A turn on a connection that is gone: its end is told as that of any other, after the caller has it in hand. */
function deadTurn(listener: TurnListener, failure: Failure): LineTurn {
  queueMicrotask(() => {
    listener.ended({ kind: 'broken', failure });
  });
  return { send: () => undefined, halfClose: () => undefined, cancel: () => undefined };
}

function cancel(stream: ClientHttp2Stream): void {
  stream.close(constants.NGHTTP2_CANCEL);
}

function endOf(trailers: IncomingHttpHeaders): LineEnd {
  const code = Number(trailers['grpc-status'] ?? STATUS.unknown);
  if (code === STATUS.ok) {
    const texts = trailers[PROMPT_TEXT_KEY];
    return { kind: 'completed', promptTexts: typeof texts === 'string' ? readPromptTexts(Buffer.from(texts, 'base64').toString()) : [] };
  }
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
