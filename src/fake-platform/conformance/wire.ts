// One RPC of the media method. Sends any message in any order, even messages that no honest platform sends, and keeps
// the responses, within limits. Knows messages, but no turn and no rule.
import { status } from '@grpc/grpc-js';
import type { Clock } from '../../base/clock.ts';
import type { MediaRequest, MediaResponse } from '../../contract/grpc.ts';
import { isClosing, type Answer } from '../caller/answer.ts';
import { answerFromWire } from '../lines/from-wire.ts';
import { statusName } from '../lines/failure.ts';
import { framed } from '../lines/grpc-framing.ts';
import type { Rpc, RpcEnd, RpcListener } from '../lines/rpc-connection.ts';
import { Awaited } from './awaited.ts';
import { answerText, quoted, requestText, type ExchangeLog } from './exchange.ts';
import { playLeftMs } from './heard.ts';
import type { Redactor } from './tokens.ts';

export interface Received {
  readonly answer: Answer;
  readonly message: MediaResponse;
  /** When the response came, monotonic, ms. */
  readonly atMs: number;
}

/** How an RPC ended. */
export interface Ending {
  readonly code: status;
  readonly details: string;
}

/** The encoding of an RPC's messages, and the opening of the RPC on a connection. */
export interface WireCodec {
  open(listener: RpcListener): Rpc;
  encode(message: MediaRequest): Uint8Array;
  decode(bytes: Buffer): MediaResponse;
}

/** How long an RPC may stay open after its FINAL before it counts as left open, ms (G-13). */
const COMPLETION_MS = 5000;
/** Longest time of an RPC on which answers keep coming, ms. */
const MAX_ANSWERING_MS = 60_000;

/** Most responses of one RPC, and most bytes. A server that sends more is cut off; only the first {@link KEPT_RECEIVED} are kept. */
const [MAX_RECEIVED, MAX_BYTES] = [20_000, 24 * 1024 * 1024];
const KEPT_RECEIVED = 10;

/** One RPC of the media method. Sending on a finished RPC does nothing. */
export class WireRpc {
  readonly name: string;
  readonly received: Received[] = [];
  /** How the server ended the RPC; undefined until then. */
  ending: Ending | undefined;
  /** Set when a response could not be read: why, as a sentence. */
  unreadable: string | undefined;
  readonly #codec: WireCodec;
  readonly #rpc: Rpc;
  readonly #clock: Clock;
  readonly #log: ExchangeLog;
  readonly #awaited: Awaited;
  #bytes = 0;
  #isHalfClosed = false;
  #isSent = false;
  #isCancelled = false;
  #isFlooded = false;
  /** Whether we cancelled the RPC ourselves, so that its end says nothing about the server. */
  #isGivenUp = false;

  /** Opens the RPC. @param redact - removes secrets from the server's text. */
  constructor(name: string, codec: WireCodec, clock: Clock, log: ExchangeLog, redact: Redactor) {
    this.name = name;
    this.#codec = codec;
    this.#clock = clock;
    this.#log = log;
    this.#awaited = new Awaited(clock, () => this.#isGivenUp);
    this.#rpc = codec.open({
      message: (bytes) => this.#take(codec.decode(bytes), bytes.length),
      sent: () => {
        this.#isSent = true;
        this.#awaited.check();
      },
      ended: (end) => this.#ended(end, redact),
    });
  }

  get answers(): readonly Answer[] {
    return this.received.map(({ answer }) => answer);
  }

  /** The FINAL that closes the RPC; undefined while there is none. */
  get final(): Received | undefined {
    return this.received.find(({ answer }) => isClosing(answer));
  }

  get isCompleted(): boolean {
    return this.ending?.code === status.OK;
  }

  /** Whether the server sent more than any reply can be. The rest was cut off then, and `ending` stays undefined. */
  get isFlooded(): boolean {
    return this.#isFlooded;
  }

  send(...messages: readonly (MediaRequest | Uint8Array)[]): this {
    for (const message of messages) {
      if (this.ending !== undefined || this.#isHalfClosed || this.#isGivenUp) break;
      this.#log.add('platform', this.name, requestText(message));
      this.#rpc.send(framed(message instanceof Uint8Array ? message : this.#codec.encode(message)));
    }
    return this;
  }

  halfClose(): this {
    if (this.#isHalfClosed || this.#isGivenUp || this.ending !== undefined) return this;
    this.#isHalfClosed = true;
    this.#log.add('platform', this.name, 'half-close');
    this.#rpc.halfClose();
    return this;
  }

  cancel(): void {
    if (this.ending !== undefined || this.#isCancelled || this.#isGivenUp) return;
    this.#isCancelled = true;
    this.#log.add('platform', this.name, 'cancel');
    this.#rpc.cancel();
  }

  /**
   * Waits until the condition holds or `limitMs` have passed. The condition is checked after every response and at the end of the
   * RPC. On a stopped RPC, does not wait. @returns whether the condition holds.
   */
  until(condition: () => boolean, limitMs: number): Promise<boolean> {
    return this.#awaited.until(condition, limitMs);
  }

  /**
   * Waits until the server has ended the RPC, has left it open after a FINAL, has been silent for `limitMs` beyond the
   * playback of its prompts, or keeps answering without an end. Cancels the RPC if it is still open then.
   */
  async settled(limitMs: number): Promise<void> {
    // A server cannot answer messages that are not sent yet: many small messages take their time on a busy machine.
    if (this.#isHalfClosed) await this.until(() => this.ending !== undefined || this.#isSent, MAX_ANSWERING_MS);
    const untilMs = this.#clock.monotonicMs() + Math.max(MAX_ANSWERING_MS, limitMs);
    const leftMs = (): number => untilMs - this.#clock.monotonicMs();
    let known = -1;
    while (this.ending === undefined && !this.#isGivenUp && this.received.length > known && leftMs() > 0) {
      known = this.received.length;
      const before = known;
      await this.until(
        () => this.ending !== undefined || this.received.length > before,
        Math.min(leftMs(), this.final === undefined ? limitMs + this.#playLeftMs : Math.min(limitMs, COMPLETION_MS)),
      );
    }
    if (this.ending === undefined) this.#giveUp(leftMs() > 0 ? 'the server left it open' : 'the server went on answering without an end');
  }

  /** How long the received prompts are still heard, ms: a server may wait for that before it continues (G-7A). */
  get #playLeftMs(): number {
    return Math.max(0, playLeftMs(this.received, this.#clock.monotonicMs()));
  }

  #ended(end: RpcEnd, redact: Redactor): void {
    if (this.#isGivenUp) return;
    const { code, details }: Ending = end.kind === 'completed' ? { code: status.OK, details: '' } : end.status;
    // The server did not end an RPC that we cancelled.
    const isOurs = this.#isCancelled && code !== status.OK;
    this.ending = { code: isOurs ? status.CANCELLED : code, details: redact(details) };
    const said = code === status.OK ? 'complete' : `${statusName(code)} ${quoted(this.ending.details)}`;
    if (!isOurs) this.#log.add('server', this.name, said);
    this.#awaited.check();
  }

  #take(message: MediaResponse, bytes: number): void {
    if (this.#isGivenUp) return;
    this.#bytes += bytes;
    try {
      const answer = answerFromWire(message);
      this.received.push({ answer, message, atMs: this.#clock.monotonicMs() });
      this.#log.add('server', this.name, answerText(answer, message));
    } catch (error) {
      this.unreadable = error instanceof Error ? error.message : 'no reason given';
      this.#log.add('server', this.name, 'a response that cannot be read');
    }
    if (this.received.length > MAX_RECEIVED || this.#bytes > MAX_BYTES) this.#cutOff();
    this.#awaited.check();
  }

  #cutOff(): void {
    this.#isFlooded = true;
    this.#giveUp(`the server flooded it with ${String(this.received.length)} responses of ${String(this.#bytes)} bytes: cut off`);
    // Too many responses must not fill the memory of the run.
    this.received.splice(KEPT_RECEIVED);
  }

  #giveUp(remark: string): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    this.#log.add('suite', this.name, remark);
    this.#rpc.cancel();
  }
}
