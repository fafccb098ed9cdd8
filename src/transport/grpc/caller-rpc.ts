// The output side of a caller's RPC: responses, the bytes that wait for the client, and the final status. Knows
// nothing of the input.
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

/** Trailer with the texts of the prompts, a JSON array in UTF-8; only on a test server. */
const PROMPT_TEXT_TRAILER = 'parley-prompt-text-bin';
/** Trailer for a reply that is the apology for a failed bot; only on a test server. */
const APOLOGY_TRAILER = 'parley-apology';
/** Trailer for speech whose words the bot wants but nobody recognizes; only on a test server. */
const NO_RECOGNIZER_TRAILER = 'parley-no-recognizer';

/**
 * Turns of the event loop after which grpc-js has written the last message and the status to the kernel; it does not report
 * this. After two of them a status survived the kill of the process (grpc-js 1.14, measured 2026-11-22).
 */
const SENT_AFTER_TURNS = 3;

/** Whether the reply of a forwarded turn has reached the platform. Never rejects. */
export type Delivered = (turnId: string) => Promise<boolean>;

interface CallerRpcOptions {
  /** Called when the RPC was cut, before anything else: handles the input that had arrived. */
  readonly onGone: () => void;
  /** Called once, when nothing more can be written. */
  readonly onOver: () => void;
  /** Set on the peer port. */
  readonly delivered: Delivered | undefined;
}

/** One RPC, from the first header to the status. */
export class CallerRpc implements TurnSink {
  readonly trackingId: string;
  /** Set for a forwarded turn: the headers of its peer. */
  readonly forwarded: ForwardedTurn | undefined;
  /** Id of a forwarded turn, the same at each home; undefined for a direct turn. */
  forwardedId: string | undefined;
  isOver = false;
  /** For the log; undefined until a message names it. */
  conversationId: string | undefined;
  /** The turn that writes here; undefined until it is open. */
  turn: Turn | undefined;
  readonly #call: CallerCall;
  readonly #parts: CallerInputParts;
  readonly #options: CallerRpcOptions;
  readonly #outgoing: Outgoing<EncodedResponse>;
  readonly #texts: string[] = [];
  /** Events of this turn that another home has already sent and that must not be repeated (G-36, G-38). */
  #sentEvents: ReadonlySet<Output['kind']>;
  #isApology = false;
  #isWithoutWords = false;

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
    // Without a listener an error of the connection would end the process.
    call.on('error', this.#gone);
  }

  get ids(): WireIds {
    return { trackingId: this.trackingId, conversationId: this.conversationId };
  }

  /** Continues a turn that another process has begun. */
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
        throw new AppError('slow_reader', 'the client reads too slowly: too many bytes wait for it', {
          details: { limitBytes: this.#parts.maxQueuedBytes },
        });
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

  /** Calls `listener` when everything written has left the process. */
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

  /** Ends with OK (G-13). */
  complete(): void {
    const trailers = this.#trailers();
    if (this.#close()) this.#call.end(trailers);
  }

  /** Ends without a response, because the caller is gone (G-75). */
  completeEmpty(): void {
    this.write({ kind: 'final', mode: 'wav', prompts: [], next: { kind: 'gone' } });
    this.complete();
  }

  /** Ends with the status of the home's RPC. */
  completeAs({ code, details, trailers }: HomeStatus): void {
    if (!this.#close()) return;
    if (code === OK) this.#call.end(trailers);
    else this.#call.emit('error', { name: 'forwarded', message: details, code, details, metadata: trailers });
  }

  /** Returns a forwarded turn to its peer, which forwards it to the next home. @returns false for a direct turn. */
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

  // The platform cancelled the RPC, the connection broke, or grpc-js refused a too large message (it notifies only
  // the client): nothing more can be written (G-16).
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
    this.#isWithoutWords ||= output.kind === 'input_ended' && output.isWithoutWords === true;
  }

  #trailers(): Metadata | undefined {
    const hasTexts = this.#texts.some((text) => text !== '');
    if (!hasTexts && !this.#isApology && !this.#isWithoutWords) return undefined;
    const trailers = new Metadata();
    if (hasTexts) trailers.set(PROMPT_TEXT_TRAILER, Buffer.from(JSON.stringify(this.#texts)));
    if (this.#isApology) trailers.set(APOLOGY_TRAILER, 'true');
    if (this.#isWithoutWords) trailers.set(NO_RECOGNIZER_TRAILER, 'true');
    return trailers;
  }
}
