// A real WebSocket server whose side of each call a test writes, message by message, and which keeps the exchange. It knows the
// shapes of envelopes and nothing of any engine.
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import type { JsonObject } from '../../src/base/json.ts';
import { scaledClock } from '../../src/base/scaled-clock.ts';
import { readPlatformEnvelope, type PlatformEnvelope } from '../../src/contract/envelope.ts';
import { loadProfile } from '../../src/contract/profile.ts';
import { placeCall, type CallOptions, type CallResult } from '../../src/fake-platform/caller/caller.ts';
import { tone } from './call-lab.ts';

/** One message as it came. */
export interface ReceivedEnvelope {
  readonly envelope: PlatformEnvelope;
  /** `SESSION_START`, `dtmf 1 2`, `silence`, `speech`, `PING` and so on. */
  readonly name: string;
}

/** One socket in the hands of a test. */
export interface ScriptedSocket {
  readonly request: IncomingMessage;
  readonly received: readonly ReceivedEnvelope[];
  /** How the platform closed; undefined while it has not. */
  readonly closedWith: number | undefined;
  /** Waits for the next message of this name, behind the last one that was waited for. Rejects when the socket closes before. */
  next(name: string): Promise<PlatformEnvelope>;
  /** Waits for the close. */
  closed(): Promise<number>;
  /** A response with the next number; `head` replaces what stands around the payload. */
  respond(payload: JsonObject, head?: JsonObject): void;
  /** An envelope of another kind, numbered alike. */
  tell(type: string, more?: JsonObject): void;
  raw(message: string | Buffer): void;
  close(code?: number, reason?: string): void;
  /** Drops the connection. */
  drop(): void;
  /** Keeps a PING unanswered from now on, or answers it with another number. */
  pong: 'good' | 'none' | 'own';
  /** Answers the close of the platform with this code, and not with that of the platform. */
  answerCloseWith(code: number): void;
}

/** What a test does with each call. A rejection is kept in `failures`. */
export type SocketScript = (socket: ScriptedSocket) => void | Promise<void>;

/** A running server. `close` must be called. */
export interface ScriptedSocketServer {
  readonly port: number;
  readonly target: string;
  /** Lines such as `> SESSION_START` and `< CHUNK`; what one side repeats is written once. */
  readonly exchange: readonly string[];
  readonly sockets: readonly ScriptedSocket[];
  readonly failures: readonly unknown[];
  close(): void;
}

/** How to start a server. */
export interface SocketServerOptions {
  readonly script?: SocketScript;
  /** What the list channel does; default: nothing. */
  readonly list?: (socket: WebSocket, request: IncomingMessage) => void;
  /** Stands behind the address (W-02). */
  readonly prefix?: string;
  /** HTTP status with which every upgrade is refused. */
  readonly refuse?: number;
  readonly tls?: { readonly certificateFile: string; readonly keyFile: string };
}

const AROUND = new Set(['silence', 'speech', 'probe', 'PING', 'PONG']);

/** Starts a server on a free port of 127.0.0.1. */
export async function startScriptedSocketServer(options: SocketServerOptions): Promise<ScriptedSocketServer> {
  const { script = () => undefined, list = () => undefined, prefix = '', refuse, tls } = options;
  const exchange: string[] = [];
  const sockets: ScriptedSocket[] = [];
  const failures: unknown[] = [];
  const http: Server =
    tls === undefined ? createHttpServer() : createHttpsServer({ cert: readFileSync(tls.certificateFile), key: readFileSync(tls.keyFile) });
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.on('upgrade', (request: IncomingMessage, stream, head: Buffer) => {
    stream.on('error', () => undefined);
    if (refuse !== undefined) {
      stream.end(`HTTP/1.1 ${String(refuse)} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    server.handleUpgrade(request, stream, head, (socket) => {
      socket.on('error', () => undefined);
      if (request.url?.endsWith('/v1/listVirtualAgents') === true) {
        list(socket, request);
        return;
      }
      const scripted = scriptSocket(socket, request, exchange);
      sockets.push(scripted);
      Promise.resolve()
        .then(() => script(scripted))
        .catch((error: unknown) => {
          failures.push(error);
          socket.terminate();
        });
    });
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  // A server that listens on TCP has an address of this shape.
  const { port } = http.address() as AddressInfo;
  return {
    port,
    target: (tls === undefined ? `ws://127.0.0.1:${String(port)}` : `wss://localhost:${String(port)}`) + prefix,
    exchange,
    sockets,
    failures,
    close: () => {
      for (const socket of server.clients) socket.terminate();
      http.close();
      http.closeAllConnections();
    },
  };
}

function scriptSocket(socket: WebSocket, request: IncomingMessage, exchange: string[]): ScriptedSocket {
  const received: ReceivedEnvelope[] = [];
  const waiting = new Set<() => void>();
  let seq = 0;
  let looked = 0;
  let closedWith: number | undefined;
  let lastLine = '';
  const write = (line: string): void => {
    if (line !== lastLine) exchange.push(line);
    lastLine = line;
  };
  const look = (): void => {
    for (const waiter of waiting) waiter();
  };
  const send = (envelope: JsonObject): void => {
    socket.send(JSON.stringify(envelope));
  };
  const head = (type: string): JsonObject => {
    seq += 1;
    return { type, seq, ts: '2026-01-01T00:00:00Z', conversation_id: 'conversation-1' };
  };
  const scripted: ScriptedSocket = {
    request,
    received,
    get closedWith() {
      return closedWith;
    },
    pong: 'good',
    answerCloseWith: (code) => {
      // The library answers by itself, and by this way.
      const close = socket.close.bind(socket);
      socket.close = () => {
        close(code);
      };
    },
    next: (name) =>
      new Promise((resolve, reject) => {
        const waiter = (): void => {
          const at = received.findIndex((each, index) => index >= looked && each.name === name);
          const found = received[at];
          if (found === undefined && closedWith === undefined) return;
          waiting.delete(waiter);
          if (found === undefined) {
            reject(new Error(`the socket was closed before ${name}`));
            return;
          }
          looked = at + 1;
          resolve(found.envelope);
        };
        waiting.add(waiter);
        waiter();
      }),
    closed: () =>
      new Promise((resolve) => {
        const waiter = (): void => {
          if (closedWith === undefined) return;
          waiting.delete(waiter);
          resolve(closedWith);
        };
        waiting.add(waiter);
        waiter();
      }),
    respond: (payload, more = {}) => {
      write(`< ${responseName(payload)}`);
      send({ ...head('VOICE_VA_RESPONSE'), payload, ...more });
    },
    tell: (type, more = {}) => {
      write(`< ${type}`);
      send({ ...head(type), ...more });
    },
    raw: (message) => {
      socket.send(message);
    },
    close: (code, reason) => {
      socket.close(code, reason);
    },
    drop: () => {
      socket.terminate();
    },
  };
  socket.on('message', (data: Buffer) => {
    const envelope = readPlatformEnvelope(data.toString());
    if (envelope === undefined) return;
    const name = requestName(envelope);
    received.push({ envelope, name });
    if (!AROUND.has(name)) write(`> ${name}`);
    if (name === 'PING' && scripted.pong !== 'none') {
      send({
        type: 'PONG',
        seq: scripted.pong === 'good' ? envelope.seq : 900,
        ts: envelope.ts,
        conversation_id: envelope.conversation_id,
      });
    }
    look();
  });
  socket.on('close', (code) => {
    closedWith = code;
    write(`> close ${String(code)}`);
    look();
  });
  return scripted;
}

/** The audio of a frame; undefined for other messages. */
export function audioOf(envelope: PlatformEnvelope): Buffer | undefined {
  if (envelope.type !== 'VOICE_VA_REQUEST') return undefined;
  const text = envelope.payload.voice_va_input_type.audio_input?.caller_audio_b64;
  return text === undefined || text === null ? undefined : Buffer.from(text, 'base64');
}

function requestName(envelope: PlatformEnvelope): string {
  if (envelope.type !== 'VOICE_VA_REQUEST') return envelope.type;
  const { event_input: event, dtmf_input: keys } = envelope.payload.voice_va_input_type;
  if (event !== undefined && event !== null) return event.event_type ?? '';
  if (keys !== undefined && keys !== null) return `dtmf ${(keys.dtmf_events ?? []).map((key) => key.replace('DTMF_DIGIT_', '')).join(' ')}`;
  const audio = audioOf(envelope) ?? Buffer.alloc(0);
  if (audio.length < 15) return 'probe';
  // The codes nearest to silence differ in the low bits only.
  return audio.some((code) => (code & 0x7f) < 0x60) ? 'speech' : 'silence';
}

function responseName({ response_type: type, output_events: events, prompts }: JsonObject): string {
  const event = Array.isArray(events) ? (events[0] as JsonObject)['event_type'] : undefined;
  const hasSound = JSON.stringify(prompts ?? []).includes('_b64":"') && !JSON.stringify(prompts).includes('_b64":""');
  const parts = [type, event, hasSound ? 'sound' : ''];
  return parts.filter((part): part is string => typeof part === 'string' && part !== '').join(' ');
}

/** Settings every FINAL carries that does not end the call (G-80): both inputs, one key. */
export const LISTEN: JsonObject = {
  input_mode: 'INPUT_VOICE_DTMF',
  input_handling_config: { dtmf_config: { inter_digit_timeout_msec: 3000, dtmf_input_length: 1 } },
};

/** A piece of a reply, so many ms of a tone. */
export function chunk(ms: number, bargeIn = false): JsonObject {
  const audio = Buffer.from(tone(ms)).toString('base64');
  return { response_type: 'CHUNK', prompts: [{ audio_content_b64: audio, is_barge_in_enabled: bargeIn }] };
}

/** The FINAL of a streamed reply (W-25). */
export function final(more: JsonObject = {}): JsonObject {
  return { response_type: 'FINAL', prompts: [{ audio_content_b64: '', is_barge_in_enabled: false }], ...LISTEN, ...more };
}

/** A FINAL that ends the call. */
export function ending(event: 'SESSION_END' | 'TRANSFER_TO_AGENT', metadata: JsonObject = {}): JsonObject {
  return { response_type: 'FINAL', prompts: [{ audio_content_b64: '' }], output_events: [{ event_type: event, metadata }] };
}

/** An event around speech. */
export function around(event: 'START_OF_INPUT' | 'END_OF_INPUT'): JsonObject {
  return { response_type: event === 'START_OF_INPUT' ? 'FINAL' : 'CHUNK', output_events: [{ event_type: event }] };
}

/** A reply of one piece: CHUNK and FINAL. */
export function reply(socket: ScriptedSocket, ms: number, more: JsonObject = {}, bargeIn = false): void {
  socket.respond(chunk(ms, bargeIn));
  socket.respond(final(more));
}

/** Waits for the session start and welcomes the caller. */
export async function welcome(socket: ScriptedSocket, ms = 100, more: JsonObject = {}, bargeIn = false): Promise<void> {
  await socket.next('SESSION_START');
  reply(socket, ms, more, bargeIn);
}

/** Hears one utterance. */
export async function hear(socket: ScriptedSocket): Promise<void> {
  await socket.next('speech');
  socket.respond(around('START_OF_INPUT'));
  await socket.next('silence');
  socket.respond(around('END_OF_INPUT'));
}

/** A call and the server's side of it. */
export interface SocketLabCall {
  readonly result: CallResult;
  readonly server: ScriptedSocketServer;
}

/** Places one call, twenty times as fast as life, to a server with this script, and closes the server. */
export async function callSocket(
  script: SocketScript,
  options: Partial<CallOptions> = {},
  more: SocketServerOptions = {},
): Promise<SocketLabCall> {
  const server = await startScriptedSocketServer({ script, ...more });
  try {
    const result = await placeCall({
      target: server.target,
      profile: loadProfile('fake'),
      organizationId: '11111111-2222-4333-8444-555555555555',
      conversationId: 'conversation-1',
      clock: scaledClock(20),
      // At this pace a busy machine alone would be silence for long enough.
      noInputMs: 0,
      ...options,
      // Waits that only end a test that hangs; at this pace they are seconds.
      limits: { answerMs: 120_000, connectMs: 120_000, callMs: 500_000, hangUpMs: 120_000, ...options.limits },
    });
    return { result, server };
  } finally {
    server.close();
  }
}
