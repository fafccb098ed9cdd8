// One call on our side: its open turns (two of them are normal, G-50), the one ear they share, and the queue that
// brings inputs to the bot one at a time and in order.
import { linkAbort, type AbortReason } from '../base/abort.ts';
import { AppError } from '../base/errors.ts';
import type { Bot, NotifyingEvent } from '../bot/bot.ts';
import type { CallFacts } from '../dialog/call.ts';
import type { SessionEnd, TurnEnd } from '../dialog/ending.ts';
import type { AudioInput } from '../dialog/input.ts';
import type { DeliveryMode } from '../dialog/output.ts';
import type { Next, Prompt } from '../dialog/reply.ts';
import type { Utterance } from '../dialog/utterance.ts';
import { FALLBACK_FORMAT, nextFormat, type AudioFormat } from '../speech/audio-format.ts';
import type { SpeechEvent } from '../speech/endpointer.ts';
import type { Listener } from '../speech/listener.ts';
import type { BotRunner, EngineParts, RunningSession } from './bot-runner.ts';
import { Playback } from './heard.ts';
import type { TurnSink } from './ports.ts';
import { Turn, type CompleteInput, type TurnHost } from './turn.ts';
import type { TurnEvent } from './turn-states.ts';

/** Most turns of one session that may be open at once. The grammar needs two; the rest is slack for late closes. */
const MAX_OPEN_TURNS = 8;
/** Most inputs and notes that may wait for the bot: a client that opens and cancels streams must not grow the queue. */
const MAX_QUEUED = 64;

/** Makes the ear of a session; it is made when the first audio arrives. */
export type CreateListener = (hooks: {
  readonly onEvent: (event: SpeechEvent) => void;
  readonly onFrame: ((pcm: Int16Array) => void) | undefined;
}) => Listener;

/** What a session is made of. */
export interface SessionParts extends EngineParts {
  readonly createListener: CreateListener;
  readonly runner: BotRunner;
  /** Called once when a session is over, before the bot has been told. */
  readonly onEnded: () => void;
}

/** One session. Made and thrown away by `Sessions`. */
export class Session implements TurnHost, RunningSession {
  readonly call: CallFacts;
  readonly bot: Bot;
  readonly mode: DeliveryMode;
  readonly playback = new Playback();
  readonly #parts: SessionParts;
  readonly #abort = linkAbort();
  readonly #open = new Set<Turn>();
  /** Brings one input after the other to the bot; never rejects. */
  #tail: Promise<void> = Promise.resolve();
  #queued = 0;
  #turnCount = 0;
  #lastInputMs: number;
  #end: SessionEnd | undefined;
  #endedAtMs = 0;
  #format: AudioFormat = FALLBACK_FORMAT;
  #listener: Listener | undefined;
  /** The turn that has the ear: the newest one that carried audio. */
  #ear: Turn | undefined;
  #welcome: readonly Prompt[] = [];
  #hasFrameFailed = false;

  constructor(call: CallFacts, bot: Bot, mode: DeliveryMode, parts: SessionParts) {
    this.call = call;
    this.bot = bot;
    this.mode = mode;
    this.#parts = parts;
    this.#lastInputMs = parts.clock.monotonicMs();
    parts.observer.sessionStarted?.(call);
  }

  /** Aborts when the session is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** True after the caller hung up or a terminal reply went out (G-7C). */
  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Turns that are not done. */
  get openTurns(): number {
    return this.#open.size;
  }

  /** How long nothing has arrived, ms. */
  idleMs(nowMs: number): number {
    return nowMs - this.#lastInputMs;
  }

  /** How long the session has been over, ms; undefined while it runs. */
  endedForMs(nowMs: number): number | undefined {
    return this.#end === undefined ? undefined : nowMs - this.#endedAtMs;
  }

  /** Opens a turn. @throws AppError `overloaded` when the session has too many open turns. */
  beginTurn(sink: TurnSink): Turn {
    if (this.#open.size >= MAX_OPEN_TURNS || this.#queued >= MAX_QUEUED) {
      throw new AppError('overloaded', 'the conversation has too many open streams', { details: { limit: MAX_OPEN_TURNS } });
    }
    this.#turnCount += 1;
    const turn = new Turn(`${this.call.conversationId}#${String(this.#turnCount)}`, this, sink, this.#abort.signal);
    this.#open.add(turn);
    this.#parts.observer.turnStarted?.(this.call, turn.id);
    this.#note({ type: 'turn_started' }, turn.id);
    return turn;
  }

  /** Ends the session from outside: sweeps and shutdown. Waits until the bot was told. */
  async stop(end: SessionEnd, reason: AbortReason): Promise<void> {
    this.#ends(end);
    for (const turn of [...this.#open]) {
      if (reason === 'deadline') turn.fail(new AppError('turn_timeout', 'the stream was idle for too long'), 'deadline');
      else turn.abort(reason);
    }
    await this.#tail;
    this.dispose();
  }

  /** Waits until everything that was queued for the bot is done. */
  settled(): Promise<void> {
    return this.#tail;
  }

  /** Frees the ear and stops whatever still runs for this session. Idempotent. */
  dispose(): void {
    this.#abort.abort('hang_up');
    this.#listener?.close();
    this.#listener = undefined;
  }

  // What turns ask for (TurnHost).

  touched(): void {
    this.#lastInputMs = this.#parts.clock.monotonicMs();
  }

  listen(turn: Turn, input: AudioInput): void {
    if (this.isEnded) return;
    this.#format = nextFormat(this.#format, input);
    // G-51: what is said into a prompt that cannot be cut is not input.
    if (this.playback.isProtected(this.#lastInputMs)) return;
    if (this.#ear !== turn) {
      this.#ear = turn;
      this.#listener?.reset();
    }
    this.#listener ??= this.#parts.createListener({ onEvent: this.#heard, onFrame: this.#frameHook() });
    this.#listener.push(input.audio, this.#format);
  }

  cutSpeech(turn: Turn): void {
    if (this.#ear === turn) this.#listener?.finish();
  }

  takeUtterance(): Utterance {
    return this.#listener?.takeUtterance() ?? { mulaw: new Uint8Array(0), durationMs: 0 };
  }

  callerActed(turn: Turn, by: 'speech' | 'keys'): void {
    const nowMs = this.#parts.clock.monotonicMs();
    // A protected prompt goes on, whatever a client sends (G-37).
    if (this.playback.isProtected(nowMs)) return;
    let isCut = this.playback.isPlaying(nowMs);
    for (const older of this.#open) {
      if (older === turn || older.state !== 'answering') continue;
      older.interrupt();
      isCut = true;
    }
    const heardMs = this.playback.cut(nowMs);
    if (!isCut) return;
    this.#parts.observer.bargeIn?.(this.call, turn.id);
    this.#note({ type: 'barge_in', by, heardMs }, turn.id);
  }

  inputComplete(turn: Turn, input: CompleteInput): void {
    // G-64: the digits of a one-key menu come without START_OF_DTMF.
    if (input.kind === 'dtmf') this.callerActed(turn, 'keys');
    this.#enqueue(() => this.#parts.runner.answer(this, turn, input));
  }

  hungUp(turn: Turn): void {
    this.#ends('caller');
    for (const other of [...this.#open]) {
      if (other === turn) continue;
      // The platform still waits for these streams to complete; nothing is owed on them any more.
      other.finish('hang_up', 'hang_up');
    }
    turn.write({ kind: 'final', mode: this.mode, prompts: [], next: { kind: 'gone' } });
    turn.finish('hang_up');
  }

  refused(turn: Turn, event: TurnEvent): void {
    this.#parts.log.warn({ conversationId: this.call.conversationId, turnId: turn.id, event }, 'a second input on one stream was refused');
  }

  closed(turn: Turn, end: TurnEnd): void {
    this.#open.delete(turn);
    if (this.#ear === turn) {
      this.#ear = undefined;
      this.#listener?.reset();
    }
    this.#parts.observer.turnEnded?.(this.call, turn.id, end);
    if (!this.isEnded) this.#note({ type: 'turn_ended', reason: end }, turn.id);
  }

  // What the runner asks for (RunningSession).

  keepWelcome(prompts: readonly Prompt[]): void {
    this.#welcome = prompts;
  }

  takeWelcome(): readonly Prompt[] {
    const welcome = this.#welcome;
    this.#welcome = [];
    return welcome;
  }

  ended(next: Next, hasFailed: boolean): void {
    this.#ends(hasFailed ? 'failed' : next.kind === 'transfer' ? 'bot_transfer' : 'bot_end');
  }

  #ends(end: SessionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#endedAtMs = this.#parts.clock.monotonicMs();
    this.#welcome = [];
    this.#parts.onEnded();
    this.#parts.observer.sessionEnded?.(this.call, end);
    this.#note({ type: 'session_end', by: end }, `${this.call.conversationId}#end`);
    this.#enqueue(() => this.#parts.runner.close(this));
  }

  #note(event: NotifyingEvent, turnId: string): void {
    if (!this.bot.notes.has(event.type)) return;
    this.#enqueue(() => this.#parts.runner.note(this, event, turnId));
  }

  #enqueue(work: () => Promise<void>): void {
    this.#queued += 1;
    this.#tail = this.#tail
      .then(work)
      .catch((error: unknown) => {
        this.#parts.log.error({ conversationId: this.call.conversationId, err: error }, 'work of a session failed');
      })
      .finally(() => {
        this.#queued -= 1;
      });
  }

  #frameHook(): ((pcm: Int16Array) => void) | undefined {
    const { audioInput } = this.bot;
    if (audioInput === undefined) return undefined;
    return (pcm) => {
      try {
        audioInput(pcm, this.call);
      } catch (error) {
        // A bot that fails on every frame would log 50 lines a second; once is enough to be found.
        if (!this.#hasFrameFailed)
          this.#parts.log.error({ conversationId: this.call.conversationId, err: error }, 'audio_input of the bot threw');
        this.#hasFrameFailed = true;
      }
    };
  }

  readonly #heard = (event: SpeechEvent): void => {
    this.#ear?.heard(event);
  };
}
