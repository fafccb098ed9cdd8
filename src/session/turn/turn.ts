// One turn: takes the caller's input and delivers the reply. Synchronous: the first wait of a turn is in the bot
// runner.
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

/** Handles the events of turns. */
export interface TurnListener {
  /** A message has arrived, so the session is not idle. */
  touched(): void;
  /** Passes audio to the session's audio listener, fifty times a second; the speech events come back through `Turn.heard`. */
  listen(turn: Turn, input: AudioInput): void;
  happened(turn: Turn, fact: TurnFact): void;
}

/** Read-only view, because only the owner aborts. */
type AbortState = Pick<LinkedAbort, 'signal' | 'isAborted'>;

/** One RPC on gRPC; on other transports one caller input with its reply. */
export class Turn implements NamedTurn {
  readonly id: string;
  readonly number: number;
  /** True while an uninterruptible prompt of this turn is still to be delivered (G-37). */
  holdsFloor = false;
  /** True once a prompt of this turn was delivered. */
  hasSpoken = false;
  /** The platform's correlation id. */
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
  /** Aborts at the end of the turn, but not at an interruption. */
  readonly over: AbortState = this.#over;
  /** Aborts when the reply is no longer wanted: barge-in, or the end of the turn. */
  readonly wanted: AbortState = this.#wanted;
  #state: TurnState = 'waiting';
  /** Whether the state takes caller audio; computed once per state change, not per frame. */
  #takesAudio = true;
  #isUnheardWelcome = false;
  /** Whether the turn carries the farewell of the call, and has no input of its own. */
  #isForFarewell = false;
  /** Whether a complete input has come. */
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

  /** Whether a wanted reply of this turn is in work or being spoken. */
  get isReplying(): boolean {
    return this.#state === 'answering' && !this.#wanted.isAborted;
  }

  /** Whether the caller has neither spoken nor pressed a key on this turn. */
  get isSilent(): boolean {
    return this.#state === 'waiting' || this.#state === 'listening';
  }

  /** Whether the caller's next input belongs to this turn. */
  get takesInput(): boolean {
    return this.#state !== 'answering' && this.#state !== 'done';
  }

  /** Whether the welcome of this turn has not begun yet: until then nothing can be cut, so speech is no input. */
  get isWelcomeDue(): boolean {
    return this.#isUnheardWelcome && this.#state !== 'done';
  }

  /** Takes one input. @throws AppError `unsupported_audio` for an undecodable format, nothing else. */
  push(input: Input): void {
    this.#listener.touched();
    this.#call.recorder?.input(this, input);
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

  /** Takes the audio listener's events while the audio of this turn counts. */
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
        this.write({ kind: 'input_ended', mode: this.#call.mode, ...(this.#call.isWithoutWords && { isWithoutWords: true }) });
        this.#listener.happened(this, { kind: 'input_complete', input: { kind: 'speech' } });
        return;
      default:
      // Nothing to do.
    }
  }

  /** The input of this turn has ended. This is never the end of the call (G-12). */
  halfClose(): void {
    this.#call.recorder?.halfClosed(this);
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

  /** The stream is gone: nothing can be written any more (G-16). */
  abort(reason: Exclude<AbortReason, 'barge_in'>): void {
    if (this.#state === 'done') return;
    this.#call.recorder?.aborted(this, reason);
    this.#close(reason, reason);
  }

  /**
   * Barge-in on this turn's reply: bot and prompts stop, but the turn still completes cleanly (G-53). Does not drop a welcome
   * that has not begun, because the caller would not know what to answer, nor a farewell.
   *
   * @returns false when there was nothing to interrupt.
   */
  interrupt(): boolean {
    if (this.#state !== 'answering' || this.#isUnheardWelcome || this.#isForFarewell || this.#wanted.isAborted) return false;
    this.#wanted.abort('barge_in');
    return true;
  }

  /** The caller presses keys on another turn: drops the speech on this turn (G-61). */
  keyElsewhere(): void {
    if (turnAction(this.#state, 'key_elsewhere') === 'drop_speech') this.#become('keys');
  }

  /**
   * The call ends on this turn: later input is ignored.
   *
   * @returns true when an input of this turn waits for its answer, or when this was called before.
   */
  takeOver(): boolean {
    if (this.#state === 'answering') return true;
    if (this.#state === 'done') return false;
    this.#isForFarewell = true;
    this.#become('answering');
    return false;
  }

  /**
   * Delivers one output unless the turn is over. @returns false when the next one should wait for `onceDrained`.
   *
   * @param isReply - false for a filler.
   */
  write(output: Output, isReply = true): boolean {
    if (this.#state === 'done') return true;
    if (output.kind === 'final') this.#hasFinal = true;
    if (output.kind === 'prompt') {
      this.hasSpoken = true;
      if (isReply) this.#isUnheardWelcome = false;
    }
    this.#call.recorder?.output(this, output);
    return this.#sink.write(output);
  }

  /** See {@link TurnSink.onceDrained}. */
  onceDrained(listener: () => void): void {
    this.#sink.onceDrained(listener);
  }

  /**
   * Completes the response stream with OK, once (G-13). `reason` aborts a bot that is still working on this turn. An input that gets
   * no reply of its own, because the call ends on another turn, still gets its FINAL, unless the caller is
   * gone (G-43).
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

  /** Whether the turn can go on at another home: it was forwarded and has no input yet. */
  get mayGiveBack(): boolean {
    return this.isSilent && this.forwardedId !== undefined && this.#sink.giveBack !== undefined;
  }

  /** The call moves: returns a forwarded turn to its peer, completes any other. */
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
        // Reported once per turn, because a client must not fill the log.
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
    this.#call.recorder?.turnClosed(this, end);
    this.#listener.happened(this, { kind: 'closed', end });
  }
}
