// One turn: takes the caller's input, and the engine answers through it. Synchronous: the audio path ends here, the first wait of
// a turn is the bot runner's.
import { linkAbort, type AbortReason, type LinkedAbort } from '../../base/abort.ts';
import type { AppError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { TurnEnd } from '../../dialog/ending.ts';
import type { AudioInput, Input } from '../../dialog/input.ts';
import type { DeliveryMode, Output } from '../../dialog/output.ts';
import type { Utterance } from '../../dialog/utterance.ts';
import type { SpeechEvent } from '../../speech/endpointer.ts';
import type { NextStream } from './next-stream.ts';
import type { TurnSink } from '../ports.ts';
import { turnAction, type TurnState } from './turn-states.ts';

/** An input that is whole and wants a reply. */
export type TurnInput =
  | { readonly kind: 'session_start'; readonly name: string; readonly parameters: JsonObject }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'speech'; readonly utterance: Utterance }
  | { readonly kind: 'no_input' }
  | { readonly kind: 'custom_event'; readonly name: string; readonly parameters: JsonObject };

/** What a turn needs of its session. */
export interface TurnHost {
  readonly mode: DeliveryMode;
  /** What the caller is asked for at present. */
  readonly nextStream: Pick<NextStream, 'listen'>;
  /** A message arrived; keeps the session from being idle. */
  touched(): void;
  /** Feeds audio to the session's ear; speech events come back through `Turn.heard`. */
  listen(turn: Turn, input: AudioInput): void;
  /** The caller's input ended while speaking. */
  cutSpeech(turn: Turn): void;
  takeUtterance(): Utterance;
  /** The caller may be done (true), or went on after all (false). */
  endSuspected(isSuspected: boolean): void;
  /** The caller began to speak on this turn. */
  inputStarted(turn: Turn): void;
  /**
   * Speech started or a key was pressed: mouths may have to stop.
   *
   * @param spared - the turn that goes on; undefined when the turn's own reply is not wanted any more either.
   */
  callerActed(turn: Turn, by: 'speech' | 'keys', spared?: Turn): void;
  inputComplete(turn: Turn, input: TurnInput): void;
  hungUp(turn: Turn): void;
  /** A second input came on a turn that is being answered. */
  refused(turn: Turn): void;
  closed(turn: Turn, end: TurnEnd): void;
}

/** What names a turn. */
export interface TurnName {
  readonly id: string;
  /** A newer turn of the session has a larger number. */
  readonly number: number;
}

/** One RPC on gRPC, one caller input with its reply on other transports. */
export class Turn {
  readonly id: string;
  readonly number: number;
  /** True while a prompt that may not be cut is still to be spoken on this turn (G-37). */
  holdsFloor = false;
  /** True once a prompt was handed over on this turn. */
  hasSpoken = false;
  /** Of the platform. */
  readonly trackingId: string | undefined;
  /** See {@link TurnSink.forwardedId}. */
  readonly forwardedId: string | undefined;
  /** See {@link TurnSink.delivered}. */
  readonly delivered: TurnSink['delivered'];
  readonly #host: TurnHost;
  readonly #sink: TurnSink;
  readonly #over: LinkedAbort = linkAbort();
  readonly #wanted: LinkedAbort = linkAbort();
  #state: TurnState = 'waiting';
  /** What the state says about caller audio: looked up when the state changes and not fifty times a second. */
  #takesAudio = true;
  #isUnheardWelcome = false;
  /** It has no input of its own: it is the mouth for the last words of the call. */
  #isForLastWords = false;
  /** An input has come whole, whether it is answered or not. */
  #hasInput = false;
  #hasFinal = false;
  #hasRefused = false;

  constructor(name: TurnName, host: TurnHost, sink: TurnSink) {
    this.id = name.id;
    this.number = name.number;
    this.#host = host;
    this.#sink = sink;
    this.trackingId = sink.trackingId;
    this.forwardedId = sink.forwardedId;
    this.delivered = sink.delivered?.bind(sink);
  }

  get state(): TurnState {
    return this.#state;
  }

  /** An answer to an input of this turn is being made or spoken, and is wanted. */
  get isReplying(): boolean {
    return this.#state === 'answering' && !this.#wanted.isAborted;
  }

  /** The caller has neither spoken nor pressed a key on it. */
  get isSilent(): boolean {
    return this.#state === 'waiting' || this.#state === 'listening';
  }

  /** The next input of the caller would be this turn's. */
  get takesInput(): boolean {
    return this.#state !== 'answering' && this.#state !== 'done';
  }

  /** A welcome is owed on this turn and has not begun: nothing cuts it short, so nothing that is said now is input. */
  get owesWelcome(): boolean {
    return this.#isUnheardWelcome && this.#state !== 'done';
  }

  /** Aborts when the reply is no longer wanted: the caller acted over it, or the turn is over. */
  get signal(): AbortSignal {
    return this.#wanted.signal;
  }

  /** Aborts when the turn is over, however it ended; an interruption alone does not end it. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Takes one input. Never throws for what the caller did; an undecodable format throws `unsupported_audio`. */
  push(input: Input): void {
    this.#host.touched();
    switch (input.kind) {
      case 'audio':
        if (!this.#takesAudio) return;
        if (this.#state === 'waiting') this.#become('listening');
        this.#host.listen(this, input);
        return;
      case 'dtmf_start':
        this.#keyStarted();
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
  heard(event: SpeechEvent): void {
    if (event === 'speech_paused' || event === 'speech_resumed') {
      if (this.#state === 'hearing') this.#host.endSuspected(event === 'speech_paused');
      return;
    }
    switch (turnAction(this.#state, event)) {
      case 'report_start':
        this.#become('hearing');
        this.#host.callerActed(this, 'speech', this);
        this.#host.inputStarted(this);
        this.write({ kind: 'input_started' });
        return;
      case 'report_end':
        this.#become('answering');
        this.#hasInput = true;
        this.write({ kind: 'input_ended', mode: this.#host.mode });
        this.#host.inputComplete(this, { kind: 'speech', utterance: this.#host.takeUtterance() });
        return;
      default:
      // Nothing to do.
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
      // Nothing to do.
    }
  }

  /** The wire is gone: nothing can be written any more (G-16). */
  abort(reason: Exclude<AbortReason, 'barge_in'>): void {
    if (this.#state === 'done') return;
    this.#close(reason, reason);
  }

  /**
   * The caller acted over this turn's reply: thinking and speaking stop, the turn still completes cleanly (G-53). A
   * welcome that has not begun is not dropped: without it the caller would not know what to answer. Last words are no reply.
   *
   * @returns false when there was nothing to interrupt.
   */
  interrupt(): boolean {
    if (this.#state !== 'answering' || this.#isUnheardWelcome || this.#isForLastWords || this.#wanted.isAborted) return false;
    this.#wanted.abort('barge_in');
    return true;
  }

  /** The caller presses keys on another turn: what is being said on this one is no input any more (G-61). */
  keyElsewhere(): void {
    if (turnAction(this.#state, 'key_elsewhere') === 'drop_speech') this.#become('keys');
  }

  /**
   * We end the call on this turn: what its caller does from now on is no input.
   *
   * @returns true when an input of this turn waits for its answer, or when it was taken over before.
   */
  takeOver(): boolean {
    if (this.#state === 'answering') return true;
    if (this.#state === 'done') return false;
    this.#isForLastWords = true;
    this.#become('answering');
    return false;
  }

  /**
   * Hands one output to the wire unless the turn is over. False: wait for `onceDrained`.
   *
   * @param isReply - false for a prompt that only fills the time until the reply.
   */
  write(output: Output, isReply = true): boolean {
    if (this.#state === 'done') return true;
    if (output.kind === 'final') this.#hasFinal = true;
    if (output.kind === 'prompt') {
      this.hasSpoken = true;
      if (isReply) this.#isUnheardWelcome = false;
    }
    return this.#sink.write(output);
  }

  /** See {@link TurnSink.onceDrained}. */
  onceDrained(listener: () => void): void {
    this.#sink.onceDrained(listener);
  }

  /**
   * Completes the response stream with OK, once (G-13). A bot that still thinks about this turn is told `reason`. An input that
   * gets no reply of its own, because the call ends on another turn, still gets its FINAL, unless the caller is gone (G-43).
   */
  finish(end: TurnEnd, reason: AbortReason = 'superseded'): void {
    if (this.#state === 'done') return;
    if (this.#hasInput && !this.#hasFinal && end !== 'hang_up') {
      const { mode, nextStream } = this.#host;
      this.write({ kind: 'final', mode, prompts: [], next: { kind: 'superseded', ...nextStream.listen } });
    }
    this.#close(end, reason, () => {
      this.#sink.complete();
    });
  }

  /** It was forwarded, and its caller has done nothing on it: it can go on at another home. */
  get mayGiveBack(): boolean {
    return this.isSilent && this.forwardedId !== undefined && this.#sink.giveBack !== undefined;
  }

  /** The call lives elsewhere from now on. One that its wire keeps is completed. */
  giveBack(): void {
    if (this.#state === 'done') return;
    if (this.#sink.giveBack?.() === true) this.#close('superseded', 'superseded');
    else this.finish('nothing_said');
  }

  /** Ends the turn with an error, once. */
  fail(error: AppError, end: TurnEnd = 'failed'): void {
    if (this.#state === 'done') return;
    this.#close(end, 'deadline', () => {
      this.#sink.fail(error);
    });
  }

  #become(state: TurnState): void {
    this.#state = state;
    this.#takesAudio = turnAction(state, 'audio') === 'listen';
  }

  #keyStarted(): void {
    const action = turnAction(this.#state, 'key_started');
    if (action === 'drop_reply') this.#host.callerActed(this, 'keys');
    if (action !== 'expect_keys') return;
    this.#become('keys');
    this.#host.callerActed(this, 'keys', this);
  }

  #complete(input: TurnInput): void {
    this.#hasInput = true;
    switch (turnAction(this.#state, 'complete_input')) {
      case 'answer':
        this.#become('answering');
        this.#isUnheardWelcome = input.kind === 'session_start';
        this.#host.inputComplete(this, input);
        return;
      case 'refuse':
        // Once: a client that repeats itself fifty times a second must not fill the log.
        if (!this.#hasRefused) this.#host.refused(this);
        this.#hasRefused = true;
        return;
      default:
      // Nothing to do.
    }
  }

  #close(end: TurnEnd, reason: AbortReason, last?: () => void): void {
    this.#become('done');
    last?.();
    this.#over.abort(reason);
    this.#wanted.abort(reason);
    this.#host.closed(this, end);
  }
}
