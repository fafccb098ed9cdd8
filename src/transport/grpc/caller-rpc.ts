// One RPC of a caller as the engine sees it: outputs as responses, what waits for the client to read it, and the status at the end. Knows
// nothing of what comes in.
import { Metadata } from '@grpc/grpc-js';
import { AppError, toAppError } from '../../base/errors.ts';
import type { EncodedResponse } from '../../contract/grpc.ts';
import type { Output } from '../../dialog/output.ts';
import type { TurnSink } from '../../session/ports.ts';
import type { Turn } from '../../session/turn/turn.ts';
import { OK, type HomeStatus } from '../forward/attempt.ts';
import { notMine, readForwarded, type ForwardedTurn } from '../forward/headers.ts';
import type { HeldTurn } from '../forward/relay.ts';
import { Outgoing } from '../outgoing.ts';
import { promptTexts } from '../prompt-texts.ts';
import type { WireIds } from '../refused.ts';
import type { CallerCall, CallerInputParts } from './caller-input-parts.ts';
import { grpcStatus } from './status.ts';

/** Trailer in which a test server names the texts of its prompts: a JSON array in UTF-8. */
const PROMPT_TEXT_TRAILER = 'parley-prompt-text-bin';
/** Trailer in which a test server says that a reply was its apology for a bot that failed. */
const APOLOGY_TRAILER = 'parley-apology';

/**
 * Turns of the event loop after which grpc-js has given the last message and the status to the system. Two were enough for a
 * status to outlive a process that was killed then (grpc-js 1.14, measured 2026-11-22); it does not report when it has.
 */
const SENT_AFTER_TURNS = 3;

/** Whether what was written to a forwarded turn has reached the platform. Never rejects. */
export type Delivered = (turnId: string) => Promise<boolean>;

/** What an RPC is opened with. */
interface CallerRpcOptions {
  /** Called when the wire is gone: what came before that is taken first. */
  readonly onGone: () => void;
  /** Called once, when nothing can be written any more. */
  readonly onOver: () => void;
  /** On the peer port. */
  readonly delivered: Delivered | undefined;
}

/** From the first header to the status. */
export class CallerRpc implements TurnSink {
  readonly trackingId: string;
  /** What a peer says of a turn that it forwards. */
  readonly forwarded: ForwardedTurn | undefined;
  /** The same at each home that a forwarded turn is brought to; undefined for one that came here directly. */
  forwardedId: string | undefined;
  isOver = false;
  /** What a line of the log is found by, once it is known. */
  conversationId: string | undefined;
  /** Which writes here, once there is one. */
  turn: Turn | undefined;
  readonly #call: CallerCall;
  readonly #parts: CallerInputParts;
  readonly #options: CallerRpcOptions;
  readonly #outgoing: Outgoing<EncodedResponse>;
  readonly #texts: string[] = [];
  /** What another home of the call has said on this turn, and is not said again (G-36, G-38). */
  #sentEvents: ReadonlySet<Output['kind']>;
  #isApology = false;

  constructor(call: CallerCall, parts: CallerInputParts, options: CallerRpcOptions) {
    this.#call = call;
    this.#parts = parts;
    this.#options = options;
    this.#outgoing = new Outgoing(call, parts.maxQueuedBytes);
    this.trackingId = parts.metadata.trackingId(call.metadata);
    this.forwarded = parts.instanceId === undefined ? undefined : readForwarded(call.metadata, parts.instanceId);
    this.forwardedId = this.forwarded?.turnId;
    this.#sentEvents = this.forwarded?.sentEvents ?? new Set();
    call.on('cancelled', this.#gone);
    // A broken connection also surfaces as an error; without a listener it would end the process.
    call.on('error', this.#gone);
  }

  get ids(): WireIds {
    return { trackingId: this.trackingId, conversationId: this.conversationId };
  }

  /** Goes on with what another process has begun. */
  takeOver({ id, sentEvents }: HeldTurn): void {
    this.forwardedId = id;
    this.#sentEvents = sentEvents;
  }

  /** See {@link TurnSink.write}; a client that does not read is refused (G-91). */
  write(output: Output): boolean {
    if (this.isOver) return true;
    try {
      const responses = this.#sentEvents.has(output.kind) ? [] : this.#parts.toWire.responses(output);
      for (const response of responses) {
        if (this.#outgoing.send(response)) continue;
        throw new AppError('slow_reader', 'more waits for the client than may', { details: { limitBytes: this.#parts.maxQueuedBytes } });
      }
    } catch (thrown) {
      this.refuse(thrown);
      return true;
    }
    if (this.#parts.isRevealingText) this.#remember(output);
    return !this.#outgoing.isFull;
  }

  onceDrained(listener: () => void): void {
    this.#outgoing.onceDrained(listener);
  }

  /** Calls `listener` when what was written has left the process. */
  onceSent(listener: () => void): void {
    let left = SENT_AFTER_TURNS;
    const next = (): void => {
      left -= 1;
      if (left < 0) listener();
      else setImmediate(next);
    };
    next();
  }

  /** See {@link TurnSink.delivered}. */
  delivered(): Promise<boolean> {
    const { forwarded } = this;
    if (forwarded !== undefined && this.#options.delivered !== undefined) return this.#options.delivered(forwarded.turnId);
    return new Promise((resolve) => {
      this.onceSent(() => {
        resolve(true);
      });
    });
  }

  /** With OK (G-13). */
  complete(): void {
    const trailers = this.#trailers();
    if (this.#close()) this.#call.end(trailers);
  }

  /** Nobody is there to be spoken to (G-75). */
  completeEmpty(): void {
    this.write({ kind: 'final', mode: 'wav', prompts: [], next: { kind: 'gone' } });
    this.complete();
  }

  /** Ends as the RPC at the home of the call has ended. */
  completeAs({ code, details, trailers }: HomeStatus): void {
    if (!this.#close()) return;
    if (code === OK) this.#call.end(trailers);
    else this.#call.emit('error', { name: 'forwarded', message: details, code, details, metadata: trailers });
  }

  /** Gives a turn back that a peer forwarded: it brings it to the next home. @returns false for a turn that came here directly. */
  giveBack(): boolean {
    if (this.#parts.instanceId === undefined) return false;
    if (this.#close()) this.#call.emit('error', notMine());
    return true;
  }

  fail(error: AppError): void {
    if (!this.#close()) return;
    this.#parts.refusals.count(error);
    this.#call.emit('error', grpcStatus(error));
  }

  /** Ends the RPC, and its turn, with the status of an error. */
  readonly refuse = (thrown: unknown): void => {
    const error = toAppError(thrown);
    this.#parts.refusals.write('a stream', error, this.ids);
    if (this.turn === undefined) this.fail(error);
    else this.turn.fail(error);
  };

  // The platform cancelled the RPC, the connection broke, or grpc-js refused a message that is too large (it notifies the
  // client and nobody else): nothing can be written any more (G-16).
  readonly #gone = (): void => {
    this.#options.onGone();
    if (!this.#close()) return;
    this.#parts.log.debug(this.ids, 'a stream was cut: cancelled, disconnected, or a message larger than allowed');
    this.turn?.abort('hang_up');
  };

  #close(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    this.#options.onOver();
    return true;
  }

  #remember(output: Output): void {
    this.#texts.push(...promptTexts(output));
    this.#isApology ||= output.kind === 'final' && output.isApology === true;
  }

  #trailers(): Metadata | undefined {
    const hasTexts = this.#texts.some((text) => text !== '');
    if (!hasTexts && !this.#isApology) return undefined;
    const trailers = new Metadata();
    if (hasTexts) trailers.set(PROMPT_TEXT_TRAILER, Buffer.from(JSON.stringify(this.#texts)));
    if (this.#isApology) trailers.set(APOLOGY_TRAILER, 'true');
    return trailers;
  }
}
