// A client of the voice channel that does only what a test tells it: numbers its messages and names its conversation unless it
// is told to lie, and keeps every message, the error and how the socket ended. It knows shapes and no grammar of turns.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/base/json.ts';
import { readServerEnvelope, type ServerEnvelope, type SocketResponse } from '../../src/contract/envelope.ts';
import type { VOICE_ENCODING } from '../../src/contract/numbers.ts';
import type { RunningServer } from './running-server.ts';
import { connectSocket, type SocketEnd, type SocketPeer } from './socket-peer.ts';
import { until, within } from './until.ts';

/** What one message says the caller or the flow did: one of the three inputs of the contract. */
export type SocketInput = Readonly<Record<string, unknown>>;

/** Members of one message in place of those that every message has; what they say need not be true. */
export interface Lies {
  /** Of the envelope. */
  readonly envelope?: Readonly<Record<string, unknown>>;
  /** Of its payload. */
  readonly payload?: Readonly<Record<string, unknown>>;
}

/** An event of the platform or of its flow. */
export function eventInput(event_type: string, more: { readonly name?: string; readonly parameters?: JsonObject } = {}): SocketInput {
  return { event_input: { event_type, ...more } };
}

/** Keys by their names. */
export function keyInput(...dtmf_events: readonly string[]): SocketInput {
  return { dtmf_input: { dtmf_events } };
}

/** Some sound of the caller. */
export function soundInput(
  mulaw: Uint8Array,
  encoding: keyof typeof VOICE_ENCODING = 'MULAW_FORMAT',
  sample_rate_hertz = 8000,
): SocketInput {
  return { audio_input: { encoding, sample_rate_hertz, caller_audio_b64: Buffer.from(mulaw).toString('base64') } };
}

/** One socket of the voice channel. */
export class SocketClient {
  readonly peer: SocketPeer;
  readonly conversationId: string;
  readonly #organizationId: string;
  readonly #read: ServerEnvelope[] = [];
  #seq = 0;

  /** @param organizationId - that every message names. */
  constructor(peer: SocketPeer, organizationId: string, conversationId: string = randomUUID()) {
    this.peer = peer;
    this.#organizationId = organizationId;
    this.conversationId = conversationId;
  }

  /** Connects with a good token and says nothing. */
  static async connect(server: RunningServer, conversationId?: string): Promise<SocketClient> {
    return new SocketClient(await connectSocket(server), server.issuer.claims.organizationId, conversationId);
  }

  /** The number of the last message, lies aside. */
  get seq(): number {
    return this.#seq;
  }

  /** One message, as it would go out; it takes the next number. */
  message(input: SocketInput, { envelope, payload }: Lies = {}): string {
    this.#seq += 1;
    const { conversationId: conversation_id } = this;
    const said = { conversation_id, customer_org_id: this.#organizationId, voice_va_input_type: input, ...payload };
    const head = { type: 'VOICE_VA_REQUEST', seq: this.#seq, ts: new Date().toISOString(), conversation_id };
    return JSON.stringify({ ...head, payload: said, ...envelope });
  }

  /** Sends inputs in messages of their own. */
  send(...inputs: readonly SocketInput[]): this {
    for (const input of inputs) this.peer.say(this.message(input));
    return this;
  }

  /** Sends one message with members of its own. */
  lie(input: SocketInput, lies: Lies): this {
    this.peer.say(this.message(input, lies));
    return this;
  }

  /** Sends a PING and waits for its PONG: whatever the messages before it bring about at once is there then (W-40). */
  async ping(): Promise<void> {
    this.#seq += 1;
    const { conversationId: conversation_id } = this;
    const seq = this.#seq;
    this.peer.say({ type: 'PING', seq, ts: new Date().toISOString(), conversation_id });
    const { socket } = this.peer;
    const answered = new Promise<void>((resolve) => {
      const look = (): void => {
        const isThere = this.messages.some((message) => message.type === 'PONG' && message.seq === seq);
        if (!isThere && this.peer.end === undefined) return;
        socket.off('message', look).off('close', look);
        resolve();
      };
      socket.on('message', look).on('close', look);
    });
    await within(() => `PING ${String(seq)} is answered; errors: ${JSON.stringify(this.errors)}`, answered);
  }

  /** Starts the call and waits until its welcome is said. */
  async started(): Promise<this> {
    this.send(eventInput('SESSION_START'));
    await this.replied(1);
    return this;
  }

  /** Everything that came, in order. @throws AppError `bad_message` for what no server may send. */
  get messages(): readonly ServerEnvelope[] {
    for (const message of this.peer.messages.slice(this.#read.length)) this.#read.push(readServerEnvelope(JSON.stringify(message)));
    return this.#read;
  }

  /** Whether any message has a field of this name. */
  isNaming(field: string): boolean {
    return this.peer.messages.some((message) => JSON.stringify(message).includes(`"${field}":`));
  }

  /** The answers among it. */
  get responses(): readonly SocketResponse[] {
    return this.messages.flatMap((message) => (message.type === 'VOICE_VA_RESPONSE' ? [message.payload] : []));
  }

  /** ERROR messages as `code status`. */
  get errors(): readonly string[] {
    return this.messages.flatMap((message) => (message.type === 'ERROR' ? [`${message.code} ${String(message.status)}`] : []));
  }

  /** Replies that are over: their FINAL messages. */
  get finals(): readonly SocketResponse[] {
    return this.responses.filter(
      ({ response_type: type, output_events: events }) => type === 'FINAL' && events?.[0]?.event_type !== 'START_OF_INPUT',
    );
  }

  /** How the socket ended; undefined as long as it is open. */
  get end(): SocketEnd | undefined {
    return this.peer.end;
  }

  /** Waits until so many replies are over. */
  async replied(count: number): Promise<void> {
    await until(
      () => `${String(count)} replies are over; there are ${String(this.finals.length)}, errors: ${JSON.stringify(this.errors)}`,
      () => {
        if (this.finals.length >= count) return true;
        if (this.peer.end !== undefined)
          throw new Error(`the socket ended with ${String(this.peer.end.code)} ${JSON.stringify(this.errors)}`);
        return false;
      },
    );
  }

  /** Waits for the end of the socket. */
  async closed(): Promise<SocketEnd> {
    return this.peer.closed();
  }

  /** Closes the socket as the platform does when a call is over, and waits for the answer. */
  async close(): Promise<SocketEnd> {
    this.peer.socket.close(1000);
    return this.closed();
  }
}
