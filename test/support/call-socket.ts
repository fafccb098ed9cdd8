// A call over a socket without a wire: the real protocol and the real engine, between them a socket that keeps what it was
// given and a platform that says what a test wants.
import { readServerEnvelope, type ServerEnvelope, type SocketResponse } from '../../src/contract/envelope.ts';
import type { Bot } from '../../src/bot/bot.ts';
import type { ErrorCode } from '../../src/base/errors.ts';
import { Gate, type Visitor } from '../../src/transport/gate.ts';
import { Refusals } from '../../src/transport/refused.ts';
import { SOLE_HOME } from '../../src/transport/homes.ts';
import { SocketCall, type CallSocket, type SocketCallParts } from '../../src/transport/ws/socket-call.ts';
import { ToEnvelope } from '../../src/transport/ws/to-envelope.ts';
import { testEngine, type TestEngine } from './engine.ts';
import { flushMicrotasks } from './fake-clock.ts';

/** A conversation of a platform, and how it names itself. */
const CONVERSATION = { conversation_id: 'c-1', customer_org_id: 'org' };

/** Keeps what is sent; every message must be legal. */
class KeepingSocket implements CallSocket {
  readonly sent: ServerEnvelope[] = [];
  /** Bytes of each message, as they went out. */
  readonly messages: Buffer[] = [];
  closedWith: { readonly code: number; readonly reason: string } | undefined;
  isPaused = false;
  /** What was asked of it after its close. An error thrown there would end up in the engine and in nobody's test. */
  readonly late: string[] = [];
  /** Set to false to play a platform that does not read. */
  isRead = true;
  readonly #untaken: (() => void)[] = [];

  send(message: Buffer, onTaken: () => void): void {
    if (this.closedWith !== undefined) this.late.push(message.toString());
    this.messages.push(message);
    this.sent.push(readServerEnvelope(message.toString()));
    if (this.isRead) onTaken();
    else this.#untaken.push(onTaken);
  }

  close(code: number, reason: string): void {
    if (this.closedWith !== undefined) this.late.push('close');
    this.closedWith ??= { code, reason };
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** The platform reads what waits. */
  read(): void {
    for (const onTaken of this.#untaken.splice(0)) onTaken();
  }

  /** The answers among what was sent. */
  get answers(): readonly SocketResponse[] {
    return this.sent.flatMap((envelope) => (envelope.type === 'VOICE_VA_RESPONSE' ? [envelope.payload] : []));
  }

  /** What came, in short: `START`, `END`, `CHUNK`, `FINAL`, `FINAL+SESSION_END`, `ERROR bad_request 400`, `PONG`. */
  get said(): readonly string[] {
    return this.sent.map((envelope) => {
      if (envelope.type === 'ERROR') return `ERROR ${envelope.code} ${String(envelope.status)}`;
      return envelope.type === 'VOICE_VA_RESPONSE' ? inShort(envelope.payload) : envelope.type;
    });
  }
}

function inShort({ response_type: type, output_events: events }: SocketResponse): string {
  const names = (events ?? []).map(({ event_type }) => event_type);
  if (names.includes('START_OF_INPUT')) return 'START';
  if (names.includes('END_OF_INPUT')) return 'END';
  return [type, ...names].join('+');
}

/** One socket and the platform behind it. */
export class PlatformSocket {
  readonly socket = new KeepingSocket();
  readonly call: SocketCall;
  seq = 0;

  constructor(parts: SocketCallParts, visitor: Visitor = { kind: 'unchecked' }) {
    this.call = new SocketCall(this.socket, visitor, 'tracking-1', parts);
  }

  /** Sends a text as it is. */
  text(text: string): void {
    this.call.received(Buffer.from(text), false);
  }

  /** Sends an envelope; its number is the next one. */
  envelope(fields: object): void {
    this.seq += 1;
    const head = { seq: this.seq, ts: '2026-01-01T00:00:00Z', conversation_id: CONVERSATION.conversation_id };
    this.text(JSON.stringify({ ...head, ...fields }));
  }

  /** Sends a request with one input. */
  request(input: object, payload: object = {}, head: object = {}): void {
    this.envelope({ type: 'VOICE_VA_REQUEST', ...head, payload: { ...CONVERSATION, voice_va_input_type: input, ...payload } });
  }

  event(event_type: string, fields: object = {}): void {
    this.request({ event_input: { event_type, ...fields } });
  }

  /** Starts the conversation and waits until its welcome was said. */
  async start(): Promise<void> {
    this.event('SESSION_START');
    await flushMicrotasks();
  }

  /** Caller audio in messages of a second each. */
  audio(mulaw: Uint8Array): void {
    for (let from = 0; from < mulaw.length && this.socket.closedWith === undefined; from += 8000) {
      const caller_audio_b64 = Buffer.from(mulaw.subarray(from, from + 8000)).toString('base64');
      this.request({ audio_input: { encoding: 'MULAW_FORMAT', sample_rate_hertz: 8000, caller_audio_b64 } });
    }
  }

  press(...dtmf_events: readonly string[]): void {
    this.request({ dtmf_input: { dtmf_events } });
  }
}

/** An engine with sockets in front of it. */
export interface SocketBench extends TestEngine {
  readonly parts: SocketCallParts;
  /** Codes that sockets were refused with, in order. */
  readonly refused: ErrorCode[];
  open(visitor?: Visitor): PlatformSocket;
}

export const PEER_CLOSE_MS = 5000;
export const FIRST_MESSAGE_MS = 10_000;

/** Makes an engine and the parts of its sockets. */
export async function socketBench(
  bots: readonly Bot[],
  options: Parameters<typeof testEngine>[1] & {
    readonly socket?: Partial<SocketCallParts['settings']> & { readonly sendsNoInputTimeout?: boolean };
  } = {},
): Promise<SocketBench> {
  const { socket: { sendsNoInputTimeout = false, ...socket } = {}, ...engineOptions } = options;
  const engine = await testEngine(bots, engineOptions);
  const refused: ErrorCode[] = [];
  const parts: SocketCallParts = {
    gate: new Gate(undefined, 'websocket'),
    homes: SOLE_HOME,
    sessions: engine.sessions,
    toEnvelope: new ToEnvelope({ sendsNoInputTimeout }),
    clock: engine.clock,
    log: engine.log,
    refusals: new Refusals(engine.log, engine.clock, (code) => refused.push(code)),
    settings: {
      firstMessageTimeoutMs: FIRST_MESSAGE_MS,
      peerCloseMs: PEER_CLOSE_MS,
      maxQueuedBytes: 4_194_304,
      isRevealingText: false,
      ...socket,
    },
  };
  return { ...engine, parts, refused, open: (visitor) => new PlatformSocket(parts, visitor) };
}
