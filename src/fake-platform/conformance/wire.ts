// The low-level driver: opens RPCs and sends on them whatever it is told, in any order, also what no honest platform sends,
// and keeps everything that comes back. Knows messages, and no turn and no rule.
import { Metadata, status, type Client, type ClientDuplexStream, type StatusObject } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import { loadContract, type Contract, type ListAgentsResponse, type MediaRequest, type MediaResponse } from '../../contract/grpc.ts';
import type { PlatformProfile } from '../../contract/profile.ts';
import { isClosing, type Answer } from '../answer.ts';
import { answerFromWire } from '../from-wire.ts';
import { openClient, type ChannelOptions } from '../grpc-client.ts';
import { answerText, quoted, requestText, type ExchangeLog } from './exchange.ts';

/** How to reach a server. */
export interface WireOptions extends ChannelOptions {
  readonly profile: PlatformProfile;
  readonly clock: Clock;
  /** Value of the authorization entry as it is sent; undefined sends none. */
  readonly authorization: string | undefined;
}

/** One response as it came. */
export interface Received {
  readonly answer: Answer;
  readonly message: MediaResponse;
  /** By the clock's monotonic time, ms. */
  readonly atMs: number;
}

/** How an RPC ended. */
export interface Ending {
  readonly code: status;
  readonly details: string;
}

/** What an RPC that answers once ended with. */
export type OneAnswer = { readonly kind: 'answer'; readonly bytes: Buffer } | { readonly kind: 'status'; readonly ending: Ending };

/** How long an RPC may stay open behind its FINAL before it counts as left open, ms (G-13). */
const COMPLETION_MS = 1500;

/** Most responses kept of one RPC; a server that floods is cut off. */
const MAX_RECEIVED = 20_000;

/** The name of a status, for people. */
export function statusName(code: number): string {
  return status[code] ?? String(code);
}

/** One RPC of the media method. Sending on one that is over does nothing. */
export class WireRpc {
  readonly name: string;
  readonly received: Received[] = [];
  /** Undefined until the server has ended the RPC. */
  ending: Ending | undefined;
  /** A response that could not be read, as a sentence. */
  unreadable: string | undefined;
  readonly #stream: ClientDuplexStream<MediaRequest | Uint8Array, MediaResponse>;
  readonly #clock: Clock;
  readonly #log: ExchangeLog;
  readonly #waiting = new Set<() => void>();
  #isHalfClosed = false;
  /** Its end is our own cancellation, which says nothing of the server. */
  #isGivenUp = false;

  constructor(name: string, stream: ClientDuplexStream<MediaRequest | Uint8Array, MediaResponse>, clock: Clock, log: ExchangeLog) {
    this.name = name;
    this.#stream = stream;
    this.#clock = clock;
    this.#log = log;
    stream.on('data', (message: MediaResponse) => {
      this.#take(message);
    });
    // The status says the same.
    stream.on('error', () => undefined);
    stream.on('status', ({ code, details }: StatusObject) => {
      if (this.#isGivenUp) return;
      this.ending = { code, details };
      log.add('server', name, code === status.OK ? 'complete' : `${statusName(code)} ${quoted(details)}`);
      this.#look();
    });
  }

  /** The answers alone. */
  get answers(): readonly Answer[] {
    return this.received.map(({ answer }) => answer);
  }

  /** The FINAL that closes it; undefined while there is none. */
  get final(): Received | undefined {
    return this.received.find(({ answer }) => isClosing(answer));
  }

  /** Whether the server completed it with OK. */
  get isCompleted(): boolean {
    return this.ending?.code === status.OK;
  }

  send(...messages: readonly (MediaRequest | Uint8Array)[]): this {
    for (const message of messages) {
      if (this.ending !== undefined || this.#isHalfClosed) break;
      this.#log.add('platform', this.name, requestText(message));
      this.#stream.write(message);
    }
    return this;
  }

  halfClose(): this {
    if (this.#isHalfClosed || this.ending !== undefined) return this;
    this.#isHalfClosed = true;
    this.#log.add('platform', this.name, 'half-close');
    this.#stream.end();
    return this;
  }

  cancel(): void {
    if (this.ending !== undefined) return;
    this.#log.add('platform', this.name, 'cancel');
    this.#stream.cancel();
  }

  /** Waits until the condition holds or `limitMs` have passed. It is looked at after every response and at the end. @returns whether it holds. */
  until(condition: () => boolean, limitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (condition()) settle(true);
      };
      const settle = (holds: boolean): void => {
        cancelTimer();
        this.#waiting.delete(look);
        resolve(holds);
      };
      const cancelTimer = this.#clock.after(limitMs, () => {
        settle(condition());
      });
      this.#waiting.add(look);
      look();
    });
  }

  /**
   * Waits until the server has ended the RPC, has closed it by a FINAL and then left it open, or said nothing for
   * `limitMs`. What is still open then is cancelled, so that nothing is left behind.
   */
  async settled(limitMs: number): Promise<void> {
    let known = -1;
    while (this.ending === undefined && this.received.length > known) {
      known = this.received.length;
      const before = known;
      await this.until(
        () => this.ending !== undefined || this.received.length > before,
        this.final === undefined ? limitMs : COMPLETION_MS,
      );
    }
    if (this.ending !== undefined) return;
    this.#isGivenUp = true;
    this.#log.add('suite', this.name, 'the server left it open');
    this.#stream.cancel();
  }

  #take(message: MediaResponse): void {
    try {
      const answer = answerFromWire(message);
      this.received.push({ answer, message, atMs: this.#clock.monotonicMs() });
      this.#log.add('server', this.name, answerText(answer));
      if (this.received.length > MAX_RECEIVED) this.#stream.cancel();
    } catch (error) {
      this.unreadable = error instanceof Error ? error.message : 'no reason given';
      this.#log.add('server', this.name, 'a response that cannot be read');
    }
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** One connection of its own. Whoever makes it closes it. */
export class WireConnection {
  readonly #options: WireOptions;
  readonly #client: Client;
  readonly #contract: Contract;
  readonly #open = new Set<WireRpc>();

  constructor(options: WireOptions) {
    this.#options = options;
    this.#client = openClient(options);
    this.#contract = loadContract(options.profile);
  }

  /** Opens an RPC of the media method. */
  open(name: string, log: ExchangeLog): WireRpc {
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ProcessCallerInput;
    const stream = this.#client.makeBidiStreamRequest<MediaRequest | Uint8Array, MediaResponse>(
      path,
      (message) => (message instanceof Uint8Array ? Buffer.from(message) : requestSerialize(message)),
      responseDeserialize,
      this.#metadata(),
    );
    const rpc = new WireRpc(name, stream, this.#options.clock, log);
    this.#open.add(rpc);
    return rpc;
  }

  /** The bytes of a request, for a check that changes them. */
  encode(message: MediaRequest): Buffer {
    return this.#contract.media.definition.ProcessCallerInput.requestSerialize(message);
  }

  /** Asks for the agents (G-05). */
  async list(organizationId: string, limitMs: number, log: ExchangeLog): Promise<ListAgentsResponse | Ending> {
    const { path, requestSerialize, responseDeserialize } = this.#contract.media.definition.ListVirtualAgents;
    const answer = await this.ask(path, requestSerialize({ customer_org_id: organizationId }), limitMs, log);
    if (answer.kind === 'status') return answer.ending;
    try {
      return responseDeserialize(answer.bytes);
    } catch {
      return { code: status.INTERNAL, details: 'the list cannot be read' };
    }
  }

  /** Any RPC that answers once. */
  ask(path: string, request: Uint8Array, limitMs: number, log: ExchangeLog): Promise<OneAnswer> {
    log.add('platform', path, `${String(request.length)} bytes`);
    return new Promise((resolve) => {
      let isOver = false;
      const settle = (answer: OneAnswer): void => {
        if (isOver) return;
        isOver = true;
        cancelTimer();
        const said = answer.kind === 'answer' ? `${String(answer.bytes.length)} bytes` : statusName(answer.ending.code);
        log.add('server', path, said);
        resolve(answer);
      };
      const call = this.#client.makeUnaryRequest<Uint8Array, Buffer>(
        path,
        (bytes) => Buffer.from(bytes),
        (bytes) => bytes,
        request,
        this.#metadata(),
        (error, bytes) => {
          if (error !== null) settle({ kind: 'status', ending: { code: error.code, details: error.details } });
          else settle({ kind: 'answer', bytes: bytes ?? Buffer.alloc(0) });
        },
      );
      const cancelTimer = this.#options.clock.after(limitMs, () => {
        settle({ kind: 'status', ending: { code: status.DEADLINE_EXCEEDED, details: `no answer within ${String(limitMs)} ms` } });
        call.cancel();
      });
    });
  }

  /** Any RPC that answers with a stream: the first thing that comes, an answer or a status; then it is cancelled. */
  first(path: string, request: Uint8Array, limitMs: number, log: ExchangeLog): Promise<OneAnswer> {
    log.add('platform', path, `${String(request.length)} bytes`);
    return new Promise((resolve) => {
      const call = this.#client.makeServerStreamRequest<Uint8Array, Buffer>(
        path,
        (bytes) => Buffer.from(bytes),
        (bytes) => bytes,
        request,
        this.#metadata(),
      );
      let isOver = false;
      const settle = (answer: OneAnswer): void => {
        if (isOver) return;
        isOver = true;
        cancelTimer();
        log.add('server', path, answer.kind === 'answer' ? 'an answer' : statusName(answer.ending.code));
        resolve(answer);
        call.cancel();
      };
      const cancelTimer = this.#options.clock.after(limitMs, () => {
        settle({ kind: 'status', ending: { code: status.DEADLINE_EXCEEDED, details: 'no answer' } });
      });
      call.on('error', () => undefined);
      call.on('data', (bytes: Buffer) => {
        settle({ kind: 'answer', bytes });
      });
      call.on('status', ({ code, details }: StatusObject) => {
        settle({ kind: 'status', ending: { code, details } });
      });
    });
  }

  /** Cancels what is open and closes the connection. */
  close(): void {
    for (const rpc of this.#open) rpc.cancel();
    this.#client.close();
  }

  #metadata(): Metadata {
    const { authorization, profile } = this.#options;
    const metadata = new Metadata();
    if (authorization !== undefined) metadata.set(profile.metadata.authorization, authorization);
    return metadata;
  }
}
