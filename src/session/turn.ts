// One turn: an ear that takes the caller's input and a mouth that the engine answers through. Synchronous: the audio
// path ends here, the first wait of a turn is the bot runner's.
import { linkAbort, type AbortReason, type LinkedAbort } from '../base/abort.ts';
import type { AppError } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { TurnEnd } from '../dialog/ending.ts';
import type { AudioInput, Input } from '../dialog/input.ts';
import type { DeliveryMode, Output } from '../dialog/output.ts';
import type { Utterance } from '../dialog/utterance.ts';
import type { TurnSink } from './ports.ts';
import { turnAction, type TurnEvent, type TurnState } from './turn-states.ts';

/** An input that is whole and wants a reply. */
export type CompleteInput =
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'speech'; readonly utterance: Utterance }
  | { readonly kind: 'no_input' }
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject };

/** What a turn needs of its session. */
export interface TurnHost {
  readonly mode: DeliveryMode;
  /** A message arrived; keeps the session from being idle. */
  touched(): void;
  /** Feeds audio to the session's ear; speech events come back through `Turn.heard`. */
  listen(turn: Turn, input: AudioInput): void;
  /** The caller's input ended while speaking. */
  cutSpeech(turn: Turn): void;
  takeUtterance(): Utterance;
  /** Speech started or a key was pressed: older mouths may have to stop. */
  callerActed(turn: Turn, by: 'speech' | 'keys'): void;
  inputComplete(turn: Turn, input: CompleteInput): void;
  hungUp(turn: Turn): void;
  /** A message broke the turn grammar. */
  refused(turn: Turn, event: TurnEvent): void;
  closed(turn: Turn, end: TurnEnd): void;
}

/** One RPC on gRPC, one caller input with its reply on other transports. */
export class Turn {
  readonly id: string;
  readonly #host: TurnHost;
  readonly #sink: TurnSink;
  readonly #abort: LinkedAbort;
  #state: TurnState = 'waiting';
  #abortReason: AbortReason | undefined;
  #isUnheardWelcome = false;

  /** @param parent - aborts when the session or the process stops. */
  constructor(id: string, host: TurnHost, sink: TurnSink, parent: AbortSignal) {
    this.id = id;
    this.#host = host;
    this.#sink = sink;
    this.#abort = linkAbort(parent);
  }

  get state(): TurnState {
    return this.#state;
  }

  /** Aborts when the reply of this turn is no longer wanted. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why {@link signal} was aborted by this turn's own `abort` or `interrupt`. */
  get abortReason(): AbortReason | undefined {
    return this.#abortReason;
  }

  /** Takes one input. Never throws for what the caller did; an undecodable format throws `unsupported_audio`. */
  push(input: Input): void {
    this.#host.touched();
    switch (input.kind) {
      case 'audio':
        if (turnAction(this.#state, 'audio') !== 'listen') return;
        if (this.#state === 'waiting') this.#state = 'listening';
        this.#host.listen(this, input);
        return;
      case 'dtmf_start':
        if (turnAction(this.#state, 'key_started') !== 'expect_keys') return;
        this.#state = 'keys';
        this.#host.callerActed(this, 'keys');
        return;
      case 'session_end':
        if (turnAction(this.#state, 'hang_up') === 'hang_up') this.#host.hungUp(this);
        return;
      case 'session_start':
      case 'dtmf':
      case 'no_input':
      case 'custom_event':
        this.#complete(input);
    }
  }

  /** The listener's events, while this turn has the session's ear. */
  heard(event: 'speech_started' | 'speech_ended'): void {
    switch (turnAction(this.#state, event)) {
      case 'report_start':
        this.#state = 'hearing';
        this.#host.callerActed(this, 'speech');
        this.write({ kind: 'input_started' });
        return;
      case 'report_end':
        this.#state = 'answering';
        this.write({ kind: 'input_ended', mode: this.#host.mode });
        this.#host.inputComplete(this, { kind: 'speech', utterance: this.#host.takeUtterance() });
        return;
      default:
        return;
    }
  }

  /** The platform has sent everything for this turn. Never the end of the call (G-12). */
  halfClose(): void {
    switch (turnAction(this.#state, 'half_close')) {
      case 'cut_speech':
        this.#host.cutSpeech(this);
        return;
      case 'complete':
        this.finish('nothing_said');
        return;
      default:
        return;
    }
  }

  /** The turn was cancelled from outside: nothing more may be written (G-16). */
  abort(reason: AbortReason): void {
    if (this.#state === 'done') return;
    this.#abortReason ??= reason;
    this.#abort.abort(reason);
    this.#close(reason === 'barge_in' ? 'interrupted' : reason);
  }

  /**
   * The caller acted over this turn's reply: thinking and speaking stop, the turn still completes cleanly (G-53). A
   * welcome that has not begun is not dropped: without it the caller would not know what to answer.
   */
  interrupt(): void {
    if (this.#state !== 'answering' || this.#isUnheardWelcome) return;
    this.#abortReason ??= 'barge_in';
    this.#abort.abort('barge_in');
  }

  /** Hands one output to the wire unless the turn is over. False: wait for `onceDrained`. */
  write(output: Output): boolean {
    if (this.#state === 'done') return true;
    if (output.kind === 'prompt') this.#isUnheardWelcome = false;
    return this.#sink.write(output);
  }

  /** See {@link TurnSink.onceDrained}. */
  onceDrained(listener: () => void): void {
    this.#sink.onceDrained(listener);
  }

  /**
   * Completes the response stream with OK, once (G-13).
   *
   * @param reason - also stops a bot that is still thinking about this turn.
   */
  finish(end: TurnEnd, reason?: AbortReason): void {
    if (this.#state === 'done') return;
    if (reason !== undefined) this.#abort.abort(reason);
    this.#close(end, () => {
      this.#sink.complete();
    });
  }

  /** Ends the turn with an error, once. */
  fail(error: AppError, end: TurnEnd = 'failed'): void {
    if (this.#state === 'done') return;
    this.#close(end, () => {
      this.#sink.fail(error);
    });
  }

  #complete(input: CompleteInput): void {
    switch (turnAction(this.#state, 'complete_input')) {
      case 'answer':
        this.#state = 'answering';
        this.#isUnheardWelcome = input.kind === 'session_start';
        this.#host.inputComplete(this, input);
        return;
      case 'refuse':
        this.#host.refused(this, 'complete_input');
        return;
      default:
        return;
    }
  }

  #close(end: TurnEnd, last?: () => void): void {
    this.#state = 'done';
    last?.();
    this.#abort.dispose();
    this.#host.closed(this, end);
  }
}
