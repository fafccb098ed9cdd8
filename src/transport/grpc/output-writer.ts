// What the engine says on one RPC: outputs as responses, what waits for the client to read it, and the trailers at the end. Knows
// nothing of what comes in.
import { Metadata } from '@grpc/grpc-js';
import { AppError } from '../../base/errors.ts';
import type { EncodedResponse } from '../../contract/grpc.ts';
import type { Output } from '../../dialog/output.ts';
import { Outgoing } from '../outgoing.ts';
import { promptTexts } from '../prompt-texts.ts';
import type { ToWire } from './to-wire.ts';

/** Trailer in which a test server names the texts of its prompts: a JSON array in UTF-8. */
const PROMPT_TEXT_TRAILER = 'parley-prompt-text-bin';
/** Trailer in which a test server says that a reply was its apology for a bot that failed. */
const APOLOGY_TRAILER = 'parley-apology';

/**
 * Turns of the event loop after which grpc-js has handed the last message and the status to the system. Two were enough for a
 * status to outlive a process that was killed then (grpc-js 1.14, measured 2026-11-22); it tells nobody when it has.
 */
const SENT_AFTER_TURNS = 3;

/** The writing side of an RPC. */
interface WritableCall {
  write(response: EncodedResponse, onTaken: () => void): boolean;
  end(trailers?: Metadata): unknown;
}

/** What it writes with. */
export interface OutputWriterParts {
  readonly toWire: ToWire;
  /** Most bytes that may wait for the client to read them (G-91). */
  readonly maxQueuedBytes: number;
  /** Name prompt texts in the trailers; for tests only. */
  readonly isRevealingText: boolean;
}

/** One per RPC. */
export class OutputWriter {
  readonly #call: WritableCall;
  readonly #parts: OutputWriterParts;
  readonly #outgoing: Outgoing<EncodedResponse>;
  readonly #texts: string[] = [];
  #told: ReadonlySet<Output['kind']> = new Set();
  #isApology = false;

  constructor(call: WritableCall, parts: OutputWriterParts) {
    this.#call = call;
    this.#parts = parts;
    this.#outgoing = new Outgoing(call, parts.maxQueuedBytes);
  }

  /** @param told - what another home of the call has said on this turn, and is not said again (G-36, G-38). */
  leaveOut(told: ReadonlySet<Output['kind']>): void {
    this.#told = told;
  }

  /** @returns false when the next output should wait for `onceDrained`. @throws AppError `slow_reader` (G-91). */
  write(output: Output): boolean {
    const responses = this.#told.has(output.kind) ? [] : this.#parts.toWire.responses(output);
    for (const response of responses) {
      if (this.#outgoing.send(response)) continue;
      throw new AppError('slow_reader', 'more waits for the client than may', { details: { limitBytes: this.#parts.maxQueuedBytes } });
    }
    if (this.#parts.isRevealingText) this.#remember(output);
    return !this.#outgoing.isFull;
  }

  onceDrained(listener: () => void): void {
    this.#outgoing.onceDrained(listener);
  }

  /** Ends the RPC well (G-13). */
  end(): void {
    const hasTexts = this.#texts.some((text) => text !== '');
    if (!hasTexts && !this.#isApology) {
      this.#call.end();
      return;
    }
    const trailers = new Metadata();
    if (hasTexts) trailers.set(PROMPT_TEXT_TRAILER, Buffer.from(JSON.stringify(this.#texts)));
    if (this.#isApology) trailers.set(APOLOGY_TRAILER, 'true');
    this.#call.end(trailers);
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

  #remember(output: Output): void {
    this.#texts.push(...promptTexts(output));
    this.#isApology ||= output.kind === 'final' && output.isApology === true;
  }
}
