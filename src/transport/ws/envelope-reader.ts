// Reads the messages of one socket: checks their order, and that each names the conversation and organization of the
// first request. Knows no session.
import { AppError } from '../../base/errors.ts';
import { readPlatformEnvelope, type PlatformEnvelope } from '../../contract/envelope.ts';
import type { Input } from '../../dialog/input.ts';
import type { WireCall } from '../caller-request.ts';
import type { Gate, Visitor } from '../gate.ts';
import { callFromEnvelope, inputFromEnvelope } from './from-envelope.ts';

/** Most bytes that may wait while the session is looked up: what was in flight when reading stopped. */
const MAX_WAITING_BYTES = 262_144;
/** Overhead of a waiting message, bytes. */
const MESSAGE_BYTES = 64;

export type RequestEnvelope = Extract<PlatformEnvelope, { readonly type: 'VOICE_VA_REQUEST' }>;
export type StartInput = Extract<Input, { readonly kind: 'session_start' }>;

/** Owned by one socket. */
export class EnvelopeReader {
  /** The call of the socket, once its first request was read. */
  bound: WireCall | undefined;
  readonly #organizationOf: (named: string) => string;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** The platform's last message number. */
  #lastSeq = 0;

  /** @param visitor - the client that was checked at the upgrade. */
  constructor(visitor: Visitor, gate: Gate) {
    this.#organizationOf = (named) => gate.bind(visitor, named);
  }

  /**
   * The next message; undefined for a message of an unknown type (W-17).
   *
   * @throws AppError `bad_message`, also for a message number that is not larger than the previous one (W-10).
   */
  read(message: Buffer): PlatformEnvelope | undefined {
    const envelope = readPlatformEnvelope(message.toString());
    // W-41: a PONG repeats our message number, not the platform's.
    if (envelope === undefined || envelope.type === 'PONG') return envelope;
    if (envelope.seq <= this.#lastSeq) throw new AppError('bad_message', 'seq must be larger than that of the message before');
    this.#lastSeq = envelope.seq;
    return envelope;
  }

  /** The request that opens the call. @throws AppError as {@link EnvelopeReader.further}, and `bad_message` for all but SESSION_START. */
  first(envelope: RequestEnvelope): { readonly call: WireCall; readonly input: StartInput } {
    const request = payloadOf(envelope);
    const named = callFromEnvelope(request);
    const call = { ...named, organizationId: this.#organizationOf(named.organizationId) };
    const input = inputFromEnvelope(request);
    if (input?.kind !== 'session_start') throw new AppError('bad_message', 'the first request on a socket must be SESSION_START');
    this.bound = call;
    return { call, input };
  }

  /**
   * The input of a further request; see {@link inputFromEnvelope}.
   *
   * @throws AppError `bad_message` for another call (W-21), as the gate (W-22), and as {@link inputFromEnvelope}.
   */
  further(envelope: RequestEnvelope): Input | undefined {
    const request = payloadOf(envelope);
    const { bound } = this;
    const { conversation_id: conversationId, customer_org_id: named, virtual_agent_id: agentId } = request;
    const organizationId = named === bound?.organizationId ? named : this.#organizationOf(named);
    const isSameAgent = typeof agentId !== 'string' || agentId === '' || agentId === bound?.agentId;
    if (conversationId !== bound?.conversationId || organizationId !== bound.organizationId || !isSameAgent) {
      throw new AppError('bad_message', 'conversation_id, customer_org_id and virtual_agent_id must stay the same on one socket');
    }
    return inputFromEnvelope(request);
  }

  /** Keeps a message that arrived after reading was paused. @throws AppError `overloaded` when too much waits. */
  keep(message: Buffer): void {
    this.#waitingBytes += message.length + MESSAGE_BYTES;
    if (this.#waitingBytes > MAX_WAITING_BYTES) throw new AppError('overloaded', 'more messages came than may wait for the call to open');
    this.#waiting.push(message);
  }

  /** Returns and forgets the kept messages. */
  takeKept(): readonly Buffer[] {
    this.#waitingBytes = 0;
    return this.#waiting.splice(0);
  }
}

function payloadOf({ conversation_id: conversationId, payload }: RequestEnvelope): RequestEnvelope['payload'] {
  if (payload.conversation_id === conversationId) return payload;
  // W-13.
  throw new AppError('bad_message', 'conversation_id of the envelope and of its payload must be the same');
}
