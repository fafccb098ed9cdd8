// The other side of a socket, without any rule of the contract: says what a test tells it to and keeps what comes back.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket, type ClientOptions } from 'ws';
import { loadProfile } from '../../src/contract/profile.ts';
import type { Issuer, TokenClaims } from '../../src/fake-platform/platform/issuer.ts';
import type { RunningServer } from './running-server.ts';
import { until, within } from './until.ts';

/** Flags that take calls over WebSocket, on a free port of loopback. */
export const WITH_SOCKETS = ['--websocket.enabled=true', '--websocket.host=127.0.0.1', '--websocket.port=0'];

/** What a token says beside what every token of a test issuer says, to be good for a WebSocket (J-2E, W-03). */
const SOCKET_CLAIMS: Pick<TokenClaims, 'url' | 'schemaId'> = { url: 'wss://localhost', schemaId: loadProfile('fake').schemas.websocket };

/** The data source of the tokens that {@link socketToken} makes, as the configuration wants it. */
export function socketDataSource({ claims }: Issuer): Readonly<Record<string, string>> {
  return {
    id: 'ds-test-socket',
    organization_id: claims.organizationId,
    url: SOCKET_CLAIMS.url,
    schema_id: SOCKET_CLAIMS.schemaId,
    audience: claims.audience,
    subject: claims.subject,
    nonce: claims.nonce,
    transport: 'websocket',
  };
}

/** A token for a WebSocket. */
export function socketToken(issuer: Issuer, overrides: Partial<TokenClaims> = {}): Promise<string> {
  return issuer.issueToken({ ...SOCKET_CLAIMS, ...overrides });
}

/** How a socket ended. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

/** A connected socket. */
export class SocketPeer {
  readonly socket: WebSocket;
  /** Every message of the other side, parsed, in order. */
  readonly messages: unknown[] = [];
  /** How it was closed; undefined while it is open. */
  end: SocketEnd | undefined;
  readonly #closed: Promise<SocketEnd>;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      // The sockets of this class hand out buffers.
      this.messages.push(JSON.parse((data as Buffer).toString()));
    });
    socket.on('error', () => undefined);
    this.#closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.end = { code, reason: reason.toString() };
        resolve(this.end);
      });
    });
  }

  /** Connects. @throws Error that names the status of an upgrade that was refused. */
  static async connect(url: string, options: ClientOptions = {}): Promise<SocketPeer> {
    const peer = new SocketPeer(new WebSocket(url, options));
    const refused = new Promise<never>((_, reject) => {
      peer.socket.once('unexpected-response', (_request, response: IncomingMessage) => {
        reject(new Error(`the upgrade was refused with ${String(response.statusCode)}`));
        peer.socket.terminate();
      });
      peer.socket.once('error', reject);
    });
    await within('a socket stands', Promise.race([once(peer.socket, 'open'), refused]));
    return peer;
  }

  /** Sends text as it is, anything else as JSON. */
  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Waits until so many messages are there. */
  async heard(count: number): Promise<readonly unknown[]> {
    await until(`${String(count)} messages are there`, () => this.messages.length >= count);
    return this.messages;
  }

  /** Waits for the end. */
  closed(): Promise<SocketEnd> {
    return within('the socket is closed', this.#closed);
  }
}

/** `wss://localhost:PORT` or `ws://…`, where a server takes calls over WebSocket; the path goes behind it. */
export function socketOrigin({ app }: RunningServer): string {
  const { websocket } = app.ready;
  if (websocket === undefined) throw new Error('the server takes no calls over WebSocket');
  return `${websocket.security === 'TLS' ? 'wss' : 'ws'}://localhost:${String(websocket.port)}`;
}

/** Connects to a server with a good token, unless told otherwise. */
export async function connectSocket(server: RunningServer, path = '/v1/va', authorization?: string): Promise<SocketPeer> {
  const given = authorization ?? `Bearer ${await socketToken(server.issuer)}`;
  return SocketPeer.connect(socketOrigin(server) + path, { headers: { authorization: given }, ca: server.certificate.certificatePem });
}

/** A request for a socket as it goes over the wire. */
export function upgradeRequest(path: string, { authorization = '', method = 'GET', version = '13' } = {}): string {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: h',
    'Connection: Upgrade',
    'Upgrade: websocket',
    `Sec-WebSocket-Version: ${version}`,
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...(authorization === '' ? [] : [`Authorization: ${authorization}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A text message of at most 125 bytes as a client writes it on the wire: masked, by nothing. */
export function textFrame(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x81, 0x80 | Buffer.byteLength(text), 0, 0, 0, 0]), Buffer.from(text)]);
}

/** What a call is asked with: exactly one of the three inputs of the contract. */
export type SocketInput = Readonly<Record<string, unknown>>;

/** An event of the platform, as an input. */
export function socketEvent(name: string): SocketInput {
  return { event_input: { event_type: name } };
}

/** Keys, collected by the platform. */
export function socketKeys(...digits: readonly string[]): SocketInput {
  return { dtmf_input: { dtmf_events: digits.map((digit) => `DTMF_DIGIT_${digit}`) } };
}

/** The part of an answer that tests look at. */
export interface SocketAnswerMessage {
  readonly type: string;
  readonly seq: number;
  readonly conversation_id: string;
  readonly payload?: {
    readonly response_type: string;
    readonly prompts?: readonly { readonly audio_content_b64?: string; readonly text?: string }[];
    readonly output_events?: readonly { readonly event_type: string; readonly metadata?: object }[];
    readonly input_handling_config?: object;
  };
}

/** A call on a socket: numbers its messages and names the conversation, nothing else. */
export class SocketCaller {
  readonly peer: SocketPeer;
  readonly conversationId: string;
  readonly #organizationId: string;
  #seq = 0;

  constructor(peer: SocketPeer, organizationId: string, conversationId: string = randomUUID()) {
    this.peer = peer;
    this.#organizationId = organizationId;
    this.conversationId = conversationId;
  }

  /** Connects with a good token, and says that a call begins. */
  static async start(server: RunningServer): Promise<SocketCaller> {
    const caller = new SocketCaller(await connectSocket(server), server.issuer.claims.organizationId);
    caller.say(socketEvent('SESSION_START'));
    return caller;
  }

  say(input: SocketInput): void {
    this.#seq += 1;
    const { conversationId: conversation_id } = this;
    const payload = { conversation_id, customer_org_id: this.#organizationId, voice_va_input_type: input };
    this.peer.say({ type: 'VOICE_VA_REQUEST', seq: this.#seq, ts: new Date().toISOString(), conversation_id, payload });
  }

  /** Everything that came, in order. */
  get answers(): readonly SocketAnswerMessage[] {
    return this.peer.messages as readonly SocketAnswerMessage[];
  }

  /** FINAL messages that came, those of events left out. */
  get finals(): readonly NonNullable<SocketAnswerMessage['payload']>[] {
    return this.answers.flatMap(({ payload }) =>
      payload?.response_type === 'FINAL' && payload.output_events?.[0]?.event_type !== 'START_OF_INPUT' ? [payload] : [],
    );
  }

  /** Waits until so many replies are complete. @returns the last of them. */
  async replied(count: number): Promise<NonNullable<SocketAnswerMessage['payload']>> {
    await until(`${String(count)} replies are complete`, () => this.finals.length >= count);
    const last = this.finals[count - 1];
    if (last === undefined) throw new Error('unreachable: there are so many');
    return last;
  }
}
