// One turn: takes the caller's input, and the engine answers through it. Synchronous: the audio path ends here, the first wait of
// a turn is the bot runner's.
import { linkAbort, type AbortReason, type LinkedAbort } from '../../base/abort.ts';
import type { AppError } from '../../base/errors.ts';
import type { LogFields } from '../../base/log.ts';
import type { TurnEnd } from '../../dialog/ending.ts';
import type { AudioInput, Input } from '../../dialog/input.ts';
import type { Output } from '../../dialog/output.ts';
import type { SpeechEvent } from '../../speech/endpointer.ts';
import { logIds, type NamedTurn } from '../log-ids.ts';
import type { TurnSink } from '../ports.ts';
import type { BroughtInput, TurnCall, TurnFact } from './turn-facts.ts';
import type { TurnName } from './turn-names.ts';
import { turnAction, type TurnState } from './turn-states.ts';

/** Takes what turns bring. */
export interface TurnListener {
  /** A message arrived; keeps the session from being idle. */
  touched(): void;
  /** Feeds audio to the session's ear, fifty times a second; speech events come back through `Turn.heard`. */
  listen(turn: Turn, input: AudioInput): void;
  happened(turn: Turn, fact: TurnFact): void;
}

/** Looked at and listened to, and aborted by its owner alone. */
type AbortState = Pick<LinkedAbort, 'signal' | 'isAborted'>;

/** One RPC on gRPC, one caller input with its reply on other transports. */
export class Turn implements NamedTurn {
  readonly id: string;
  readonly number: number;
  /** True while a prompt that may not be cut is still to be spoken on this turn (G-37). */
  holdsFloor = false;
  /** True once a prompt was handed over on this turn. */
  hasSpoken = false;
  /** Of the platform. */
  readonly trackingId: string | undefined;
  readonly logIds: LogFields;
  /** See {@link TurnSink.forwardedId}. */
  readonly forwardedId: string | undefined;
  /** See {@link TurnSink.delivered}. */
  readonly delivered: TurnSink['delivered'];
  readonly #call: TurnCall;
  readonly #listener: TurnListener;
  readonly #sink: TurnSink;
  readonly #over: LinkedAbort = linkAbort();
  readonly #wanted: LinkedAbort = linkAbort();
  /** Aborts when the turn is over, however it ended; an interruption alone does not end it. */
  readonly over: AbortState = this.#over;
  /** Aborts when the reply is no longer wanted: the caller acted over it, or the turn is over. */
  readonly wanted: AbortState = this.#wanted;
  #state: TurnState = 'waiting';
  /** What the state says about caller audio: looked up when the state changes and not fifty times a second. */
  #takesAudio = true;
  #isUnheardWelcome = false;
  /** It has no input of its own: the farewell of the call is said on it. */
  #isForFarewell = false;
  /** An input has come whole, whether it is answered or not. */
  #hasInput = false;
  #hasFinal = false;
  #hasRefused = false;

  constructor(name: TurnName, call: TurnCall, listener: TurnListener, sink: TurnSink) {
    this.id = name.id;
    this.number = name.number;
    this.#call = call;
    this.#listener = listener;
    this.#sink = sink;
    this.trackingId = sink.trackingId;
    this.forwardedId = sink.forwardedId;
    this.delivered = sink.delivered?.bind(sink);
    this.logIds = logIds(call.call, this);
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
  get isWelcomeDue(): boolean {
    return this.#isUnheardWelcome && this.#state !== 'done';
  }

  /** Takes one input. Never throws for what the caller did; an undecodable format throws `unsupported_audio`. */
  push(input: Input): void {
    this.#listener.touched();
    switch (input.kind) {
      case 'audio':
        if (!this.#takesAudio) return;
        if (this.#state === 'waiting') this.#become('listening');
        this.#listener.listen(this, input);
        return;
      case 'dtmf_start':
        this.#keyStarted();
        return;
      case 'session_end':
        if (turnAction(this.#state, 'hang_up') === 'hang_up') this.#listener.happened(this, { kind: 'hung_up' });
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
      if (this.#state === 'hearing') this.#listener.happened(this, { kind: 'end_suspected', isSuspected: event === 'speech_paused' });
      return;
    }
    switch (turnAction(this.#state, event)) {
      case 'report_start':
        this.#become('hearing');
        this.#listener.happened(this, { kind: 'speech_started' });
        this.write({ kind: 'input_started' });
        return;
      case 'report_end':
        this.#become('answering');
        this.#hasInput = true;
        this.write({ kind: 'input_ended', mode: this.#call.mode });
        this.#listener.happened(this, { kind: 'input_complete', input: { kind: 'speech' } });
        return;
      default:
      // Nothing to do.
    }
  }

  /** The platform has sent everything for this turn. Never the end of the call (G-12). */
  halfClose(): void {
    switch (turnAction(this.#state, 'half_close')) {
      case 'cut_speech':
        this.#listener.happened(this, { kind: 'speech_cut' });
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
    if (this.#state !== 'answering' || this.#isUnheardWelcome || this.#isForFarewell || this.#wanted.isAborted) return false;
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
    this.#isForFarewell = true;
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
      const { mode, asked } = this.#call;
      this.write({ kind: 'final', mode, prompts: [], next: { kind: 'superseded', ...asked } });
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
    if (action === 'drop_reply') this.#listener.happened(this, { kind: 'key_started', isReplyDropped: true });
    if (action !== 'expect_keys') return;
    this.#become('keys');
    this.#listener.happened(this, { kind: 'key_started', isReplyDropped: false });
  }

  #complete(input: BroughtInput): void {
    this.#hasInput = true;
    switch (turnAction(this.#state, 'complete_input')) {
      case 'answer':
        this.#become('answering');
        this.#isUnheardWelcome = input.kind === 'session_start';
        this.#listener.happened(this, { kind: 'input_complete', input });
        return;
      case 'refuse':
        // Once: a client that repeats itself fifty times a second must not fill the log.
        if (!this.#hasRefused) this.#listener.happened(this, { kind: 'input_refused' });
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
    this.#listener.happened(this, { kind: 'closed', end });
  }
}
