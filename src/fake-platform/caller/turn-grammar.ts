// The platform's turn grammar: when an RPC is opened, fed and closed. Receives what the caller does and what the server
// answers; knows no wire and no script. After every event one function derives all actions from the present state, so
// that no order of events needs its own path.
import type { JsonObject } from '../../base/json.ts';
import { isClosing, isTerminalEvent, type Answer } from './answer.ts';
import { CallerInput, MAX_TURNS } from './caller-input.ts';
import type { FindingCode, CallOutcome, Ending } from './finding.ts';
import type { Key } from './key.ts';
import type { LineEnd, PlatformInput, TurnCut } from '../lines/line.ts';
import type { Listening } from './listening.ts';
import { Playback, type Playing } from './playback.ts';
import { PromptTaker } from './prompt-taker.ts';
import type { Timeline } from './timeline.ts';
import { TurnBook, type DueReply } from './turn-book.ts';
import { MAY_BE_SILENT } from './turn-check.ts';
import type { TurnGrammarOptions } from './turn-grammar-options.ts';
import type { Turn, TurnPhase } from './turn.ts';
import { GRPC_RULES, type Breach } from '../lines/wire-rules.ts';

/** Fails the call after this many listening RPCs in a row that the server ends without a prompt. */
const MAX_UNASKED_COMPLETIONS = 3;

export class TurnGrammar {
  readonly playback: Playback;
  readonly book: TurnBook;
  readonly #timeline: Timeline;
  readonly #options: TurnGrammarOptions;
  readonly #prompts: PromptTaker;
  readonly #input: CallerInput;
  #terminal: Ending | undefined;
  #leaving: CallOutcome | undefined;
  #isOver = false;
  #isActing = false;
  #unaskedCompletions = 0;

  constructor(options: TurnGrammarOptions) {
    const { clock, timeline } = options;
    this.#options = options;
    this.#timeline = timeline;
    this.book = new TurnBook(options, {
      answered: this.#acting(this.#answered.bind(this)),
      ended: this.#acting(this.#ended.bind(this)),
      late: this.#acting(this.#late.bind(this)),
      cut: this.#acting(this.#cut.bind(this)),
    });
    const heard = {
      started: this.#acting(({ turn }: Playing, gapMs: number) => {
        this.book.all[turn - 1]?.noteSounding(gapMs);
        options.onSound?.();
      }),
      idle: this.#acting(() => timeline.add('platform', 'prompts_over')),
    };
    this.playback = new Playback(clock, heard, options.keepsSound);
    this.#prompts = new PromptTaker(this.playback, timeline, options.changeRate, options.replySound);
    // The RPC that heard the silence is half-closed before NO_INPUT is sent on an RPC of its own (G-70).
    const onSilence = this.#acting(() => {
      this.listening.setAside();
      this.book.ask('no_input', { kind: 'no_input' });
    });
    this.#input = new CallerInput(options, this.book, this.playback, onSilence);
  }

  /** The first RPC: SESSION_START and half-close (G-20). */
  start(input: PlatformInput & { readonly kind: 'session_start' }): void {
    this.book.ask('session_start', input);
  }

  get listening(): Listening {
    return this.#input.listening;
  }

  /** Whether the line waits for the caller: nothing plays, no reply is due, no entry is open. */
  get isCallersTurn(): boolean {
    return this.#mayGoOn && this.#input.isAwaited;
  }

  /** The event with which the server has ended the call; undefined while the call continues. */
  get terminal(): Ending | undefined {
    return this.#terminal;
  }

  /** Replies that the caller waits for now. */
  get due(): readonly DueReply[] {
    return [...this.book.due, ...this.#input.due];
  }

  get playing(): Playing | undefined {
    return this.playback.playing;
  }

  /** The RPC that carries speech if it begins now: the one that listens, or the next. */
  get inputTurn(): number {
    return this.listening.turn?.id ?? this.book.nextId;
  }

  /** The caller presses a key. @returns whether the platform took it (G-51). */
  press(key: Key): boolean {
    if (!this.#mayGoOn) return false;
    let isTaken = false;
    this.#acting(() => {
      isTaken = this.#input.press(key, this.#cutBefore.bind(this));
    })();
    return isTaken;
  }

  /**
   * The flow sends an event, whatever the caller does at that time (G-72), on an RPC of its own. Before that, a listening
   * turn that has heard nothing is half-closed, so that the next listening turn can interrupt the reply to the event.
   */
  sendEvent(name: string, parameters: JsonObject): void {
    if (!this.#mayGoOn) return;
    this.#acting(() => {
      if (this.listening.turn?.hasHeardSpeech === false) this.listening.setAside();
      this.book.ask('custom_event', { kind: 'custom_event', name, parameters });
    })();
  }

  /** The caller hangs up, or the call fails: open RPCs are closed, then SESSION_END is sent on an RPC of its own (G-74). */
  hangUp(outcome: CallOutcome = 'hung_up'): void {
    if (this.#isOver || this.#leaving !== undefined) return;
    this.#leaving = outcome;
    this.#options.onGivenUp?.(this.due);
    this.#quieten();
    // The listening turn is half-closed and may still be completed; prompts not yet heard are cancelled.
    for (const turn of this.book.all) if (turn.kind !== 'speech' || turn.phase !== 'set_aside') this.book.giveUp(turn);
    const end = this.book.ask('session_end', { kind: 'session_end' });
    end.watch(this.#options.hangUpLimitMs, () => this.#late(end));
  }

  /**
   * The connection is gone, so nothing more can be sent and the call is over. The server sees no more of this call, because
   * it is not known what the platform does with its caller in that case.
   */
  lose(): void {
    this.#finish(this.#leaving ?? 'lost');
  }

  /** Reports a breach found outside the answers of a turn. G-37 applies only while a prompt plays that may not be interrupted. */
  take({ code, rule, message }: Breach): void {
    if (rule === 'G-37' && this.playing?.bargeIn !== false) return;
    this.book.find(code, message, undefined, rule);
  }

  /** Ends the call because of a failure. A server that is still reachable gets SESSION_END. */
  fail(code: FindingCode, message: string, isReachable: boolean, turn?: number): void {
    if (this.#isOver) return;
    this.book.find(code, message, turn, undefined, true);
    if (isReachable && this.#leaving === undefined) this.hangUp('failed');
    else this.#finish(this.#leaving === 'interrupted' ? 'interrupted' : 'failed');
  }

  /**
   * The caller has spoken and got no reply for too long. Fails the call unless the platform will continue by itself: a prompt
   * still plays, the input is complete and its RPC watched, a lost turn is being sent again, or NO_INPUT will be sent.
   *
   * @returns whether the call failed.
   */
  missReply(): boolean {
    const { turn } = this.listening;
    const { answerLimitMs } = this.#options;
    if (turn === undefined || this.playing !== undefined || turn.hasGrace(answerLimitMs)) return false;
    if (!turn.hasHeardSpeech && this.#input.isSilenceWatched) return false;
    const missing = turn.hasHeardSpeech ? 'the end of speech' : 'any speech';
    this.fail('no_answer', `the server did not report ${missing} within ${String(answerLimitMs)} ms`, true, turn.id);
    return true;
  }

  get #mayGoOn(): boolean {
    return !this.#isOver && this.#leaving === undefined && this.#terminal === undefined;
  }

  #answered(turn: Turn, answer: Answer): void {
    if (this.#isOver || this.#leaving !== undefined) return;
    const isReply = answer.prompts.length > 0 || isClosing(answer) || isTerminalEvent(answer.event);
    // A server may reply without reporting the end of speech first.
    if (turn === this.listening.turn && isReply) this.listening.complete();
    this.#takeEvent(turn, answer);
    // Responses on a turn that the caller interrupted are no reply any more.
    if (isReply && !turn.isInterrupted) this.#cancelPartials();
    const { unplayable, isFull } = this.#prompts.take(turn, answer);
    if (unplayable !== undefined) this.book.find('prompt_unplayable', unplayable, turn.id, 'G-48');
    if (isFull === true) {
      this.fail('too_much_audio', 'the server sent more audio ahead than any caller would listen to', true, turn.id);
      return;
    }
    this.#input.expect(turn, answer);
    if (!isReply || turn.phase !== 'awaiting' || turn.kind === 'dtmf_start') return;
    // A reply without a prompt is still a reply.
    if (isClosing(answer)) turn.noteReply();
    this.#options.onReplied(turn.id);
  }

  /** A reply has come: cancels PARTIALs that still play, except those that may play on (G-45). */
  #cancelPartials(): void {
    const droppedMs = this.playback.cancelPartials();
    if (droppedMs > 0) this.#timeline.add('platform', 'cancels_partial', { detail: `${String(Math.round(droppedMs))} ms unheard` });
  }

  #takeEvent(turn: Turn, { event, type }: Answer): void {
    if (event === undefined) return;
    const latencyMs = isTerminalEvent(event) ? turn.noteReply() : undefined;
    this.#timeline.add('server', event.kind, { turn: turn.id, detail: event.name, latencyMs });
    if (event.kind === 'start_of_input') this.#inputStarted(turn, type === 'chunk');
    else if (event.kind === 'end_of_input' && turn === this.listening.turn) this.listening.complete();
    else if (isTerminalEvent(event)) this.#terminal ??= { ...event, turn: turn.id };
  }

  #inputStarted(turn: Turn, isChunk: boolean): void {
    if (turn !== this.listening.turn) {
      // An RPC that listened a moment ago may get the event because the server sent it before our half-close arrived.
      const hasListened = turn.kind === 'speech' || turn.kind === 'dtmf_start';
      if (!hasListened) this.book.find('input_start_misplaced', 'START_OF_INPUT came on a turn that carries no speech', turn.id, 'G-52');
      return;
    }
    turn.hasHeardSpeech = true;
    if (isChunk) this.listening.mute();
    const { playing } = this;
    if (playing === undefined || playing.turn >= turn.id) return;
    if (playing.bargeIn) this.#cutBefore(turn.id);
    else this.book.find('input_start_not_allowed', 'START_OF_INPUT came while a prompt without barge-in plays', turn.id, 'G-37');
  }

  /** The caller interrupted: the unheard prompts of older turns are dropped (G-52). */
  #cutBefore(id: number): void {
    const heard = this.playing;
    const droppedMs = this.playback.cutBefore(id);
    for (const turn of this.book.all) {
      if (turn.id >= id || turn.phase === 'listening') continue;
      if (turn.id === heard?.turn) turn.heardMs = this.#options.clock.nowMs() - heard.turnStartMs;
      if (turn.id === heard?.turn || turn.phase === 'awaiting') turn.isInterrupted = true;
      if (turn.phase === 'awaiting') this.book.setAside(turn);
    }
    this.#timeline.add('platform', 'cuts_prompts', { detail: `${String(Math.round(droppedMs))} ms unheard` });
  }

  /** A lost turn starts again: drops its unheard prompts; what was heard stays heard. */
  #cut(turn: Turn, { kind, failure }: TurnCut): void {
    if (this.#isOver) return;
    this.playback.cutAnew(turn.id);
    this.listening.beginAnew(turn);
    this.#timeline.add('platform', kind === 'repeated' ? 'repeats_turn' : 'reopens_turn', { turn: turn.id, detail: failure.message });
  }

  #ended(turn: Turn, phase: TurnPhase, end: LineEnd): void {
    if (this.#isOver) return;
    if (turn === this.listening.turn) this.listening.take();
    if (end.kind === 'broken') {
      const { code, message } = end.failure;
      // Nobody waits for this RPC any more; if the whole connection is gone, the other RPCs report it.
      if (phase === 'set_aside') this.book.find(code, message, turn.id);
      else this.fail(code, message, false, turn.id);
    } else {
      this.#timeline.add('server', 'completes', { turn: turn.id, detail: turn.summary });
      if (phase === 'listening') this.#completedUnasked(turn);
      else if (turn.kind === 'speech') this.#unaskedCompletions = 0;
    }
    if (turn.kind === 'session_end' && this.#leaving !== undefined) this.#finish(this.#leaving);
    this.#input.turnEnded(turn);
    if (phase === 'awaiting' && turn.kind !== 'dtmf_start' && this.#mayGoOn) this.#options.onReplied(turn.id);
  }

  #completedUnasked(turn: Turn): void {
    this.#unaskedCompletions += 1;
    this.book.find('unasked_completion', 'a listening turn was completed before the caller had said anything', turn.id, 'G-13');
    if (this.#unaskedCompletions >= MAX_UNASKED_COMPLETIONS)
      this.fail('closed_early', 'the server completes every listening turn at once', true, turn.id);
  }

  /** Nothing came within the answer limit. While a prompt plays, the server may wait for the end of the prompt (G-7A). */
  #late(turn: Turn): void {
    if (this.#isOver || (this.playing !== undefined && this.#leaving === undefined)) return;
    const mayBeSilent = turn.check.hasFinal || turn.phase === 'set_aside' || MAY_BE_SILENT.has(turn.kind);
    if (!mayBeSilent) {
      this.fail('no_answer', `no answer to ${turn.kind} within ${String(this.#options.answerLimitMs)} ms`, true, turn.id);
      return;
    }
    const rule = (this.#options.line.rules ?? GRPC_RULES).incomplete(turn.kind);
    if (rule !== undefined) this.book.find('not_completed', `the turn of ${turn.kind} was not completed`, turn.id, rule);
    const { phase } = turn;
    this.book.giveUp(turn);
    this.#ended(turn, phase, { kind: 'completed', promptTexts: [] });
  }

  /** Wraps the handler of every event: afterwards all actions are derived from the new state. */
  #acting<What extends unknown[]>(happening: (...what: What) => void): (...what: What) => void {
    return (...what) => {
      const isOutermost = !this.#isActing;
      this.#isActing = true;
      happening(...what);
      if (!isOutermost) return;
      this.#settle();
      this.#isActing = false;
      if (this.#mayGoOn) this.#options.onChanged();
    };
  }

  #settle(): void {
    if (this.#isOver || this.#leaving !== undefined) return;
    if (this.#terminal === undefined) {
      if (!this.#input.settle()) this.fail('too_many_turns', `the call has used ${String(MAX_TURNS)} turns`, true);
      return;
    }
    // The server has ended the call: its prompts are heard to the end, and then the call is over (G-76, G-77).
    this.#input.setAside();
    if (this.playing === undefined && !this.book.isAwaiting) this.#finish(this.#terminal.kind === 'transfer' ? 'transferred' : 'ended');
  }

  #quieten(): void {
    this.#input.stop();
    this.playback.stop();
  }

  #finish(outcome: CallOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#quieten();
    for (const turn of this.book.all) this.book.giveUp(turn);
    this.#options.onOver(outcome);
  }
}
